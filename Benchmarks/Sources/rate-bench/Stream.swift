// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport
import H264Encoder

/// The properties of an encoded stream.
struct Stream {
  struct Frame {
    var bits: Int
    var layer: Int
    var averageQP: Double
    var highestQP: Int
    var isDropped: Bool
  }

  var frames: [Frame] = []
  let frameRate: Double

  var bits: Int { frames.reduce(0) { $0 + $1.bits } }
  var seconds: Double { Double(frames.count) / frameRate }
  var rate: Double { Double(bits) / seconds }
  var dropped: Int { frames.count { $0.isDropped } }
  var highestQP: Int { frames.lazy.filter { !$0.isDropped }.map(\.highestQP).max() ?? 0 }
  var meanQP: Double {
    let coded = frames.filter { !$0.isDropped }
    return coded.isEmpty ? 0 : coded.reduce(0) { $0 + $1.averageQP } / Double(coded.count)
  }
  func bits(_ range: Range<Int>) -> Int { frames[range].reduce(0) { $0 + $1.bits } }

  /// The largest number of bits in any window of the given duration.
  func largestWindow(seconds: Double) -> Int {
    let length = max(Int((seconds * frameRate).rounded()), 1)
    guard frames.count > length else { return bits }
    return (0...(frames.count - length)).map { bits($0..<($0 + length)) }.max() ?? 0
  }

  /// Encodes a clip.
  /// - Parameters:
  ///   - period: the distance between frames of the base layer; 1 means that there are no layers.
  ///   - picture: returns the index of the picture to encode as a given frame.
  ///   - change: called before each frame; may change the configuration.
  static func encode(
    _ clip: ClipPictures, frames: Int, configuration start: H264EncoderConfiguration, period: Int = 1,
    baseShare: Double = 1, change: (Int, inout H264EncoderConfiguration) -> Void = { _, _ in },
    picture: (Int) -> Int = { $0 }
  ) throws -> Stream {
    var configuration = start
    configuration.lowLatency.allowsNonReferenceFrames = period > 1
    let encoder = try H264Encoder(configuration: configuration)
    var stream = Stream(frameRate: clip.frameRate)
    var phase = 0
    for n in 0..<frames {
      let old = configuration
      change(n, &configuration)
      if configuration != old { try encoder.reconfigure(configuration) }
      var options = H264FrameOptions()
      let isBase = period == 1 || phase == 0
      options.temporalLayer = isBase ? 0 : 1
      options.isReference = isBase
      if period > 1 {
        options.budgetShare =
          isBase ? baseShare * Double(period) : (1 - baseShare) * Double(period) / Double(period - 1)
      }
      let properties = try encoder.encode(clip.sourcePicture(picture(n)), options: options).properties
      stream.frames.append(
        Frame(
          bits: properties.bits, layer: options.temporalLayer, averageQP: properties.averageQP,
          highestQP: properties.highestQP, isDropped: properties.isDropped))
      if !(isBase && properties.isDropped) { phase = (phase + 1) % period }
    }
    return stream
  }
}

extension ClipPictures {
  func sourcePicture(_ number: Int) -> SourcePicture {
    let luma = picture(number)
    let cb = luma + width * height
    return SourcePicture(
      width: width, height: height, luma: luma, lumaBytesPerRow: width,
      chroma: .planar(
        cb: cb, cbBytesPerRow: width / 2, cr: cb + width * height / 4, crBytesPerRow: width / 2))
  }
}
