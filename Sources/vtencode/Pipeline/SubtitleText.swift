// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import FFmpegMedia
import Foundation

/// Prepares subtitles for drawing them into the picture. They are parsed here and written again, so
/// that what reads them next gets nothing but subtitles.
enum SubtitleText {
  /// A text with the seconds at which it appears and disappears.
  struct Cue: Equatable, Sendable {
    var start: Double
    var end: Double
    var text: String
  }

  /// The largest file of subtitles, in bytes; that of a long film has some 200,000.
  private static let largestFile = 16 << 20
  /// How long a text without an end is shown, in seconds.
  private static let defaultSeconds = 5.0
  /// The latest time of a text, in seconds. No movie is so long, and later times do not fit the
  /// format.
  private static let latest = 1e9

  /// The text that is drawn for `--burn-subtitles`.
  /// - Parameters:
  ///   - wanted: a file, or the number of a subtitle track of the movie.
  ///   - folder: where the subtitles are written.
  static func drawing(
    _ wanted: String, source: MovieSource, folder: String
  ) async throws -> PictureFilter.Drawing {
    let path = folder + "/subtitles"
    if let number = Int(wanted) {
      guard source.subtitles.indices.contains(number - 1) else {
        let count = source.subtitles.count
        throw Failure(
          count == 0
            ? "'\(source.name)' has no subtitle track with text; give a .srt, .vtt or .ass file"
            : "'\(source.name)' has \(TextFormat.plural(count, "subtitle track")); --burn-subtitles must be from 1 to "
              + "\(count), or a file", status: 64)
      }
      let track = source.subtitles[number - 1]
      let cues = try await onThread("subtitles") { try Self.cues(of: track, in: source) }
      guard !cues.isEmpty else {
        throw Failure(
          "subtitle track \(number) of '\(source.name)' contains no text that is displayed", status: 64)
      }
      try Data(subRip(cues).utf8).write(to: URL(fileURLWithPath: path + ".srt"))
      return .subtitles(file: path + ".srt")
    }
    let text = try read(wanted)
    if text.drop(while: \.isWhitespace).hasPrefix("[Script Info]") {
      // libass reads this format itself, which can name no other file.
      try Data(text.utf8).write(to: URL(fileURLWithPath: path + ".ass"))
      return .styledSubtitles(file: path + ".ass")
    }
    let cues = Self.cues(in: text)
    guard !cues.isEmpty else {
      throw Failure(
        "--burn-subtitles '\(wanted)' contains no subtitles; give a .srt, .vtt or .ass file in UTF-8, or the number "
          + "of a subtitle track", status: 64)
    }
    try Data(subRip(cues).utf8).write(to: URL(fileURLWithPath: path + ".srt"))
    return .subtitles(file: path + ".srt")
  }

  private static func read(_ name: String) throws -> String {
    let data: Data
    do { data = try RegularFile.contents(name, maximum: largestFile) } catch {
      throw RegularFile.failure(error, name)
    }
    guard var text = self.text(of: data) else {
      throw Failure(
        "'\(name)' is neither UTF-8 nor UTF-16 with a byte order mark; convert it, for instance with iconv -f "
          + "WINDOWS-1252 -t UTF-8", status: 64)
    }
    if text.first == "\u{FEFF}" { text.removeFirst() }
    return text.replacingOccurrences(of: "\r\n", with: "\n")
  }

  /// The text of a file in UTF-8, or in UTF-16 with a byte order mark; nil for another encoding.
  static func text(of data: Data) -> String? {
    let mark = [UInt8](data.prefix(2))
    guard mark == [0xFE, 0xFF] || mark == [0xFF, 0xFE] else { return String(validating: data, as: UTF8.self) }
    let isBig = mark[0] == 0xFE
    let bytes = [UInt8](data)
    guard bytes.count % 2 == 0 else { return nil }
    let units = stride(from: 0, to: bytes.count, by: 2).map { i in
      let (first, second) = (UInt16(bytes[i]), UInt16(bytes[i + 1]))
      return isBig ? first << 8 | second : second << 8 | first
    }
    return String(validating: units, as: UTF16.self)
  }

  /// Parses SubRip or WebVTT: paragraphs whose line with an arrow has the times, and whose lines
  /// after it the text.
  static func cues(in text: String) -> [Cue] {
    var cues: [Cue] = []
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
    while let line = lines.popFirst() {
      let sides = line.components(separatedBy: "-->")
      guard sides.count == 2, let start = seconds(sides[0]), let end = seconds(sides[1]), end > start else {
        continue
      }
      var words: [Substring] = []
      while let next = lines.first, !next.allSatisfy(\.isWhitespace) {
        words.append(next)
        lines.removeFirst()
      }
      if !words.isEmpty { cues.append(Cue(start: start, end: end, text: words.joined(separator: "\n"))) }
    }
    return cues
  }

  /// The seconds of `00:01:02,500` or `01:02.500`, which settings of the place may follow.
  private static func seconds(_ text: String) -> Double? {
    guard let first = text.split(separator: " ").first else { return nil }
    return ClockTime(argument: first.replacingOccurrences(of: ",", with: "."))?.seconds
  }

  /// The texts of a track.
  private static func cues(of track: AVAssetTrack, in source: MovieSource) throws -> [Cue] {
    let reader: AVAssetReader
    do { reader = try AVAssetReader(asset: source.asset) } catch { throw source.failure(error) }
    let output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
    guard reader.canAdd(output) else { throw source.failure(nil) }
    reader.add(output)
    guard reader.startReading() else { throw source.failure(reader.error) }
    var cues: [Cue] = []
    while let sample = output.copyNextSampleBuffer() {
      let start = sample.presentationTimeStamp
      guard start.isNumeric, let data = try? sample.dataBuffer?.dataBytes(), data.count > 2 else { continue }
      let text = TimedText(start: 0, end: nil, sample: [UInt8](data)).text
      let duration = sample.duration
      let seconds = duration.isNumeric && duration > .zero ? duration.seconds : defaultSeconds
      if !text.allSatisfy(\.isWhitespace), start.seconds < latest {
        cues.append(Cue(start: start.seconds, end: start.seconds + seconds, text: text))
      }
    }
    if reader.status == .failed { throw source.failure(reader.error) }
    return cues
  }

  /// The texts in SubRip's format. An empty line would end a text, so there is none in it.
  static func subRip(_ cues: [Cue]) -> String {
    func clock(_ seconds: Double) -> String {
      let all = Int(min(max(seconds, 0), latest) * 1000 + 0.5)
      return String(
        format: "%02d:%02d:%02d,%03d", all / 3_600_000, all / 60_000 % 60, all / 1000 % 60, all % 1000)
    }
    return cues.enumerated().map { index, cue in
      "\(index + 1)\n\(clock(cue.start)) --> \(clock(cue.end))\n\(TimedText.lines(of: cue.text))\n"
    }.joined(separator: "\n")
  }
}
