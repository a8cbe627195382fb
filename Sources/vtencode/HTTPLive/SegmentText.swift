// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import FFmpegMedia
import Foundation

/// The texts of one subtitle track as WebVTT, in segments with the times of the pictures' segments
/// (RFC 8216bis, 3.1.4). `HTTPLiveOutput` guards it with its lock.
///
/// A segment of a live stream is written one segment later than that of the pictures: a text comes
/// when the pictures have reached its beginning, and may still be under way when a segment ends.
final class SegmentText {
  /// A text and when it is shown, in seconds of the segments' time line.
  struct Cue: Equatable, Sendable {
    var start: Double
    /// Nil for a text that lasts until the next one.
    var end: Double?
    var text: String
  }

  /// The texts that the next segments need.
  struct Cues {
    private(set) var waiting: [Cue] = []
    /// The number of texts that came after a segment had been written in which they are shown.
    private(set) var lateCount = 0
    /// The end of the last segment that was written, in seconds.
    private var writtenEnd = -Double.infinity

    /// Adds a text. The text before it, if it has no end, lasts until this one.
    mutating func append(_ cue: Cue) {
      end(at: cue.start)
      if cue.start < writtenEnd { lateCount += 1 }
      waiting.append(cue)
    }

    /// Ends the last text, if it has no end.
    mutating func end(at time: Double) {
      if let last = waiting.indices.last, waiting[last].end == nil { waiting[last].end = time }
    }

    /// The next segment, and the end of the texts that no later one needs.
    mutating func segment(from start: Double, to end: Double) -> String {
      defer {
        waiting.removeAll { $0.end.map { $0 <= end } ?? false }
        writtenEnd = end
      }
      return SegmentText.document(waiting, from: start, to: end)
    }
  }

  let stream: SegmentStream
  private var cues = Cues()
  /// The number of texts that are missing from a segment in which they are shown, since they came
  /// after it had been written.
  var lateCount: Int { cues.lateCount }
  /// The pictures' segments for which none of text was written.
  private var waiting: [MediaPlaylist.Segment] = []

  init(_ stream: SegmentStream) { self.stream = stream }

  /// Adds a sample of 3GPP timed text (3GPP TS 26.245, 5.17).
  func add(_ sample: CMSampleBuffer) {
    let start = sample.presentationTimeStamp
    guard start.isNumeric, let bytes = try? sample.dataBuffer?.dataBytes(), bytes.count >= 2 else { return }
    let text = TimedText(start: 0, end: nil, sample: [UInt8](bytes)).text
    // An empty text only ends the one before.
    guard !text.allSatisfy(\.isWhitespace) else { return cues.end(at: start.seconds) }
    let length = sample.duration
    let end = length.isNumeric && length > .zero ? (start + length).seconds : nil
    cues.append(Cue(start: start.seconds, end: end, text: text))
  }

  /// Notes that a segment of the pictures has ended.
  func follow(_ segment: MediaPlaylist.Segment) { waiting.append(segment) }

  /// Writes the segments that wait.
  /// - Parameter isLast: whether no more texts come; otherwise the newest segment continues to
  ///   wait.
  /// - Returns: whether one was written.
  func write(isLast: Bool) throws -> Bool {
    var hasWritten = false
    while let segment = waiting.first, isLast || waiting.count > 1 {
      waiting.removeFirst()
      let end = segment.start + segment.seconds
      let text = cues.segment(from: segment.start, to: end)
      var piece = SegmentWriter.Piece(
        chunks: [Data(text.utf8)], start: CMTime(seconds: segment.start, preferredTimescale: 90_000),
        seconds: segment.seconds, beginsWithKeyFrame: true, endsSegment: true)
      piece.pausesAfterwards = waiting.first?.isDiscontinuous ?? false
      _ = try stream.take(nil, piece)
      hasWritten = true
    }
    return hasWritten
  }

  /// A segment: each text that is shown in it, with its whole time.
  /// - Parameters:
  ///   - cues: the texts, in the order of their beginnings.
  ///   - start: where the segment begins, in seconds.
  ///   - end: where it ends.
  static func document(_ cues: [Cue], from start: Double, to end: Double) -> String {
    // The segments of the pictures have time stamps that begin at zero, too (3.1.4).
    var text = "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000\n"
    // They come in the order of their beginnings.
    for cue in cues.prefix(while: { $0.start < end }) where cue.end ?? .infinity > start {
      let first = milliseconds(cue.start)
      let last = max(milliseconds(cue.end ?? end), first + 1)
      text += "\n\(clock(first)) --> \(clock(last))\n\(TimedText.webVTT(cue.text))\n"
    }
    return text
  }

  private static func milliseconds(_ seconds: Double) -> Int {
    Int(clamping: (max(seconds, 0) * 1000).rounded())
  }

  private static func clock(_ all: Int) -> String {
    String(format: "%02d:%02d:%02d.%03d", all / 3_600_000, all / 60_000 % 60, all / 1000 % 60, all % 1000)
  }
}
