// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// One decoded picture and when it is shown.
struct Frame: @unchecked Sendable {
  // Sendable: handed from the reader to one encoder.
  let pixelBuffer: CVPixelBuffer
  let time: CMTime
  let duration: CMTime
}

/// Decodes a movie's video track, frame by frame in presentation order.
final class FrameReader {
  private let source: MovieSource
  private let reader: AVAssetReader
  private let output: AVAssetReaderTrackOutput
  private let frameDuration: CMTime
  private let turner: PictureTurner?
  private let adapter: PictureAdapter?
  private let range: CMTimeRange?
  private var count = 0
  private var end = CMTime.invalid

  /// The encoder needs the processors more. Each thread of the decoder holds pictures.
  private static let threads = min(max(ProcessInfo.processInfo.activeProcessorCount / 2, 1), 8)

  /// Pictures as a plan wants them encoded.
  /// - Parameter pixelFormat: in place of the plan's.
  convenience init(_ source: MovieSource, plan: EncodingPlan, pixelFormat: OSType? = nil) throws {
    let format = pixelFormat ?? plan.pixelFormat.type
    // Tones are mapped from all the bits that the source has.
    let decoded = plan.mapsTones ? PixelFormat.video10Bit.type : format
    let adapter = PictureAdapter(plan.fit, pixelFormat: format, mapsTones: plan.mapsTones)
    try self.init(
      source, pixelFormat: decoded, deinterlacing: plan.deinterlacing, range: plan.range, adapter: adapter)
  }

  /// - Parameters:
  ///   - pixelFormat: the format to decode to.
  ///   - deinterlacing: what becomes of interlaced pictures; nil leaves them.
  ///   - range: pictures that are shown from its start on and before its end; nil for all.
  ///   - adapter: what else is to be done with the pictures.
  init(
    _ source: MovieSource, pixelFormat: OSType, deinterlacing: Deinterlacing? = nil,
    range: CMTimeRange? = nil,
    adapter: PictureAdapter? = nil
  ) throws {
    self.source = source
    self.range = range
    self.adapter = adapter
    turner = source.turn.map(PictureTurner.init)
    frameDuration = CMTime(nearest: 1 / source.frameRate, preferredTimescale: 90_000)
    do {
      reader = try AVAssetReader(asset: source.asset)
    } catch {
      throw source.failure(error)
    }
    var settings: [String: Any] = [
      kCVPixelBufferPixelFormatTypeKey as String: pixelFormat,
      // What lies outside of it is not to be seen, and the output has no word for that which all players know.
      OVTVideoCropsToCleanApertureKey: true,
      kVTDecompressionPropertyKey_ThreadCount as String: Self.threads,
    ]
    if let deinterlacing {
      settings[kVTDecompressionPropertyKey_FieldMode as String] =
        kVTDecompressionProperty_FieldMode_DeinterlaceFields as String
      settings[kVTDecompressionPropertyKey_DeinterlaceMode as String] = deinterlacing.mode as String
    }
    output = AVAssetReaderTrackOutput(track: source.video, outputSettings: settings)
    // What can be read of a damaged movie is worth having, and the rest is told.
    output.ovtToleratesDamage = true
    // The pictures go to the encoder and are not changed: no copy is needed.
    output.alwaysCopiesSampleData = false
    guard reader.canAdd(output) else {
      throw Failure("'\(source.name)' cannot be decoded: its video codec is not known here")
    }
    reader.add(output)
    if let range {
      // What is shown before the beginning belongs to it.
      let start = max(range.start, .zero)
      reader.timeRange = CMTimeRange(start: start, duration: range.end - start)
    }
    guard reader.startReading() else { throw source.failure(reader.error) }
  }

  /// The next frame; nil at the end of the movie.
  func next() throws -> Frame? {
    while let sample = output.copyNextSampleBuffer() {
      guard let pixelBuffer = sample.imageBuffer else { continue }
      let time = sample.presentationTimeStamp
      guard time.isNumeric else {
        throw Failure("a frame of '\(source.name)' has no time; the movie may be damaged")
      }
      // The reader gives what is still shown at the start too.
      if let range, time < range.start || time >= range.end { continue }
      noteSize(of: pixelBuffer, at: time)
      let stated = sample.duration
      let duration = stated.isNumeric && stated > .zero ? stated : frameDuration
      count += 1
      end = end.isNumeric ? max(end, time + duration) : time + duration
      let upright = try turner?.upright(pixelBuffer) ?? pixelBuffer
      let picture = try adapter?.adapt(upright) ?? upright
      return Frame(pixelBuffer: picture, time: time, duration: duration)
    }
    if reader.status == .failed { throw source.failure(reader.error) }
    guard count > 0 else { throw Failure("'\(source.name)' holds no picture that can be decoded") }
    return nil
  }

  /// What has been wrong with the movie so far.
  var damage: SourceDamage {
    SourceDamage(output.ovtDamage, end: end.isNumeric ? end : nil, source: source)
  }

  private var size: (width: Int, height: Int)?

  /// The session scales what is of another size than the first picture; the user is told.
  private func noteSize(of picture: CVPixelBuffer, at time: CMTime) {
    let now = (width: CVPixelBufferGetWidth(picture), height: CVPixelBufferGetHeight(picture))
    if let size, size != now {
      Console.note(
        "'\(source.name)': the picture changes from \(size.width)x\(size.height) to \(now.width)x\(now.height) "
          + "at \(Wording.fixed(time.seconds, 2)) s; it is scaled to the encoded size")
    }
    size = now
  }

  func cancel() { reader.cancelReading() }
}

extension MovieSource {
  /// What is said of an input with samples that nobody can decode without a key.
  static func isEncrypted(_ name: String) -> Failure {
    Failure("'\(name)' is encrypted, and there is no key to it; decrypt it first")
  }

  func failure(_ error: (any Error)?) -> Failure {
    if (error as? AVError)?.code == .contentIsProtected { return Self.isEncrypted(name) }
    let reason = error.map { " (\(Failure.describe($0)))" } ?? ""
    return Failure("'\(name)' cannot be read to its end\(reason); it may be damaged or cut off")
  }
}
