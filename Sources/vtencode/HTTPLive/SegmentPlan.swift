// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// How a run writes segments and playlists for HTTP Live Streaming (RFC 8216bis).
struct SegmentPlan: Sendable, Equatable {
  /// Which segments the media playlists list, and when.
  enum Playlist: String, Sendable, CaseIterable {
    /// The newest segments of a live stream; older ones are removed.
    case window
    /// All segments of a live stream (EXT-X-PLAYLIST-TYPE:EVENT).
    case event
    /// All segments, when the run has ended (EXT-X-PLAYLIST-TYPE:VOD).
    case vod
  }

  /// The intended duration of a segment.
  var length: CMTime
  var playlist: Playlist
  /// The number of segments in a `window` playlist.
  var windowSize = 6
  /// Whether the segments of a playlist are byte ranges of one file.
  var isSingleFile = false
  /// The intended duration of a partial segment; nil for none.
  var partLength: CMTime?
  /// Whether audio has segments of its own, which all renditions of the pictures share.
  var separatesAudio = false
  /// Whether a DASH manifest is written next to the playlists.
  var writesManifest = false
  /// The key of the segments; nil leaves them in the clear.
  var key: SegmentKey?

  /// Whether players read the playlists while the run continues.
  var isLive: Bool { playlist != .vod }

  /// The target duration in seconds (RFC 8216bis, 4.4.3.1): a segment ends at the first picture
  /// that is not earlier than a multiple of the segment length, so it may be a picture longer.
  /// - Parameter frameRate: pictures a second.
  func targetDuration(frameRate: Double) -> Int {
    max(1, Int(clamping: (length.seconds + 1 / max(frameRate, 0.001)).rounded()))
  }

  /// The target duration of partial segments in seconds (RFC 8216bis, 4.4.3.7): the most whole
  /// pictures that fit, since every part but a segment's last has to last for 85 % of it.
  /// - Parameter frameRate: pictures a second.
  func partTarget(frameRate: Double) -> Double? {
    guard let partLength else { return nil }
    let pictures = max((partLength.seconds * frameRate + 0.001).rounded(.down), 1)
    return frameRate > 0 ? pictures / frameRate : partLength.seconds
  }
}

/// The key that segments are encrypted with, by AES-128 in CBC mode (RFC 8216bis, 5.2).
struct SegmentKey: Sendable, Equatable {
  /// 16 bytes.
  var bytes: [UInt8]
  /// Where players get the key, as the playlists say it.
  var uri: String
}

/// One of several sizes and bit rates in which a movie is encoded at once.
struct Rendition: Sendable, Equatable {
  var size: Dimensions
  /// The bit rate; nil leaves it to the run's defaults.
  var bitRate: BitRate?
}

/// The value of `--rendition`: sizes with bit rates, such as `1280x720:2500k,640x360:800k`.
struct RenditionList: Sendable, Equatable {
  /// The advice for an argument that is not a list.
  static let advice = "it takes sizes with bit rates, such as 1280x720:2500k,640x360:800k"
  /// The largest number of renditions, each of which takes an encoder and its memory.
  static let maximum = 8

  /// The renditions, the largest picture first.
  var renditions: [Rendition]

  init?(argument: String) {
    var list: [Rendition] = []
    for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
      let fields = part.split(separator: ":", omittingEmptySubsequences: false)
      guard (1...2).contains(fields.count), let size = Dimensions(argument: String(fields[0])) else {
        return nil
      }
      var rendition = Rendition(size: size)
      if fields.count == 2 {
        guard let rate = BitRate(argument: String(fields[1])) else { return nil }
        rendition.bitRate = rate
      }
      list.append(rendition)
    }
    func area(_ rendition: Rendition) -> Int {
      rendition.size.width.multipliedClamped(by: rendition.size.height)
    }
    func rate(_ rendition: Rendition) -> Int { rendition.bitRate?.bitsPerSecond ?? 0 }
    renditions = list.sorted { (area($0), rate($0)) > (area($1), rate($1)) }
  }
}
