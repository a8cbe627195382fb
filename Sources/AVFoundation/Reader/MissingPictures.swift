// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// Counts pictures that are missing from a stream because the packets with their data were lost, so
/// that no remaining packet is damaged. They are found as intervals between pictures that are
/// multiples of the usual interval.
///
/// Only intervals near a gap that the container reports are counted, and only in streams with a
/// constant picture rate. In a stream with a variable rate, or one that was joined from streams
/// with different rates or clocks, a longer interval does not mean that a picture is missing.
struct MissingPictures {
  /// The number of pictures before and after a gap that are examined. It exceeds the depth of
  /// reordering (16), so that the pictures next to the gap are among them, and is large enough to
  /// recognize a constant rate.
  private static let reach = 48
  /// The number of stored pictures at which intervals are examined even if no gap is near.
  private static let maximum = 128
  /// In seconds. A longer interval means that the clock has changed.
  private static let longest = 1.0
  /// At least this many pictures are needed to recognize a rate.
  private static let minPictures = 8
  /// The most consecutive long intervals that are taken for missing pictures.
  private static let longestRun = 3
  /// The share of the intervals that must be within 10 % of the median for the rate to be constant.
  private static let alike = 0.7

  /// Presentation times in seconds of the pictures that were decoded or could not be decoded.
  private var times: [Double] = []
  /// The number of pictures since the last gap that has not been examined yet; nil if there is
  /// none.
  private var sinceGap: Int?
  /// Whether the picture rate is variable: an interval was longer than usual although no gap is
  /// near.
  private var isVariable = false
  /// The end time of the last interval that has been examined, in seconds.
  private var seenUntil = -Double.infinity

  /// Adds a picture that is shown, in presentation order.
  /// - Parameters:
  ///   - time: The picture's presentation time.
  ///   - followsDataLoss: Whether packets are missing before or after the picture's own.
  /// - Returns: The number of missing pictures that were found, anywhere before this picture.
  mutating func add(_ time: CMTime, followsDataLoss: Bool) -> Int {
    let seconds = time.seconds
    guard seconds.isFinite else { return 0 }
    var found = 0
    if let last = times.max(), seconds <= last - Self.longest || seconds > last + Self.longest {
      found = finish()
    }
    if followsDataLoss, sinceGap == nil {
      updateRate()
      times = Array(times.suffix(Self.reach))
    }
    times.append(seconds)
    sinceGap = followsDataLoss ? 0 : sinceGap.map { $0 + 1 }
    if let sinceGap, sinceGap >= Self.reach || times.count >= Self.maximum {
      found += count()
      if sinceGap >= Self.reach { self.sinceGap = nil }
      times = Array(times.suffix(Self.reach))
    } else if times.count >= Self.maximum {
      updateRate()
      times = Array(times.suffix(Self.reach))
    }
    return found
  }

  /// Adds a picture that could not be decoded and has been counted as lost.
  mutating func addLost(_ time: CMTime) {
    let seconds = time.seconds
    guard seconds.isFinite, let last = times.max(), abs(seconds - last) <= Self.longest else { return }
    times.append(seconds)
  }

  /// Ends the sequence, at the end of the stream or where its clock changes.
  /// - Returns: The number of missing pictures that were found.
  mutating func finish() -> Int {
    defer { (times, sinceGap, seenUntil) = ([], nil, -.infinity) }
    return sinceGap == nil ? 0 : count()
  }

  private static func intervals(_ times: some Sequence<Double>) -> [(length: Double, end: Double)] {
    let sorted = times.sorted()
    return zip(sorted, sorted.dropFirst()).map { ($1 - $0, $1) }.filter { $0.0 > 0 }
  }

  /// Measures the intervals between pictures.
  /// - Returns: The usual interval and all intervals in seconds, with a mark for those that were
  ///   not examined before; nil if the rate is not constant.
  private mutating func measure(at times: some Collection<Double>) -> (
    typical: Double, all: [(length: Double, isNew: Bool)]
  )? {
    let all = Self.intervals(times)
    guard times.count > Self.minPictures, !all.isEmpty else { return nil }
    let marked = all.map { (length: $0.length, isNew: $0.end > seenUntil) }
    seenUntil = max(seenUntil, all.last?.end ?? seenUntil)
    let typical = all.map(\.length).sorted()[all.count / 2]
    let count = all.count { abs($0.length / typical - 1) < 0.1 }
    return Double(count) >= Double(all.count) * Self.alike ? (typical, marked) : nil
  }

  private mutating func count() -> Int {
    guard let (typical, all) = measure(at: times), !isVariable else { return 0 }
    var (found, run, inRun) = (0, 0, 0)
    for interval in all + [(typical, false)] {
      if interval.length > typical * 1.5 {
        run += 1
        if interval.isNew { inRun += max(0, Int((interval.length / typical).rounded()) - 1) }
      } else {
        // More consecutive long intervals mean that the rate has changed.
        if run <= Self.longestRun { found += inRun }
        (run, inRun) = (0, 0)
      }
    }
    return found
  }

  /// Examines the pictures that no gap is near, to recognize a variable rate.
  private mutating func updateRate() {
    let old = times.dropLast(Self.reach)
    guard old.count > Self.minPictures else { return }
    guard let (typical, all) = measure(at: old) else { return isVariable = true }
    if all.contains(where: { $0.isNew && $0.length > typical * 1.5 }) { isVariable = true }
  }
}
