// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A sample of 3GPP timed text (3GPP TS 26.245, 5.17): a 16-bit length, the text in UTF-8, and
/// boxes with style modifiers. Times are in units of a stream's time base.
package struct TimedText: Equatable, Sendable {
  package var start: Int64
  /// The end of the text; nil: it lasts until the next one begins.
  package var end: Int64?
  /// The bytes of the sample; empty: nothing is shown.
  package var sample: [UInt8]

  /// Bytes of a sample entry before its specific part: size, type, 6 reserved bytes, data reference
  /// index.
  static let entryHeader = 16

  /// The specific part of a sample entry for text without a style: white, centred at the bottom, 18
  /// points, the font "Serif", which players replace by their own (3GPP TS 26.245, 5.16).
  static let defaultStyle =
    Data([0, 0, 0, 0, 1, 0xFF, 0, 0, 0, 0]) + Data(count: 8)
    + Data([0, 0, 0, 0, 0, 1, 0, 18, 255, 255, 255, 255])
    + Data([0, 0, 0, 18]) + Data("ftab".utf8) + Data([0, 1, 0, 1, 5]) + Data("Serif".utf8)

  /// Makes a sample entry with its header.
  static func entry(_ content: Data) -> [UInt8] {
    MovieBox.bytes(entryHeader + content.count) + Array("tx3g".utf8) + [0, 0, 0, 0, 0, 0, 0, 1] + content
  }

  package init(start: Int64, end: Int64?, sample: [UInt8]) {
    self.start = start
    self.end = end
    self.sample = sample
  }

  /// Makes a sample of text without style, cut to the 65,535 bytes that its length field can count.
  package init(start: Int64, end: Int64?, text: String) {
    var bytes = Array(text.utf8.prefix(0xFFFF))
    if text.utf8.count > bytes.count {
      // A character is not cut in the middle: its continuation bytes are removed, and its first
      // byte.
      while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() }
      if let last = bytes.last, last >= 0xC0 { bytes.removeLast() }
    }
    self.init(
      start: start, end: end,
      sample: [UInt8(bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes)
  }

  /// The text without its style: UTF-8, or UTF-16 after a byte order mark (5.17).
  package var text: String {
    guard sample.count >= 2 else { return "" }
    let count = Int(sample[0]) << 8 | Int(sample[1])
    let bytes = sample.dropFirst(2).prefix(count)
    return bytes.starts(with: [0xFE, 0xFF])
      ? String(data: Data(bytes.dropFirst(2)), encoding: .utf16BigEndian) ?? ""
      : String(decoding: bytes, as: UTF8.self)
  }

  /// A text's lines without those that are empty, which end a text in SubRip's format and in
  /// WebVTT.
  package static func lines(of text: String) -> String {
    text.split(whereSeparator: \.isNewline).filter { !$0.allSatisfy(\.isWhitespace) }.joined(separator: "\n")
  }

  /// The lines of a text as WebVTT has them, with the characters of its markup escaped (WebVTT, 4.1
  /// and 4.2.2).
  package static func webVTT(_ text: String) -> String {
    lines(of: text).replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
      .replacingOccurrences(of: ">", with: "&gt;").replacingOccurrences(of: "\0", with: "\u{FFFD}")
  }
}

/// Converts texts that may overlap in time into consecutive samples.
package struct TimedTextTimeline {
  private var shown: [TimedText] = []
  /// The time up to which samples have been made.
  private var reached = Int64.min

  package init() {}

  /// Adds the next text. Texts must come in the order of their start times; one that starts earlier
  /// is moved to the start of the previous one.
  /// - Parameter text: The text; with an empty sample it ends those without an end of their own.
  /// - Returns: The samples that later texts cannot change.
  package mutating func add(_ text: TimedText) -> [TimedText] {
    let start = max(text.start, reached)
    if let end = text.end, end <= start { return [] }
    let made = advance(to: start)
    // Texts without an end last until the next text begins.
    shown.removeAll { $0.end == nil }
    reached = start
    guard !text.sample.isEmpty else { return made }
    // The limit bounds the work for a malicious file.
    if shown.count >= 16 { shown.removeFirst() }
    shown.append(TimedText(start: start, end: text.end, sample: text.sample))
    return made
  }

  /// Returns the remaining samples, after the last text.
  package mutating func finish() -> [TimedText] {
    var made = advance(to: .max)
    if !shown.isEmpty { made.append(TimedText(start: reached, end: nil, sample: joined())) }
    shown = []
    return made
  }

  /// Makes the samples up to a time; a new one begins wherever a text ends.
  private mutating func advance(to time: Int64) -> [TimedText] {
    var made: [TimedText] = []
    while !shown.isEmpty, reached < time {
      let end = shown.compactMap(\.end).min() ?? .max
      // The last sample has no end.
      if end == .max, time == .max { return made }
      let until = min(end, time)
      made.append(TimedText(start: reached, end: until, sample: joined()))
      reached = until
      shown.removeAll { $0.end.map { $0 <= until } ?? false }
    }
    return made
  }

  /// All texts that are shown, in one sample. The style is kept only of a text that is shown alone.
  private func joined() -> [UInt8] {
    shown.count == 1
      ? shown[0].sample
      : TimedText(start: 0, end: nil, text: shown.map(\.text).joined(separator: "\n")).sample
  }
}
