// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import VideoToolbox

/// The default for a movie if the user names neither a rate nor a quality: a constant quality
/// with a ceiling of the average bit rate.
extension EncodingPlan {
  /// The `--quality` of a movie. Over the clips for tuning its mean SSIM is that of libx264's
  /// `medium` at CRF 23 (docs/transcoding.md).
  static let defaultQuality = 0.47
  /// The longest movie, in seconds, that is encoded again where its quality took more than the
  /// ceiling.
  private static let longestRepeat = 120.0
  /// The size of the decoder's buffer that keeps a movie to its ceiling within one run, in seconds
  /// of the bit rate that suits the size of the pictures. The level that such pictures need anyway
  /// allows so large a buffer.
  private static let bufferedSeconds = 4.0

  /// Sets a constant quality with a ceiling of the average bit rate if the user asked for nothing
  /// about the rate.
  /// - Parameters:
  ///   - options: the options of the run.
  ///   - passes: the number of passes that the user asked for; several distribute the bits of a
  ///     rate.
  ///   - source: the movie.
  mutating func setDefaultQuality(_ options: EncodingOptions, passes: Int?, source: MovieSource) {
    guard purpose == .transcoding, options.bitrate == nil, quality == nil, targetBytes == nil,
      !keepsToBuffer, !writesBufferTiming, passes ?? 1 <= 1,
      encoderSupports(kVTCompressionPropertyKey_Quality, codec.type, encoderID: encoderID)
    else { return }
    quality = Self.defaultQuality
    ceiling = BitRate.ceiling(fit: fit, source: source).bitsPerSecond
  }

  /// Sets how a run keeps to the ceiling: a movie of up to two minutes is encoded again if it took
  /// more. What cannot be encoded again, and a longer movie, keeps to a decoder's buffer that fills
  /// at the ceiling.
  /// - Parameters:
  ///   - source: the movie.
  ///   - isRepeatable: whether the movie can be encoded again.
  mutating func setCeilingBuffer(source: MovieSource, isRepeatable: Bool) {
    guard let ceiling else { return }
    let isShort = expectedDuration(of: source).map { $0 <= Self.longestRepeat } ?? false
    guard !isRepeatable || !isShort else { return }
    // A buffer takes a look-ahead, which 4:4:4 has not.
    guard !hasFullChroma,
      encoderSupports(kVTCompressionPropertyKey_VBVMaxBitRate, codec.type, encoderID: encoderID)
    else {
      // Without a limit the rate could be any, so the movie gets the bit rate of its size.
      quality = nil
      self.ceiling = nil
      return
    }
    let bySize = BitRate.suggested(width: width, height: height, frameRate: frameRate, codec: .avc1)
    let seconds = Self.bufferedSeconds * Double(bySize.bitsPerSecond) / Double(max(ceiling, 1))
    ceilingBuffer = min(max(seconds, 1), 60)
  }

  /// Replaces the quality by the ceiling's bit rate if the movie took more.
  /// - Parameter rate: the average bit rate that the quality took, in bits a second.
  /// - Returns: whether it took more.
  mutating func limitToCeiling(after rate: Double) -> Bool {
    guard let ceiling, quality != nil, rate > Double(ceiling) else { return false }
    rateOfQuality = rate
    quality = nil
    bitRate = ceiling
    return true
  }
}
