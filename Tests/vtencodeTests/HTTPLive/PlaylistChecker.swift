// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Checks playlists against RFC 8216bis (draft-pantos-hls-rfc8216bis), clause by clause, without
/// the code that writes them.
struct PlaylistChecker {
  struct Segment {
    var number: Int
    var file: String
    var range: Range<Int>?
    var seconds: Double
    var isDiscontinuous = false
    var date: String?
    var parts: [(file: String, seconds: Double, isIndependent: Bool)] = []
  }

  let text: String
  let lines: [String]
  private(set) var segments: [Segment] = []
  /// Parts after the last segment.
  private(set) var openParts: [(file: String, seconds: Double, isIndependent: Bool)] = []
  private(set) var complaints: [String] = []
  private(set) var map: (file: String, range: Range<Int>?)?

  var hasEnded: Bool { lines.contains("#EXT-X-ENDLIST") }
  var targetDuration: Int { value("#EXT-X-TARGETDURATION:").flatMap { Int($0) } ?? 0 }
  var sequence: Int { value("#EXT-X-MEDIA-SEQUENCE:").flatMap { Int($0) } ?? 0 }
  var kind: String? { value("#EXT-X-PLAYLIST-TYPE:") }
  var seconds: Double { segments.reduce(0) { $0 + $1.seconds } }

  func value(_ tag: String) -> String? {
    lines.first { $0.hasPrefix(tag) }.map { String($0.dropFirst(tag.count)) }
  }

  /// The attributes of a tag (4.2).
  static func attributes(_ list: some StringProtocol) -> [String: String] {
    var result: [String: String] = [:]
    for match in String(list).matches(of: /([A-Z0-9-]+)=("[^"]*"|[^",]*)(,|$)/) {
      result[String(match.1)] = match.2.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
    }
    return result
  }

  private mutating func require(_ condition: Bool, _ clause: String, _ what: String) {
    if !condition { complaints.append("\(clause): \(what)") }
  }

  /// Reads a media playlist.
  /// - Parameter folder: the folder of its files; nil if they are not looked at.
  init(media text: String, in folder: URL?) {
    self.text = text
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    checkText()
    readSegments()
    checkMedia()
    if let folder { checkFiles(folder) }
  }

  private mutating func checkText() {
    // 4: UTF-8 without a byte order mark and control characters; lines end in LF.
    require(text.hasSuffix("\n"), "4", "the last line has no end")
    require(
      !text.unicodeScalars.contains { $0.value < 32 && $0 != "\n" || $0.value == 0xFEFF }, "4",
      "there is a control character or a byte order mark")
    require(lines.first == "#EXTM3U", "4.4.1.1", "the first line is not #EXTM3U")
    for tag in ["#EXT-X-VERSION", "#EXT-X-TARGETDURATION", "#EXT-X-MEDIA-SEQUENCE", "#EXT-X-ENDLIST"] {
      let count = lines.count { $0.hasPrefix(tag) }
      require(count <= 1, "4.4", "\(tag) is there \(count) times")
    }
  }

  private static func range(_ text: String) -> Range<Int>? {
    let numbers = text.split(separator: "@").compactMap { Int($0) }
    return numbers.count == 2 ? numbers[1]..<numbers[1] + numbers[0] : nil
  }

  private mutating func readSegments() {
    var pending = Segment(number: sequence, file: "", seconds: -1)
    for line in lines.dropFirst() where !line.isEmpty {
      func value(_ tag: String) -> String? { line.hasPrefix(tag) ? String(line.dropFirst(tag.count)) : nil }
      if let duration = value("#EXTINF:") {
        pending.seconds = Double(duration.prefix { $0 != "," }) ?? -1
        require(duration.contains(","), "4.4.4.1", "EXTINF has no comma")
      } else if let range = value("#EXT-X-BYTERANGE:") {
        pending.range = Self.range(range)
      } else if let date = value("#EXT-X-PROGRAM-DATE-TIME:") {
        pending.date = date
      } else if line == "#EXT-X-DISCONTINUITY" {
        pending.isDiscontinuous = true
      } else if let map = value("#EXT-X-MAP:") {
        let attributes = Self.attributes(map)
        self.map = (attributes["URI"] ?? "", attributes["BYTERANGE"].flatMap(Self.range))
      } else if let part = value("#EXT-X-PART:") {
        let attributes = Self.attributes(part)
        pending.parts.append(
          (
            attributes["URI"] ?? "", attributes["DURATION"].flatMap { Double($0) } ?? -1,
            attributes["INDEPENDENT"] == "YES"
          ))
      } else if !line.hasPrefix("#") {
        pending.file = line
        segments.append(pending)
        pending = Segment(number: pending.number + 1, file: "", seconds: -1)
      }
    }
    openParts = pending.parts
  }

  private mutating func checkMedia() {
    let version = value("#EXT-X-VERSION:").flatMap { Int($0) } ?? 1
    require(value("#EXT-X-TARGETDURATION:") != nil, "4.4.3.1", "there is no target duration")
    require(map == nil || version >= 6, "8", "EXT-X-MAP needs version 6")
    require(segments.allSatisfy { $0.range == nil } || version >= 4, "8", "byte ranges need version 4")
    for segment in segments {
      require(segment.seconds >= 0, "4.4.4.1", "segment \(segment.number) has no EXTINF")
      require(
        Int(segment.seconds.rounded()) <= targetDuration, "4.4.3.1",
        "segment \(segment.number) lasts \(segment.seconds) s, and the target is \(targetDuration) s")
    }
    if lines.contains("#EXT-X-I-FRAMES-ONLY") {
      require(version >= 5, "8", "EXT-X-MAP in a playlist of key frames needs version 5")
      require(segments.allSatisfy { $0.parts.isEmpty }, "4.4.3.6", "a playlist of key frames has parts")
    }
    if let kind { require(["VOD", "EVENT"].contains(kind), "4.4.3.5", "the playlist's type is \(kind)") }
    if kind == "VOD" { require(hasEnded, "4.4.3.5", "a VOD playlist has no end") }
    if !hasEnded, kind == nil, sequence > 0, segments.count > 3 {
      require(seconds >= Double(3 * targetDuration), "6.2.2", "the playlist lasts less than three targets")
    }
    if value("#EXT-X-PART-INF:") != nil || lines.contains(where: { $0.hasPrefix("#EXT-X-PART:") }) {
      checkParts()
    }
  }

  private mutating func checkParts() {
    let information = Self.attributes(value("#EXT-X-PART-INF:") ?? "")
    let target = information["PART-TARGET"].flatMap { Double($0) } ?? 0
    require(target > 0, "4.4.3.7", "there is no part target")
    let control = Self.attributes(value("#EXT-X-SERVER-CONTROL:") ?? "")
    let holdBack = control["PART-HOLD-BACK"].flatMap { Double($0) } ?? 0
    require(holdBack >= 3 * target, "4.4.3.8", "PART-HOLD-BACK is below three part targets")
    if let skip = control["CAN-SKIP-UNTIL"] {
      let seconds = Double(skip) ?? 0
      require(seconds >= Double(6 * targetDuration), "4.4.3.8", "CAN-SKIP-UNTIL is below six targets")
    }
    require(control["CAN-BLOCK-RELOAD"] == "YES", "B.1", "the server does not block reloads")
    require(hasEnded || value("#EXT-X-PRELOAD-HINT:") != nil, "B.1", "there is no preload hint")
    var distance = openParts.reduce(0) { $0 + $1.seconds }
    for segment in segments.reversed() {
      require(
        distance <= Double(3 * targetDuration) || segment.parts.isEmpty, "4.4.4.9",
        "segment \(segment.number) still has parts")
      distance += segment.seconds
    }
    for parts in segments.map(\.parts) + [openParts] {
      for (index, part) in parts.enumerated() {
        require(
          part.seconds <= target + 1e-5, "4.4.4.9", "\(part.file) lasts \(part.seconds) s, above \(target) s")
        require(
          part.seconds >= 0.85 * target || index == parts.count - 1, "4.4.4.9",
          "\(part.file) lasts \(part.seconds) s, below 85 % of \(target) s")
      }
      if let first = parts.first {
        require(first.isIndependent, "4.4.2.1", "\(first.file) is not independent")
      }
    }
    for segment in segments where !segment.parts.isEmpty {
      let sum = segment.parts.reduce(0) { $0 + $1.seconds }
      require(abs(sum - segment.seconds) < 0.001, "4.4.4.9", "the parts of \(segment.file) last \(sum) s")
    }
  }

  private mutating func checkFiles(_ folder: URL) {
    func bytes(_ file: String, _ range: Range<Int>?) -> Data? {
      guard let data = try? Data(contentsOf: folder.appendingPathComponent(file)) else { return nil }
      guard let range else { return data }
      return range.upperBound <= data.count ? data[range] : nil
    }
    if let map {
      let header = bytes(map.file, map.range)
      require(header?.dropFirst(4).prefix(4) == Data("ftyp".utf8), "3.1.2", "the map is not a header of MP4")
    } else {
      require(false, "4.4.4.5", "fragmented MP4 needs EXT-X-MAP")
    }
    let isEncrypted = value("#EXT-X-KEY:") != nil
    for segment in segments {
      let data = bytes(segment.file, segment.range)
      require(data?.isEmpty == false, "6.2.1", "\(segment.file) is not there")
      guard let data, !isEncrypted else { continue }
      require(Self.boxes(data).contains("moof"), "3.1.2", "\(segment.file) has no movie fragment")
      let chunks = segment.parts.compactMap { bytes($0.file, nil) }
      if !chunks.isEmpty {
        require(chunks.reduce(Data(), +) == data, "4.4.4.9", "\(segment.file) is not what its parts are")
      }
    }
  }

  /// The types of the boxes of a file, at its highest level.
  static func boxes(_ data: Data) -> [String] {
    var types: [String] = []
    var rest = data
    while rest.count >= 8 {
      let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      types.append(String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self))
      guard size >= 8, size <= rest.count else { return types + ["broken"] }
      rest = rest.dropFirst(size)
    }
    return types
  }
}

/// Checks a multivariant playlist against RFC 8216bis, 4.4.6.
struct MultivariantChecker {
  var complaints: [String] = []
  /// The variants' attributes and URIs.
  var variants: [(attributes: [String: String], file: String)] = []
  var media: [[String: String]] = []
  /// The attributes of the playlists of key frames.
  var keyFrames: [[String: String]] = []

  init(_ text: String) {
    let lines = text.split(separator: "\n").map(String.init)
    if lines.first != "#EXTM3U" { complaints.append("4.4.1.1: the first line is not #EXTM3U") }
    for (index, line) in lines.enumerated() {
      if line.hasPrefix("#EXT-X-STREAM-INF:") {
        let attributes = PlaylistChecker.attributes(line.dropFirst("#EXT-X-STREAM-INF:".count))
        for name in ["BANDWIDTH", "CODECS", "RESOLUTION", "AVERAGE-BANDWIDTH", "FRAME-RATE"]
        where attributes[name] == nil { complaints.append("4.4.6.2: \(name) is missing") }
        let (peak, average) = (
          Int(attributes["BANDWIDTH"] ?? "") ?? 0, Int(attributes["AVERAGE-BANDWIDTH"] ?? "") ?? 0
        )
        if peak < average { complaints.append("4.4.6.2: the average is above the peak") }
        let next = index + 1 < lines.count ? lines[index + 1] : "#"
        if next.hasPrefix("#") { complaints.append("4.4.6.2: no URI follows") }
        variants.append((attributes, next))
      } else if line.hasPrefix("#EXT-X-I-FRAME-STREAM-INF:") {
        let attributes = PlaylistChecker.attributes(line.dropFirst("#EXT-X-I-FRAME-STREAM-INF:".count))
        for name in ["BANDWIDTH", "URI", "CODECS", "RESOLUTION"] where attributes[name] == nil {
          complaints.append("4.4.6.3: \(name) is missing")
        }
        for name in ["FRAME-RATE", "AUDIO", "SUBTITLES", "CLOSED-CAPTIONS"] where attributes[name] != nil {
          complaints.append("4.4.6.3: \(name) is there")
        }
        keyFrames.append(attributes)
      } else if line.hasPrefix("#EXT-X-MEDIA:") {
        let attributes = PlaylistChecker.attributes(line.dropFirst("#EXT-X-MEDIA:".count))
        for name in ["TYPE", "GROUP-ID", "NAME"] where attributes[name] == nil {
          complaints.append("4.4.6.1: \(name) is missing")
        }
        media.append(attributes)
      } else if line.hasPrefix("#EXTINF") || line.hasPrefix("#EXT-X-TARGETDURATION") {
        complaints.append("4.4: a tag of media playlists is in a multivariant playlist")
      }
    }
    for variant in variants {
      if let group = variant.attributes["AUDIO"], !media.contains(where: { $0["GROUP-ID"] == group }) {
        complaints.append("4.4.6.2: there is no group \(group)")
      }
      let hasText = media.contains { $0["TYPE"] == "SUBTITLES" }
      if variant.attributes["SUBTITLES"] != nil, !hasText {
        complaints.append("4.4.6.2: there is no group of subtitles")
      }
    }
    if media.count(where: { $0["DEFAULT"] == "YES" }) > 1 {
      complaints.append("4.4.6.1.1: a group has several defaults")
    }
  }
}
