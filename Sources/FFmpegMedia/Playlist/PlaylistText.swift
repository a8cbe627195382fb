// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The text of a playlist for HTTP Live Streaming (RFC 8216bis), as far as this module reads it
/// itself: the choice among the variants of a multivariant playlist. The rest is libavformat's.
struct PlaylistText {
  /// The largest size of a playlist in bytes: more than a day of segments of two seconds.
  static let maxBytes = 16 << 20

  private let lines: [Substring]

  /// - Returns: Nil if the bytes are not a playlist: they have to be UTF-8 and begin with `#EXTM3U`
  ///   (4.1, 4.4.1.1).
  init?(_ bytes: Data) {
    guard bytes.count <= Self.maxBytes, let text = String(validating: bytes, as: UTF8.self) else {
      return nil
    }
    lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    guard lines.first?.hasPrefix("#EXTM3U") == true else { return nil }
  }

  /// Whether a name or an address, up to its query, is that of a playlist.
  static func isName(_ text: String) -> Bool {
    let path = text.prefix { $0 != "?" && $0 != "#" }.lowercased()
    return path.hasSuffix(".m3u8") || path.hasSuffix(".m3u")
  }

  /// Whether the playlist lists segments, or other playlists.
  var isUseful: Bool {
    lines.contains {
      $0.hasPrefix("#EXTINF:") || $0.hasPrefix("#EXT-X-STREAM-INF:") || $0.hasPrefix("#EXT-X-TARGETDURATION:")
    }
  }

  /// Whether the playlist lists other playlists.
  var hasVariants: Bool { lines.contains { $0.hasPrefix("#EXT-X-STREAM-INF:") } }

  /// Reads a playlist.
  /// - Parameter path: a path.
  /// - Returns: nil if it cannot be read, is not a regular file, or is too large.
  static func contents(of path: String) -> Data? {
    guard let reader = LocalFileReader(path: path), let length = reader.length, length <= maxBytes else {
      return nil
    }
    var bytes = Data(count: Int(length))
    let count = bytes.withUnsafeMutableBytes { buffer in
      var filled = 0
      while filled < buffer.count {
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
        let more = (try? reader.read(at: Int64(filled), into: rest)) ?? 0
        guard more > 0 else { break }
        filled += more
      }
      return filled
    }
    return bytes.prefix(count)
  }

  /// The tags whose URI is opened (4.4).
  private static let tagsWithAddress = [
    "#EXT-X-KEY:", "#EXT-X-SESSION-KEY:", "#EXT-X-MAP:", "#EXT-X-MEDIA:", "#EXT-X-PART:",
    "#EXT-X-PRELOAD-HINT:", "#EXT-X-I-FRAME-STREAM-INF:", "#EXT-X-RENDITION-REPORT:",
  ]

  /// The addresses and names that the playlist refers to.
  var references: [String] {
    var found: [String] = []
    for line in lines where !line.isEmpty {
      if line.hasPrefix("#EXT") {
        guard Self.tagsWithAddress.contains(where: { line.hasPrefix($0) }) else { continue }
        if let address = Self.attributes(line)["URI"] { found.append(address) }
      } else if !line.hasPrefix("#") {
        found.append(String(line))
      }
    }
    return found
  }

  /// The playlist as libavformat is given it. Of a multivariant playlist that is the best variant
  /// alone, with the audio that belongs to it: the others would be tracks in addition to it, and
  /// would be fetched too. Text and playlists of key frames are left out, which libavformat does
  /// not read.
  var reduced: String {
    guard let best = bestVariant else { return lines.joined(separator: "\n") }
    let group = Self.attributes(lines[best])["AUDIO"]
    var result: [Substring] = ["#EXTM3U"]
    result += lines.filter { line in
      guard line.hasPrefix("#EXT-X-MEDIA:") else { return false }
      let attributes = Self.attributes(line)
      return attributes["TYPE"] == "AUDIO" && attributes["GROUP-ID"] == group
    }
    result.append(lines[best])
    if let address = address(after: best) { result.append(lines[address]) }
    return result.joined(separator: "\n") + "\n"
  }

  /// The line of the variant with the highest rate, among those with pictures that are decoded here
  /// if there are any; nil for a media playlist.
  private var bestVariant: Int? {
    var hasAddress = false
    var all: [Int] = []
    // Backwards, so that each line is looked at once.
    for index in lines.indices.reversed() {
      if lines[index].hasPrefix("#EXT-X-STREAM-INF:") {
        if hasAddress { all.append(index) }
      } else if !lines[index].isEmpty, !lines[index].hasPrefix("#") {
        hasAddress = true
      }
    }
    all.reverse()
    func rank(_ index: Int) -> (Int, Int) {
      let attributes = Self.attributes(lines[index])
      let codecs = attributes["CODECS"]?.split(separator: ",").map { String($0.drop { $0 == " " }.prefix(4)) }
      let isKnown = codecs.map { !Self.pictures.isDisjoint(with: $0) } ?? (attributes["RESOLUTION"] != nil)
      return (isKnown ? 1 : 0, Int(attributes["BANDWIDTH"] ?? "") ?? 0)
    }
    return all.max { rank($0) < rank($1) }
  }

  private static let pictures: Set<String> = ["avc1", "avc3", "hvc1", "hev1"]

  /// The line of the address that follows a line; other tags may stand between (4.4.6.2).
  private func address(after index: Int) -> Int? {
    lines.indices.dropFirst(index + 1).first { !lines[$0].isEmpty && !lines[$0].hasPrefix("#") }
  }

  /// The attributes of a tag (4.2), without the quotation marks.
  static func attributes(_ line: Substring) -> [String: String] {
    var result: [String: String] = [:]
    var rest = line.drop { $0 != ":" }.dropFirst()
    while let equals = rest.firstIndex(of: "=") {
      let name = rest[..<equals].trimmingCharacters(in: .whitespaces)
      rest = rest[rest.index(after: equals)...]
      let value: Substring
      if rest.first == "\"" {
        value = rest.dropFirst().prefix { $0 != "\"" }
        rest = rest.dropFirst(value.count + 2)
      } else {
        value = rest.prefix { $0 != "," }
        rest = rest.dropFirst(value.count)
      }
      rest = rest.drop { $0 != "," }.dropFirst()
      result[name] = String(value)
    }
    return result
  }
}
