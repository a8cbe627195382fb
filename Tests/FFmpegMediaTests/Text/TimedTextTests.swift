// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import FFmpegMedia

@Suite struct TimedTextTests {
  private func samples(_ texts: [TimedText]) -> [TimedText] {
    var timeline = TimedTextTimeline()
    var made = texts.flatMap { timeline.add($0) }
    made += timeline.finish()
    return made
  }

  @Test("The text of a sample is UTF-8, or UTF-16 after a byte order mark, and may be cut short")
  func theTextOfASampleIsDecoded() {
    func text(_ sample: [UInt8]) -> String { TimedText(start: 0, end: nil, sample: sample).text }
    #expect(text([0, 2, 0x41, 0x42, 0x43]) == "AB")
    #expect(text([0, 6, 0xFE, 0xFF, 0, 0xC9, 0x20, 0xAC]) == "\u{C9}\u{20AC}")
    #expect(text([0, 9, 0x41]) == "A")
    #expect(text([0]).isEmpty && text([]).isEmpty && text([0, 0]).isEmpty)
  }

  @Test("WebVTT has no empty line within a text, and no markup of it")
  func webVTTIsEscaped() {
    #expect(TimedText.webVTT("a\n\n b & <c>\r\nd --> e\0") == "a\n b &amp; &lt;c&gt;\nd --&gt; e\u{FFFD}")
    #expect(TimedText.lines(of: "\n a\n \nb\n") == " a\nb")
  }

  @Test func textsThatOverlapShareASample() {
    let made = samples([
      TimedText(start: 0, end: 10, text: "a"), TimedText(start: 4, end: 8, text: "b"),
      TimedText(start: 4, end: 20, text: "c"),
    ])
    #expect(made.map(\.start) == [0, 4, 8, 10])
    #expect(made.map(\.end) == [4, 8, 10, 20])
    #expect(made.map(\.text) == ["a", "a\nb\nc", "a\nc", "c"])
  }

  @Test func textsWithoutEndLastUntilTheNext() {
    let made = samples([
      TimedText(start: 3, end: nil, text: "a"), TimedText(start: 5, end: nil, text: "b"),
      TimedText(start: 9, end: nil, sample: []), TimedText(start: 12, end: nil, text: "c"),
    ])
    #expect(made.map(\.start) == [3, 5, 12])
    #expect(made.map(\.end) == [5, 9, nil])
  }

  /// For any texts at all: samples follow each other, and each moment shows what the texts say.
  @Test func anyTextsBecomeSamplesThatFollowEachOther() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      var texts: [TimedText] = []
      var start = Int64.random(in: -5...5, using: &random)
      for number in 0..<Int.random(in: 0...12, using: &random) {
        start += Int64.random(in: 0...6, using: &random)
        texts.append(
          TimedText(start: start, end: start + Int64.random(in: 1...15, using: &random), text: "\(number)"))
      }
      let made = samples(texts)
      for (one, next) in zip(made, made.dropFirst()) { #expect((one.end ?? .max) <= next.start) }
      for time in -5...120 as ClosedRange<Int64> {
        let wanted = texts.filter { $0.start <= time && time < $0.end ?? .max }.map(\.text)
        let shown = made.first { $0.start <= time && time < $0.end ?? .max }?.text ?? ""
        #expect(shown == wanted.joined(separator: "\n"))
      }
    }
  }

  @Test func hostileTimesDoNotTrap() {
    let extremes: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
    for first in extremes {
      for second in extremes {
        for end in [nil] + extremes.map(Optional.some) {
          let made = samples([
            TimedText(start: first, end: end, text: "a"), TimedText(start: second, end: end, text: "b"),
          ])
          for text in made { #expect((text.end ?? .max) >= text.start) }
        }
      }
    }
  }

  @Test(arguments: ["a", "ž", "あ", "🙂", "a🙂"]) func longTextIsCutBetweenCharacters(character: String) {
    let text = TimedText(start: 0, end: 1, text: String(repeating: character, count: 70_000))
    #expect((0xFFF0...0xFFFF + 2).contains(text.sample.count))
    #expect(String(validating: text.sample.dropFirst(2), as: UTF8.self)?.isEmpty == false)
    #expect(!text.text.contains("\u{FFFD}"))
  }
}
