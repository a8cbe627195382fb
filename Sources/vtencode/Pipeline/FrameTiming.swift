// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// Limits frames to a part of a movie: the frame that is displayed when the part begins is moved to
/// its beginning, and the last one ends with it. Used by one thread.
struct FrameTrimmer {
  let range: CMTimeRange
  /// A frame that the next one replaces sooner after the beginning is omitted: it would not be
  /// visible, and in a movie's time scale the two could have the same time.
  private static let shortest = CMTime(value: 1, timescale: 1000)
  private var early: Frame?
  private var following: Frame?
  private var isFinished = false

  init(_ range: CMTimeRange) { self.range = range }

  /// The next frame of the part; nil at its end.
  /// - Parameter read: reads the next frame of the movie.
  mutating func next(from read: () throws -> Frame?) throws -> Frame? {
    if let frame = following {
      following = nil
      return frame
    }
    guard !isFinished else { return nil }
    while let frame = try read() {
      if frame.time < range.start {
        early = frame
        continue
      }
      let isSeen = frame.time >= range.end || frame.time - range.start >= Self.shortest
      let displayed = displayedAtStart(before: frame.time)
      let first = isSeen ? displayed : nil
      guard frame.time < range.end else {
        isFinished = true
        return first
      }
      let kept = ending(frame)
      guard let first else { return kept }
      following = kept
      return first
    }
    isFinished = true
    return displayedAtStart(before: range.end)
  }

  /// The frame that is displayed when the part begins, if it began before it and lasts into it.
  private mutating func displayedAtStart(before next: CMTime) -> Frame? {
    guard let frame = early else { return nil }
    early = nil
    let end = min(frame.time + frame.duration, next, range.end)
    guard end > range.start else { return nil }
    return Frame(pixelBuffer: frame.pixelBuffer, time: range.start, duration: end - range.start)
  }

  private func ending(_ frame: Frame) -> Frame {
    guard frame.time + frame.duration > range.end else { return frame }
    return Frame(pixelBuffer: frame.pixelBuffer, time: frame.time, duration: range.end - frame.time)
  }
}

/// Gives frames at a constant rate: at each time the frame that is displayed then. Frames are left
/// out or repeated. Used by one thread.
struct FrameRateConverter {
  private let origin: CMTime
  private let duration: CMTime
  private var current: Frame?
  private var upcoming: Frame?
  private var number: Int32 = 0
  private var hasBegun = false
  /// Frames that come this much too late for a time are still displayed at it, since containers
  /// round times to milliseconds.
  private static let tolerance = CMTime(value: 1, timescale: 1000)
  /// The longest time for which a frame is repeated. A longer gap is more likely a wrong time
  /// stamp, and at a high rate it would be filled for hours.
  private static let longestRepeat = CMTime(value: 600, timescale: 1)

  /// - Parameters:
  ///   - rate: frames a second, more than 0.
  ///   - origin: a time at which there is a frame.
  init(rate: Double, origin: CMTime) {
    self.origin = origin
    duration = Self.duration(of: rate)
  }

  /// The duration of a frame: exact for whole rates and for those of television in North America,
  /// and for others in units of 1/90,000 s at most.
  static func duration(of rate: Double) -> CMTime {
    let whole = rate.rounded()
    if abs(rate - whole) < 1e-6 { return CMTime(value: 1, timescale: CMTimeScale(whole)) }
    let television = (rate * 1.001).rounded()
    if abs(rate * 1.001 - television) < 0.01, television >= 1 {
      return CMTime(value: 1001, timescale: CMTimeScale(television) * 1000)
    }
    return CMTime(nearest: 1 / rate, preferredTimescale: 90_000)
  }

  /// The next frame; nil at the end.
  /// - Parameter read: reads the next frame of the movie.
  /// - Throws: what `read` throws, and a `Failure` if a frame is displayed for more than 10
  ///   minutes.
  mutating func next(from read: () throws -> Frame?) throws -> Frame? {
    if !hasBegun {
      hasBegun = true
      current = try read()
      upcoming = try read()
      guard let current else { return nil }
      let late = (current.time - origin).seconds - Self.tolerance.seconds
      number = Int32(clamping: Int((min(max(late / duration.seconds, 0), 1e9)).rounded(.up)))
    }
    let time = origin + CMTimeMultiply(duration, multiplier: number)
    while let following = upcoming, following.time <= time + Self.tolerance {
      current = following
      upcoming = try read()
    }
    guard let current, number < .max else { return nil }
    let end = upcoming?.time ?? current.time + current.duration
    if upcoming == nil, time + Self.tolerance >= end { return nil }
    guard end - time <= Self.longestRepeat else {
      throw Failure(
        "the picture at \(TextFormat.fixed(current.time.seconds, 2)) s is the last one until "
          + "\(TextFormat.fixed(end.seconds, 2)) s, and --fps repeats a picture for at most "
          + "\(Int(Self.longestRepeat.seconds)) s; omit --fps, or give a part with --start and --end")
    }
    number += 1
    return Frame(pixelBuffer: current.pixelBuffer, time: time, duration: duration)
  }
}
