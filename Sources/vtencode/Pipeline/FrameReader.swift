// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// A decoded picture with its presentation time and duration.
struct Frame: @unchecked Sendable {
  // Sendable: the reader hands it over to one encoder.
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

  /// Half of the processors, at most 8: the encoder needs them more, and each decoder thread holds
  /// pictures.
  private static let threads = min(max(ProcessInfo.processInfo.activeProcessorCount / 2, 1), 8)

  /// Reads pictures as a plan has them encoded.
  /// - Parameter pixelFormat: replaces the plan's pixel format.
  convenience init(_ source: MovieSource, plan: EncodingPlan, pixelFormat: OSType? = nil) throws {
    let format = pixelFormat ?? plan.pixelFormat.type
    // Tones are mapped from the source's full bit depth.
    let decoded = plan.mapsTones ? PixelFormatChoice.video10Bit.type : format
    let adapter = PictureAdapter(plan.fit, pixelFormat: format, mapsTones: plan.mapsTones)
    try self.init(
      source, pixelFormat: decoded, deinterlacing: plan.deinterlacing, range: plan.range, adapter: adapter)
  }

  /// - Parameters:
  ///   - source: the movie.
  ///   - pixelFormat: the pixel format to decode to.
  ///   - deinterlacing: how interlaced pictures are deinterlaced; nil leaves them as they are.
  ///   - range: limits the pictures to those whose presentation time is in it; nil for all.
  ///   - adapter: scales or converts each picture; nil if nothing is left to do.
  /// - Throws: a `Failure` if the movie cannot be decoded.
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
      // Samples outside of the clean aperture must not be shown, and not all players respect a
      // clean aperture in the output.
      OVTVideoCropsToCleanApertureKey: true,
      kVTDecompressionPropertyKey_ThreadCount as String: Self.threads,
    ]
    if let deinterlacing {
      settings[kVTDecompressionPropertyKey_FieldMode as String] =
        kVTDecompressionProperty_FieldMode_DeinterlaceFields as String
      settings[kVTDecompressionPropertyKey_DeinterlaceMode as String] = deinterlacing.mode as String
    }
    output = AVAssetReaderTrackOutput(track: source.video, outputSettings: settings)
    // The readable pictures of a damaged movie are encoded, and the damage is reported.
    output.ovtToleratesDamage = true
    // The encoder does not change the pictures, so they need not be copied.
    output.alwaysCopiesSampleData = false
    guard reader.canAdd(output) else {
      throw Failure("'\(source.name)' cannot be decoded: there is no decoder for its video codec")
    }
    reader.add(output)
    if let range {
      // Pictures before time 0 belong to a range that begins there.
      let start = max(range.start, .zero)
      reader.timeRange = CMTimeRange(start: start, duration: range.end - start)
    }
    guard reader.startReading() else { throw source.failure(reader.error) }
  }

  /// Decodes the next frame.
  /// - Returns: the frame; nil at the end of the movie.
  /// - Throws: a `Failure` if the movie cannot be read or holds no picture.
  func next() throws -> Frame? {
    while let sample = output.copyNextSampleBuffer() {
      guard let pixelBuffer = sample.imageBuffer else { continue }
      let time = sample.presentationTimeStamp
      guard time.isNumeric else {
        throw Failure("a frame of '\(source.name)' has no time; the movie may be damaged")
      }
      // The reader also gives the picture that is displayed when the range begins.
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

  /// The damage found in the movie so far.
  var damage: SourceDamage {
    SourceDamage(output.ovtDamage, end: end.isNumeric ? end : nil, source: source)
  }

  private var size: (width: Int, height: Int)?

  /// Tells the user if the picture size changes; the session scales pictures of another size than
  /// the first one's.
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
  /// The error for an input whose samples are encrypted.
  static func isEncrypted(_ name: String) -> Failure {
    Failure("'\(name)' is encrypted, and its key is not available; decrypt it first")
  }

  func failure(_ error: (any Error)?) -> Failure {
    if (error as? AVError)?.code == .contentIsProtected { return Self.isEncrypted(name) }
    let reason = error.map { " (\(Failure.describe($0)))" } ?? ""
    return Failure("'\(name)' cannot be read to its end\(reason); it may be damaged or cut off")
  }
}
