// SPDX-License-Identifier: Apache-2.0
import struct VideoBitstream.DataRateLimit
/// Counts the bits sent in each window of the hard limits, and computes the bits that the limits
/// leave for a frame.
struct HardLimits {
  /// A frame that was sent.
  private struct Sent {
    /// When it was sent, in seconds of the stream.
    var time: Double
    /// Its bits.
    var bits: Double
    /// The value of `HardLimits.scale` at that time.
    var scale: Double
  }

  /// The product of all changes of the limits so far.
  private var scale = 1.0

  /// The bits of a frame that count: under a limit narrower than the one at its time, the same
  /// share of the limit.
  private func counted(_ sent: Sent) -> Double { sent.bits * min(1, scale / sent.scale) }

  /// The most frames that are remembered.
  private static let capacity = 4096
  /// The frames sent, in order.
  private var history: [Sent] = []
  /// The limits: bytes per window, and the window in seconds.
  private(set) var limits: [DataRateLimit]
  /// The present time, in seconds of the stream.
  private var time = 0.0

  /// Begins with no frames sent.
  init(_ limits: [DataRateLimit]) {
    self.limits = limits
    history.reserveCapacity(HardLimits.capacity)
  }

  /// Whether there are no limits.
  var isEmpty: Bool { limits.isEmpty }

  /// Changes the limits. What was sent under a wider limit takes the same share of the narrower
  /// one. So the frames after a reduction get what the new limit allows, instead of nothing until
  /// the window has passed.
  mutating func change(to new: [DataRateLimit]) {
    let old = limits
    limits = new
    guard old.count == new.count, zip(old, new).allSatisfy({ $0.seconds == $1.seconds && $0.bytes > 0 })
    else {
      return
    }
    let part = zip(old, new).map { Double($1.bytes) / Double($0.bytes) }.max() ?? 1
    scale = min(max(scale * part, 1e-15), 1e15)
  }

  /// The most bits that the limits leave for a frame; nil without limits.
  /// - Parameters:
  ///   - duration: the duration of the frame in seconds.
  ///   - afterPause: whether to count as if everything sent so far had left the windows.
  func largestFrame(duration: Double, afterPause: Bool = false) -> Double? {
    var least: Double?
    for limit in limits {
      // Every window that ends with this frame begins after `time - seconds`.
      let total = Double(limit.bytes) * 8
      let left = afterPause ? total : max(total - bits(since: time - limit.seconds), 0)
      // A reserve is kept for the next frames in this window: a key frame must not use up all of
      // it.
      let frames = max(1, limit.seconds / duration)
      let reserve = total / frames
      let room = max(left - reserve * 0.5, min(left, reserve)) * 0.98
      least = min(least ?? room, room)
    }
    return least
  }

  /// The bits that the limits leave for the next frame; nil without limits.
  ///
  /// A window that is full leaves nothing until the frames in it have left it. A part of each limit
  /// is therefore kept for the frames that come meanwhile.
  /// - Parameters:
  ///   - duration: seconds until the frame after it.
  ///   - reserve: the share of a limit's rate that is kept for the frames after it.
  func room(duration: Double, reserve: Double) -> Double? {
    limits.map { limit in
      let total = Double(limit.bytes) * 8
      let left = max(total - bits(since: time - limit.seconds), 0)
      var room = left
      for step in 1...Int(HardLimits.steps) {
        let part = Double(step) / HardLimits.steps
        // For each time at which the frame itself is still in the window.
        let used = bits(since: time - limit.seconds * (1 - part))
        room = min(room, total - used - total * reserve * part)
      }
      return max(room, min(left, total * reserve * min(duration / limit.seconds, 1)))
    }.min()
  }

  /// The bits that count of the frames sent after a time.
  private func bits(since begin: Double) -> Double {
    var sum = 0.0
    for sent in history.reversed() {
      if sent.time <= begin + HardLimits.tolerance { break }
      sum += counted(sent)
    }
    return sum
  }

  /// Whether frames that are to be sent next keep to the limits, and leave something for those
  /// after them.
  /// - Parameters:
  ///   - frames: for each frame its bits, and the seconds until the next one.
  ///   - margin: the share of a limit that stays unused.
  ///   - reserve: the share of a limit's rate that is left for the frames after them.
  ///   - expected: the bits per second that the frames after them are expected to take, and for how
  ///     many seconds. Up to `mostExpected` of a limit's rate is left for them, where that is more
  ///     than `reserve`.
  func allow(
    _ frames: [(bits: Double, seconds: Double)], margin: Double, reserve: Double,
    expected: (rate: Double, seconds: Double) = (0, 0)
  ) -> Bool {
    limits.allSatisfy { limit in
      let total = Double(limit.bytes) * 8
      let expectedShare = max(
        reserve, min(expected.rate * limit.seconds / total, HardLimits.mostExpected))
      var secondsAfter = 0.0
      let step = limit.seconds / HardLimits.steps
      var now = time
      var used = bits(since: now - limit.seconds)
      var first = history.count
      while first > 0, history[first - 1].time > now - limit.seconds + HardLimits.tolerance { first -= 1 }
      // The frames of the argument leave the window after those of the history.
      var (oldest, oldestTime) = (0, now)
      for n in 0..<frames.count + Int(HardLimits.steps) {
        let begin = now - limit.seconds + HardLimits.tolerance
        while first < history.count, history[first].time <= begin {
          used -= counted(history[first])
          first += 1
        }
        while oldest < min(n, frames.count), oldestTime <= begin {
          used -= frames[oldest].bits
          oldestTime += frames[oldest].seconds
          oldest += 1
        }
        guard n < frames.count else {
          used += total * (secondsAfter < expected.seconds ? expectedShare : reserve) / HardLimits.steps
          secondsAfter += step
          if used > total { return false }
          now += step
          continue
        }
        used += frames[n].bits
        // Bytes that were sent already cannot be reduced: a part of what it left may be used in any
        // case.
        let left = total - (used - frames[n].bits)
        if frames[n].bits > left - min(total * margin, max(left, 0) * 0.3) { return false }
        now += frames[n].seconds
      }
      return true
    }
  }

  /// The number of steps in which the time after the last known frame is checked, up to the length
  /// of a window.
  private static let steps = 16.0
  /// The largest share of a limit's rate that is left for the frames that are only expected:
  /// content that would exceed the limit forever makes no frame coarser than the limit itself
  /// does.
  private static let mostExpected = 0.95
  /// The rounding error of sums of durations, in seconds.
  private static let tolerance = 1e-9

  /// Lets time pass that the last call of `account` did not include.
  mutating func pass(seconds: Double) { time += seconds }

  /// Adds a frame that was sent, or 0 bits for one that was dropped, and lets its duration in
  /// seconds pass.
  mutating func account(_ bits: Double, duration: Double) {
    if !limits.isEmpty {
      history.append(Sent(time: time, bits: bits, scale: scale))
      if history.count >= HardLimits.capacity { shorten() }
    }
    time += duration
  }

  /// Removes frames that no window contains any more. If nearly all frames are still in a window,
  /// pairs of the older ones are merged as if both had been sent at the time of the later one, so
  /// that no window is taken to be emptier than it is.
  private mutating func shorten() {
    let longest = limits.reduce(0) { max($0, $1.seconds) }
    history.removeAll { $0.time < time - longest }
    let older = history.count / 4
    guard history.count > HardLimits.capacity * 3 / 4 else { return }
    for i in 0..<older {
      history[i] = Sent(
        time: history[2 * i + 1].time, bits: history[2 * i].bits + history[2 * i + 1].bits,
        scale: min(history[2 * i].scale, history[2 * i + 1].scale))
    }
    history.removeSubrange(older..<2 * older)
  }
}
