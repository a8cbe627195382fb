// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// A Boolean `NSNumber`: whether loading may take longer to obtain exact durations. It has no
/// effect: durations are always as exact as the container.
public let AVURLAssetPreferPreciseDurationAndTimingKey: String = "AVURLAssetPreferPreciseDurationAndTimingKey"
/// An `NSNumber` with `AVAssetReferenceRestrictions`: the references to other files that are not
/// followed. Without it none are followed, so playlists, lists of files and movies with samples in
/// other files cannot be read.
public let AVURLAssetReferenceRestrictionsKey: String = "AVURLAssetReferenceRestrictionsKey"

/// An `NSNumber`: the frame rate in frames per second of an H.264 or HEVC elementary stream, which
/// has no time stamps. Without it the frame rate of the stream's parameter sets applies, or else
/// 30. This key is an addition of this package to Apple's API.
public let OVTURLAssetElementaryStreamFrameRateKey: String = "OVTURLAssetElementaryStreamFrameRateKey"

/// An asset in a file or at a URL.
open class AVURLAsset: AVAsset, @unchecked Sendable {
  // Sendable: immutable except for the base class, whose lock guards the rest.
  public let url: URL
  /// The object through which the program can load the asset itself, if the scheme of the URL is
  /// not a known one.
  public let resourceLoader = AVAssetResourceLoader()

  /// Creates an asset. The file is not opened before a property is read.
  /// - Parameters:
  ///   - URL: The URL of the file.
  ///   - options: Options such as `AVURLAssetReferenceRestrictionsKey` and
  ///     `OVTURLAssetElementaryStreamFrameRateKey`.
  public init(url URL: URL, options: [String: Any]? = nil) {
    url = URL
    var rate: AssetFile.FrameRate?
    if let number = options?[OVTURLAssetElementaryStreamFrameRateKey] as? NSNumber, number.doubleValue > 0 {
      rate = AVURLAsset.frameRate(number.doubleValue)
    }
    let restrictions = (options?[AVURLAssetReferenceRestrictionsKey] as? NSNumber).map {
      AVAssetReferenceRestrictions(rawValue: $0.uintValue)
    }
    super.init(
      file: networkError(URL, options).map { AssetFile(failure: $0) }
        ?? AssetFile(
          url: URL, frameRate: rate, restrictions: restrictions ?? .forbidAll, loader: resourceLoader))
  }

  /// Creates an asset of a stream or a file on the network that is read once: each sample is read
  /// by one reader, and the tracks are read at the same time. Opening it waits for the connection.
  package init(network input: NetworkInput) {
    url = URL(string: input.address.description) ?? URL(fileURLWithPath: "/")
    super.init(file: AssetFile(url: url, network: input))
  }

  /// Converts a frame rate to a fraction. Rates close to an NTSC rate become that rate: 29.97
  /// becomes 30000/1001.
  private static func frameRate(_ rate: Double) -> AssetFile.FrameRate {
    for base in [24.0, 30, 48, 60, 120] where abs(rate - base / 1.001) < 0.005 {
      return .init(numerator: Int32(base) * 1000, denominator: 1001)
    }
    let scaled = (min(rate, 1_000_000) * 1000).rounded()
    return scaled.truncatingRemainder(dividingBy: 1000) == 0
      ? .init(numerator: Int32(scaled / 1000), denominator: 1)
      : .init(numerator: max(1, Int32(scaled)), denominator: 1000)
  }

  /// The file types that can be read.
  open class func audiovisualTypes() -> [AVFileType] {
    [
      .mov, .mp4, .m4v, .m4a, .mobile3GPP, .mobile3GPP2, .caf, .wav, .aiff, .aifc, .amr, .mp3, .au, .ac3,
      .eac3,
    ]
  }

  /// The MIME types of these file types, and of other containers that libavformat reads.
  open class func audiovisualMIMETypes() -> [String] {
    [
      "video/quicktime", "video/mp4", "video/x-m4v", "audio/mp4", "audio/x-m4a", "video/3gpp", "audio/3gpp",
      "video/3gpp2", "audio/3gpp2", "audio/x-caf", "audio/wav", "audio/x-wav", "audio/aiff", "audio/x-aiff",
      "audio/amr", "audio/mpeg", "audio/mp3", "audio/basic", "audio/ac3", "audio/eac3", "video/x-matroska",
      "video/webm", "video/x-msvideo", "video/avi", "video/mp2t",
    ]
  }

  /// Returns whether media of a MIME type can be read. The type may have a parameter for codecs, as
  /// in "video/mp4; codecs=\"avc1.42E01E, mp4a.40.2\"".
  open class func isPlayableExtendedMIMEType(_ extendedMIMEType: String) -> Bool {
    let parts = extendedMIMEType.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
    guard let type = parts.first?.lowercased(), audiovisualMIMETypes().contains(type) else { return false }
    let playable: Set = [
      "avc1", "avc3", "hvc1", "hev1", "mp4a", "mp4v", "ac-3", "ec-3", "opus", "flac", "vp8", "vp9", "vp08",
      "vp09", "av01", "alac", "mp3",
    ]
    for part in parts.dropFirst() {
      let pair = part.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
      guard pair.count == 2, pair[0].lowercased() == "codecs" else { continue }
      for codec in pair[1].trimmingCharacters(in: CharacterSet(charactersIn: "\"'")).split(separator: ",") {
        let name = codec.trimmingCharacters(in: .whitespaces).split(separator: ".").first?.lowercased()
        guard let name, playable.contains(name) else { return false }
      }
    }
    return true
  }

  /// Returns the first track of the same media type as a composition's track; nil if there is none.
  @discardableResult
  open func compatibleTrack(for compositionTrack: AVAssetTrack) -> AVAssetTrack? {
    tracks(withMediaType: compositionTrack.mediaType).first
  }
}
