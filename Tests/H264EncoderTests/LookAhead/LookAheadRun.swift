// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// A stream of a `LookAheadEncoder`, with what the encoder says that a decoder shows.
struct LookAheadRun {
  struct Frame {
    var properties: H264FrameProperties
    var data: [UInt8]
    var reconstruction: PlanarFrame
  }

  let configuration: H264EncoderConfiguration
  /// In decoding order.
  private(set) var frames: [Frame] = []
  private(set) var encoder: LookAheadEncoder

  /// - Parameters:
  ///   - options: of picture n.
  ///   - completes: whether all pictures up to this one are asked for once it is added.
  init(
    _ configuration: H264EncoderConfiguration, count: Int, begin: Double = 0,
    options: (Int) -> H264FrameOptions = { _ in H264FrameOptions() },
    completes: (Int) -> Bool = { _ in false },
    content: (Int) -> PlanarFrame
  ) throws {
    self.configuration = configuration
    encoder = try LookAheadEncoder(configuration: configuration)
    encoder.begin(at: begin)
    for n in 0..<count {
      var given: [Frame] = []
      try content(n).withSource(planar: n % 3 != 1, padding: n % 5) { source in
        try encoder.encode(source, options: options(n)) { given.append(copy($0)) }
      }
      if completes(n) { encoder.complete(through: UInt64(n)) { given.append(copy($0)) } }
      frames += given
    }
    var rest: [Frame] = []
    encoder.flush { rest.append(copy($0)) }
    frames += rest
  }

  private func copy(_ frame: consuming H264EncodedFrame) -> Frame {
    let properties = frame.properties
    return Frame(properties: properties, data: frame.data, reconstruction: reconstruction())
  }

  private func reconstruction() -> PlanarFrame {
    let (width, height) = (configuration.width, configuration.height)
    var frame = PlanarFrame(width: width, height: height, y: [], u: [], v: [])
    encoder.withReconstruction { luma, chroma, stride in
      for y in 0..<height { frame.y += UnsafeBufferPointer(start: luma + y * stride, count: width) }
      for y in 0..<(height / 2) {
        for x in 0..<(width / 2) {
          frame.u.append(chroma[y * stride + 2 * x])
          frame.v.append(chroma[y * stride + 2 * x + 1])
        }
      }
    }
    return frame
  }

  /// The pictures that libavcodec decodes, in the order of presentation.
  func decoded() throws -> [PlanarFrame] {
    let decoder = try #require(ReferenceDecoder(.libavcodec))
    var pictures: [PlanarFrame] = []
    for frame in frames {
      if let picture = try decoder.decode(frame.data) { pictures.append(picture) }
    }
    while let picture = try decoder.drain() { pictures.append(picture) }
    return pictures
  }

  /// Each picture came out once, and libavcodec shows what the encoder says, in the order of input.
  func check(count: Int, _ context: String = "") throws {
    #expect(frames.map(\.properties.index).sorted() == (0..<UInt64(count)).map { $0 }, "\(context)")
    let shown = frames.sorted { $0.properties.index < $1.properties.index }
    let decoded = try decoded()
    #expect(decoded.count == count, "\(context)")
    for (n, (a, b)) in zip(shown, decoded).enumerated() {
      guard a.reconstruction == b else {
        Issue.record("picture \(n) differs: \(context)")
        return
      }
    }
  }

  var bits: Int { frames.reduce(0) { $0 + $1.properties.bits } }
}

/// A decoder's buffer after clause C.1, in whole numbers: bits times frames a second.
struct HypotheticalBuffer {
  let rate: Int
  let size: Int
  let framesPerSecond: Int
  private(set) var fullness: Int
  private(set) var underflows = 0
  private(set) var overflows = 0

  init(rate: Int, size: Int, framesPerSecond: Int, initialFullness: Double) {
    self.rate = rate
    self.size = size
    self.framesPerSecond = framesPerSecond
    fullness = Int(Double(size * framesPerSecond) * initialFullness)
  }

  /// A frame's bits leave at its decode time, then those of a frame interval come in.
  /// - Parameter isConstant: bits come in whether there is room or not.
  mutating func remove(bits: Int, isConstant: Bool) {
    fullness -= bits * framesPerSecond
    if fullness < 0 { underflows += 1 }
    fullness += rate
    if fullness > size * framesPerSecond {
      // The smallest filler takes some bytes: what is less waits for the next frame.
      if isConstant, fullness - size * framesPerSecond > 16 * 8 * framesPerSecond { overflows += 1 }
      fullness = size * framesPerSecond
    }
  }
}

extension H264EncoderConfiguration {
  /// A configuration with a look-ahead and the defaults of all else.
  static func lookAhead(width: Int, height: Int) -> H264EncoderConfiguration {
    H264EncoderConfiguration(width: width, height: height, latency: .lookAhead(LookAhead()))
  }
}
