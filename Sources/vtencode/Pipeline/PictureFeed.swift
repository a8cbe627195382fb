// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// Provides the decoded pictures of a source in presentation order. Used by one thread.
protocol PictureFeed: AnyObject {
  /// The next picture; nil at the end.
  func next() throws -> Frame?
  /// The damage found so far; nil for pictures that are not stored anywhere.
  var damage: OVTReadingDamage? { get }
  /// The error that ended the pictures; nil if they came to their end.
  func failure() -> (any Error)?
  func cancel()
}

/// The decoded pictures of a movie's video track.
final class TrackPictures: PictureFeed {
  private let source: MovieSource
  private let reader: AVAssetReader
  private let output: AVAssetReaderTrackOutput
  private let frameDuration: CMTime

  /// Half of the processors, at most 8: the encoder needs them more, and each decoder thread holds
  /// pictures.
  private static let threads = min(max(ProcessInfo.processInfo.activeProcessorCount / 2, 1), 8)

  /// - Parameters:
  ///   - source: the movie.
  ///   - track: its video track.
  ///   - pixelFormat: the pixel format to decode to.
  ///   - deinterlacing: how interlaced pictures are deinterlaced; nil leaves them as they are.
  ///   - range: the part to read; the picture that is displayed when it begins is given too.
  /// - Throws: a `Failure` if the movie cannot be decoded.
  init(
    _ source: MovieSource, _ track: AVAssetTrack, pixelFormat: OSType, deinterlacing: Deinterlacing?,
    range: CMTimeRange?
  ) throws {
    self.source = source
    frameDuration = CMTime(nearest: 1 / source.storedFrameRate, preferredTimescale: 90_000)
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
    output = AVAssetReaderTrackOutput(track: track, outputSettings: settings)
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

  func next() throws -> Frame? {
    while let sample = output.copyNextSampleBuffer() {
      guard let pixelBuffer = sample.imageBuffer else { continue }
      let time = sample.presentationTimeStamp
      guard time.isNumeric else {
        throw Failure("a frame of '\(source.name)' has no time; the movie may be damaged")
      }
      let stated = sample.duration
      let duration = stated.isNumeric && stated > .zero ? stated : frameDuration
      return Frame(pixelBuffer: pixelBuffer, time: time, duration: duration)
    }
    return nil
  }

  var damage: OVTReadingDamage? { output.ovtDamage }
  func failure() -> (any Error)? { reader.status == .failed ? source.failure(reader.error) : nil }
  func cancel() { reader.cancelReading() }
}
