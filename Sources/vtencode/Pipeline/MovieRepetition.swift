// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// The times of a movie, or a part of it, that begins again whenever it has come to its end.
/// Pictures and audio each count for themselves, and the same repetition has the same times.
struct MovieRepetition: Sendable {
  /// The part that is repeated; nil if it is read once, with its own times.
  private let range: CMTimeRange?
  private var offset = CMTime.zero

  init(_ range: CMTimeRange? = nil) { self.range = range }

  var isEndless: Bool { range != nil }

  /// The end of the present repetition; infinity without one.
  var end: CMTime { range.map { $0.end + offset } ?? .positiveInfinity }

  /// Begins the next repetition.
  mutating func advance() { if let range { offset = offset + range.duration } }

  /// - Returns: the time in the output; nil if it is outside of the part, where it would overlap
  ///   another repetition.
  func move(_ time: CMTime) -> CMTime? {
    guard let range else { return time }
    return time >= range.start && time < range.end ? time + offset : nil
  }

  /// Moves a sample's times.
  /// - Returns: the sample; nil if it begins outside of the part.
  func move(_ sample: CMSampleBuffer) throws -> CMSampleBuffer? {
    guard range != nil else { return sample }
    guard move(sample.presentationTimeStamp) != nil else { return nil }
    let timings = try sample.sampleTimingInfos().map { timing in
      var moved = timing
      moved.presentationTimeStamp = timing.presentationTimeStamp + offset
      if timing.decodeTimeStamp.isNumeric { moved.decodeTimeStamp = timing.decodeTimeStamp + offset }
      return moved
    }
    return try CMSampleBuffer(copying: sample, withNewTiming: timings)
  }

  /// Moves a frame's times.
  /// - Returns: the frame, cut at the part's end; nil if it is outside of the part.
  func move(_ frame: Frame) -> Frame? {
    guard range != nil else { return frame }
    guard let time = move(frame.time) else { return nil }
    let duration = frame.duration.isNumeric ? min(frame.duration, end - time) : frame.duration
    return Frame(pixelBuffer: frame.pixelBuffer, time: time, duration: duration)
  }
}

extension EncodingPlan {
  /// Repeats the movie.
  /// - Throws: a `Failure` if it does not say how long it is.
  mutating func setRepetition(_ repeats: Bool, of source: MovieSource) throws {
    guard repeats else { return }
    let range = source.part ?? CMTimeRange(start: .zero, duration: source.duration)
    guard range.start.isNumeric, range.duration.isNumeric, range.duration.seconds >= 0.01 else {
      throw Failure("--loop needs a movie that says how long it is, or --duration", status: 64)
    }
    repetition = MovieRepetition(range)
    // Their times are of the first repetition.
    keepsSubtitles = false
    keepsChapters = false
  }
}
