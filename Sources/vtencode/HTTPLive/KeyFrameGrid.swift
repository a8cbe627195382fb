// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// Decides which pictures become key frames so that segments can begin there: the first one that is
/// not earlier than each multiple of an interval, counted from the first picture. The decision does
/// not depend on the encoder, so all renditions of a movie have these key frames in common.
struct KeyFrameGrid: Sendable {
  private let interval: CMTime
  private var next = CMTime.invalid
  private var latest = CMTime.negativeInfinity
  /// The key frames of the first pass, for a pass that begins again or covers parts of the movie.
  private var known: Set<CMTime> = []
  private let isRepeated: Bool

  /// - Parameters:
  ///   - interval: the interval, positive.
  ///   - isRepeated: whether pictures come again, in another pass.
  init(interval: CMTime, isRepeated: Bool = false) {
    (self.interval, self.isRepeated) = (interval, isRepeated)
  }

  /// Records a picture. Pictures come in presentation order, but for those that come again.
  /// - Returns: whether it has to be a key frame. The first picture is one in any case.
  mutating func isDue(at time: CMTime) -> Bool {
    guard time.isNumeric else { return false }
    guard time > latest else { return known.contains(time) }
    latest = time
    guard next.isNumeric else {
      next = time + interval
      return false
    }
    guard time >= next else { return false }
    next = Self.multiple(after: time, from: next, interval: interval)
    if isRepeated { known.insert(time) }
    return true
  }

  /// The first time after `time` that is a whole number of intervals after `origin`.
  static func multiple(after time: CMTime, from origin: CMTime, interval: CMTime) -> CMTime {
    var result = origin
    // A long pause is passed in one step; rounding is made up for one interval at a time.
    let skipped = ((time - origin).seconds / interval.seconds - 1).rounded(.down)
    guard skipped < 1_000_000_000 else { return time + interval }
    if skipped >= 1 { result = result + CMTimeMultiply(interval, multiplier: Int32(skipped)) }
    while result <= time { result = result + interval }
    return result
  }
}
