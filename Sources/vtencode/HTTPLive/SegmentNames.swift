// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The names of the files that belong to a multivariant playlist `talk.m3u8`. They are in its
/// folder and begin with its name: `talk-720p.m3u8`, `talk-720p-init-0.mp4`, `talk-720p-12.m4s`.
///
/// Names of segments have no character that an address would have to escape (RFC 3986, 2.3), so
/// that a playlist's URIs are names of files as they are. A run knows its files by their suffix,
/// which is the name without `talk`.
struct SegmentNames: Sendable, Equatable {
  /// The prefix of the names.
  let stem: String

  /// - Parameter playlist: the path of the multivariant playlist.
  init(playlist: String) {
    self.init(name: ((playlist as NSString).lastPathComponent as NSString).deletingPathExtension)
  }

  /// - Parameter name: the name of the multivariant playlist without its extension. Characters that
  ///   an address would escape become `~` and their code, so that no two names have the same files.
  init(name: String) {
    stem = name.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
        String(UnicodeScalar(byte))
      default: "~" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
      }
    }.joined()
  }

  func file(_ suffix: String) -> String { stem + suffix }

  // MARK: Suffixes

  static func playlist(_ rendition: String) -> String { "-\(rendition).m3u8" }
  static func keyFramePlaylist(_ rendition: String) -> String { "-\(rendition)-iframes.m3u8" }
  static func initialization(_ rendition: String, run: Int) -> String { "-\(rendition)-init-\(run).mp4" }
  static func segment(_ rendition: String, _ number: Int) -> String { "-\(rendition)-\(number).m4s" }
  static func part(_ rendition: String, _ number: Int, _ part: Int) -> String {
    "-\(rendition)-\(number).\(part).m4s"
  }
  /// The one file of all segments.
  static func wholeFile(_ rendition: String, run: Int) -> String { "-\(rendition)-\(run).mp4" }
  static let manifest = ".mpd"

  /// The names of renditions of the pictures: their heights, and a number where two are alike.
  static func renditions(heights: [Int]) -> [String] {
    var count: [Int: Int] = [:]
    return heights.map { height in
      count[height, default: 0] += 1
      let number = count[height] ?? 1
      return "\(height)p" + (number > 1 ? "-\(number)" : "")
    }
  }

  /// The name of a rendition of the audio.
  /// - Parameter number: counted from 1.
  static func audio(_ number: Int) -> String { number > 1 ? "sound-\(number)" : "sound" }

  /// The name of a rendition of text.
  /// - Parameter number: counted from 1.
  static func text(_ number: Int) -> String { number > 1 ? "text-\(number)" : "text" }
  static func textSegment(_ rendition: String, _ number: Int) -> String { "-\(rendition)-\(number).vtt" }

  // MARK: Earlier runs

  /// Whether a file is one that a run with this playlist makes, other than the playlist itself.
  func owns(_ file: String) -> Bool {
    guard file.hasPrefix(stem) else { return false }
    let suffix = file.dropFirst(stem.count)
    if suffix == Self.manifest { return true }
    return suffix.wholeMatch(
      of:
        /-([0-9]+p|sound|text)(-[0-9]+)?((-iframes)?\.m3u8|-init-[0-9]+\.mp4|-[0-9]+\.(mp4|vtt)|-[0-9]+(\.[0-9]+)?\.m4s)/
    ) != nil
  }

  /// The files of earlier runs with this playlist. Of names that other files may well have, such as
  /// `talk-720p-2.mp4`, only those count that a playlist of such a run tells of.
  /// - Parameter folder: the folder of the playlist.
  func ownedFiles(in folder: String) -> [String] {
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter(owns).sorted()
    var texts: [String: String] = [:]
    for name in names where name.hasSuffix(".m3u8") || name.hasSuffix(Self.manifest) {
      let file = FileHandle(forReadingAtPath: folder + "/" + name)
      texts[name] = (try? file?.read(upToCount: Self.readLimit)).map { String(decoding: $0, as: UTF8.self) }
      try? file?.close()
    }
    let listed = Set(texts.values.flatMap { $0.split(whereSeparator: \.isNewline).map(String.init) })
    // Segments of text that a sliding window has left behind.
    let textPlaylists = texts.keys.filter { $0.hasPrefix(stem + "-text") && $0.hasSuffix(".m3u8") }
      .map { $0.dropLast(".m3u8".count) + "-" }
    return names.filter { name in
      // A media playlist of a run names files of the run, and no other playlists.
      if let text = texts[name] { return text.contains(stem + "-") && !text.contains("#EXT-X-STREAM-INF") }
      guard name.hasSuffix(".mp4") || name.hasSuffix(".vtt"), !name.contains("-init-") else { return true }
      if name.hasSuffix(".vtt"), textPlaylists.contains(where: { name.hasPrefix($0) }) { return true }
      return listed.contains(name) || texts.values.contains { $0.contains("\"\(name)\"") }
    }
  }

  /// The bytes that are read of a playlist.
  private static let readLimit = 1 << 20

  /// Asks whether files of an earlier run may be replaced whose playlist is gone.
  /// - Parameters:
  ///   - folder: the folder of the playlist.
  ///   - isReplaced: whether the playlist itself is replaced, and so its files.
  ///   - overwrites: the user has allowed it on the command line.
  /// - Throws: a `Failure` if they must not be replaced.
  func check(_ folder: String, isReplaced: Bool, overwrites: Bool) throws {
    guard !isReplaced, !overwrites, let first = ownedFiles(in: folder).first else { return }
    throw Failure(
      "'\(folder)' holds files of an earlier run, such as '\(first)'; replace them with --overwrite, or choose "
        + "another name with --out")
  }
}
