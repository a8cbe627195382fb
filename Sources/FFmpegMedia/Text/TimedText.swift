// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A sample of 3GPP timed text (3GPP TS 26.245, 5.17): two bytes of length, the text in UTF-8, boxes that change its
/// looks. Times are in a stream's units.
package struct TimedText: Equatable, Sendable {
  package var start: Int64
  /// nil: until the next one.
  package var end: Int64?
  /// Empty: there is nothing to be read.
  package var sample: [UInt8]

  /// Bytes of a sample description before what is its own: size, type, 6 bytes reserved, the data reference.
  static let entryHeader = 16

  /// A sample description's content for text of which nobody has said how it is to look: white, in the middle below, 18
  /// points, the player's own font (3GPP TS 26.245, 5.16).
  static let usualLooks =
    Data([0, 0, 0, 0, 1, 0xFF, 0, 0, 0, 0]) + Data(count: 8)
    + Data([0, 0, 0, 0, 0, 1, 0, 18, 255, 255, 255, 255])
    + Data([0, 0, 0, 18]) + Data("ftab".utf8) + Data([0, 1, 0, 1, 5]) + Data("Serif".utf8)

  /// A sample description with its header.
  static func entry(_ content: Data) -> [UInt8] {
    MovieBox.bytes(entryHeader + content.count) + Array("tx3g".utf8) + [0, 0, 0, 0, 0, 0, 0, 1] + content
  }

  package init(start: Int64, end: Int64?, sample: [UInt8]) {
    self.start = start
    self.end = end
    self.sample = sample
  }

  /// A sample of text without looks of its own, cut to what 16 bits count.
  package init(start: Int64, end: Int64?, text: String) {
    var bytes = Array(text.utf8.prefix(0xFFFF))
    if text.utf8.count > bytes.count {
      // Not in the middle of a character: what follows its first byte, and that.
      while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() }
      if let last = bytes.last, last >= 0xC0 { bytes.removeLast() }
    }
    self.init(
      start: start, end: end,
      sample: [UInt8(bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes)
  }

  package var text: String {
    guard sample.count >= 2 else { return "" }
    let count = Int(sample[0]) << 8 | Int(sample[1])
    return String(decoding: sample.dropFirst(2).prefix(count), as: UTF8.self)
  }
}

/// Makes samples that follow each other of texts that may be shown at the same time.
package struct TimedTextTimeline {
  private var shown: [TimedText] = []
  /// Up to where samples were made.
  private var reached = Int64.min

  package init() {}

  /// Takes the next text; texts come in the order in which they begin. One that begins earlier is taken to begin where
  /// the last one does.
  /// - Returns: The samples that are certain now.
  package mutating func add(_ text: TimedText) -> [TimedText] {
    let start = max(text.start, reached)
    if let end = text.end, end <= start { return [] }
    let made = advance(to: start)
    // What had no end of its own ends here.
    shown.removeAll { $0.end == nil }
    reached = start
    guard !text.sample.isEmpty else { return made }
    // Nobody reads so many at once; a file may say anything.
    if shown.count >= 16 { shown.removeFirst() }
    shown.append(TimedText(start: start, end: text.end, sample: text.sample))
    return made
  }

  /// No more will come.
  package mutating func finish() -> [TimedText] {
    var made = advance(to: .max)
    if !shown.isEmpty { made.append(TimedText(start: reached, end: nil, sample: joined())) }
    shown = []
    return made
  }

  /// The samples up to a time, each until one of the texts ends.
  private mutating func advance(to time: Int64) -> [TimedText] {
    var made: [TimedText] = []
    while !shown.isEmpty, reached < time {
      let end = shown.compactMap(\.end).min() ?? .max
      // The last one of all has no end.
      if end == .max, time == .max { return made }
      let until = min(end, time)
      made.append(TimedText(start: reached, end: until, sample: joined()))
      reached = until
      shown.removeAll { $0.end.map { $0 <= until } ?? false }
    }
    return made
  }

  /// All that is shown, in one sample: looks are kept of a text that is alone.
  private func joined() -> [UInt8] {
    shown.count == 1
      ? shown[0].sample
      : TimedText(start: 0, end: nil, text: shown.map(\.text).joined(separator: "\n")).sample
  }
}
