// SPDX-License-Identifier: Apache-2.0

/// How far a media playlist has come, as far as a server has to know for low-latency HLS
/// (RFC 8216bis, 6.2.5.2). It is read from the playlist's text, which anybody may have written.
struct PlaylistProgress: Equatable {
  /// The position in a playlist that a player waits for, by the directives `_HLS_msn` and
  /// `_HLS_part` (6.2.5).
  struct DeliveryDirectives: Equatable {
    var number: Int
    /// The part of the segment; nil for the whole segment.
    var part: Int?

    /// The directives in a request's query.
    /// - Returns: nil if there are none.
    /// - Throws: `Refusal` if they cannot be understood.
    init?(query: Substring) throws {
      var values: [Substring: Int] = [:]
      for pair in query.split(separator: "&") {
        let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard sides[0] == "_HLS_msn" || sides[0] == "_HLS_part" else { continue }
        guard sides.count == 2, values[sides[0]] == nil, sides[1].utf8.allSatisfy({ (48...57).contains($0) }),
          let value = Int(sides[1]), value < 1 << 60
        else { throw Refusal() }
        values[sides[0]] = value
      }
      part = values["_HLS_part"]
      guard let number = values["_HLS_msn"] else {
        // A part is one of a segment.
        if part != nil { throw Refusal() }
        return nil
      }
      self.number = number
    }
  }

  /// The directives make no sense.
  struct Refusal: Error, Equatable {}

  /// The number of the segment that comes next.
  private(set) var next = 0
  /// The number of parts of each segment in the playlist, and of the one that comes next.
  private(set) var parts: [Int: Int] = [:]
  private(set) var targetDuration = 1
  private(set) var partTarget: Double?
  private(set) var canBlock = false
  private(set) var hasEnded = false
  /// The URI of the part that comes next.
  private(set) var hint: Substring?

  init(_ text: String) {
    var count = 0
    for line in text.split(whereSeparator: \.isNewline) {
      if let value = Self.value(of: "#EXT-X-MEDIA-SEQUENCE:", in: line) {
        // The tag is before the first segment (4.4.3.2).
        if next == 0 { next = Int(value).flatMap { (0..<1 << 60).contains($0) ? $0 : nil } ?? 0 }
      } else if let value = Self.value(of: "#EXT-X-TARGETDURATION:", in: line) {
        targetDuration = min(max(Int(value) ?? 1, 1), 60)
      } else if let value = Self.value(of: "#EXT-X-PART-INF:", in: line) {
        partTarget = Self.attribute("PART-TARGET", in: value).flatMap { Double($0) }
          .flatMap { $0.isFinite && $0 > 0 ? $0 : nil }
      } else if let value = Self.value(of: "#EXT-X-SERVER-CONTROL:", in: line) {
        canBlock = Self.attribute("CAN-BLOCK-RELOAD", in: value) == "YES"
      } else if line.hasPrefix("#EXT-X-PART:") {
        count += 1
      } else if let value = Self.value(of: "#EXT-X-PRELOAD-HINT:", in: line) {
        if Self.attribute("TYPE", in: value) == "PART" { hint = Self.attribute("URI", in: value) }
      } else if line == "#EXT-X-ENDLIST" {
        hasEnded = true
      } else if !line.hasPrefix("#") {
        parts[next] = count
        (count, next) = (0, next + 1)
      }
    }
    parts[next] = count
  }

  static func value(of tag: String, in line: Substring) -> Substring? {
    line.hasPrefix(tag) ? line.dropFirst(tag.count) : nil
  }

  /// The value of an attribute, without its quotation marks (4.2).
  static func attribute(_ name: String, in list: Substring) -> Substring? {
    var rest = list
    while let equals = rest.firstIndex(of: "=") {
      let key = rest[..<equals]
      rest = rest[rest.index(after: equals)...]
      var value: Substring
      if rest.first == "\"" {
        rest = rest.dropFirst()
        guard let quote = rest.firstIndex(of: "\"") else { return nil }
        value = rest[..<quote]
        rest = rest[rest.index(after: quote)...]
        if rest.first == "," { rest = rest.dropFirst() }
      } else {
        let comma = rest.firstIndex(of: ",") ?? rest.endIndex
        value = rest[..<comma]
        rest = rest[comma...].dropFirst()
      }
      if key == name { return value }
    }
    return nil
  }

  /// Whether the playlist has what a player waits for.
  func holds(_ directives: DeliveryDirectives) -> Bool {
    if hasEnded || !canBlock { return true }
    guard let part = directives.part else { return next > directives.number }
    if next > directives.number {
      // A part after a segment's last one is the first of the next segment; old segments' parts
      // are no longer listed.
      let known = parts[directives.number] ?? 0
      return part < known || known == 0 || next > directives.number + 1 || (parts[next] ?? 0) > 0
    }
    return next == directives.number && (parts[next] ?? 0) > part
  }

  /// Whether the directives are so far ahead that it is a mistake.
  func isTooFar(_ directives: DeliveryDirectives) -> Bool {
    guard canBlock, !hasEnded else { return false }
    let last = (parts[next] ?? 0) > 0 ? next : next - 1
    if directives.number > last + 2 { return true }
    guard let part = directives.part, directives.number == next else { return false }
    let target = partTarget ?? 1
    let advance = target >= 1 ? 3 : Int((3 / max(target, 0.01)).rounded(.up))
    return part > (parts[next] ?? 0) - 1 + advance
  }
}
