// SPDX-License-Identifier: Apache-2.0
/// Counts what was sent in each window of the hard limits, and says what they leave for a frame.
struct HardLimits {
  private struct Sent {
    var time: Double
    var bits: Double
    /// `scale` when it was sent.
    var scale: Double
  }

  /// By how much the limits have been changed so far.
  private var scale = 1.0

  /// What counts of a frame: under a limit that is narrower than the one that it was sent under, the same part.
  private func counted(_ sent: Sent) -> Double { sent.bits * min(1, scale / sent.scale) }

  /// Frames that the limits look back at.
  private static let capacity = 4096
  private var history: [Sent] = []
  private(set) var limits: [H264EncoderConfiguration.DataRateLimit]
  private var time = 0.0

  init(_ limits: [H264EncoderConfiguration.DataRateLimit]) {
    self.limits = limits
    history.reserveCapacity(HardLimits.capacity)
  }

  var isEmpty: Bool { limits.isEmpty }

  /// What was sent under a wider limit fills a narrower one by the same part: the frames after a cut have what the
  /// new limit gives to as many, rather than nothing until the window has passed.
  mutating func change(to new: [H264EncoderConfiguration.DataRateLimit]) {
    let old = limits
    limits = new
    guard old.count == new.count, zip(old, new).allSatisfy({ $0.seconds == $1.seconds && $0.bytes > 0 })
    else {
      return
    }
    let part = zip(old, new).map { Double($1.bytes) / Double($0.bytes) }.max() ?? 1
    scale = min(max(scale * part, 1e-15), 1e15)
  }

  /// The most that the limits leave for a frame of this duration, in bits; nil: no limits.
  /// - Parameter afterPause: when what was sent has passed.
  func largestFrame(duration: Double, afterPause: Bool = false) -> Double? {
    var least: Double?
    for limit in limits {
      // Every window that ends with this frame begins after `time - seconds`.
      let total = Double(limit.bytes) * 8
      let left = afterPause ? total : max(total - bits(since: time - limit.seconds), 0)
      // Keep something for the frames to come in this window: a key frame must not starve them.
      let frames = max(1, limit.seconds / duration)
      let reserve = total / frames
      let room = max(left - reserve * 0.5, min(left, reserve)) * 0.98
      least = min(least ?? room, room)
    }
    return least
  }

  /// What the limits leave for the next frame, in bits; nil: no limits.
  ///
  /// A window that is used up leaves nothing until what fills it has passed: of each, a part is kept for the frames that
  /// come meanwhile.
  /// - Parameters:
  ///   - duration: seconds to the frame after it.
  ///   - reserve: part of a limit's rate that is kept for frames after it.
  func room(duration: Double, reserve: Double) -> Double? {
    limits.map { limit in
      let total = Double(limit.bytes) * 8
      let left = max(total - bits(since: time - limit.seconds), 0)
      var room = left
      for step in 1...Int(HardLimits.steps) {
        let part = Double(step) / HardLimits.steps
        // As long as the frame itself is in the window.
        let used = bits(since: time - limit.seconds * (1 - part))
        room = min(room, total - used - total * reserve * part)
      }
      return max(room, min(left, total * reserve * min(duration / limit.seconds, 1)))
    }.min()
  }

  private func bits(since begin: Double) -> Double {
    var sum = 0.0
    for sent in history.reversed() {
      if sent.time <= begin + HardLimits.tolerance { break }
      sum += counted(sent)
    }
    return sum
  }

  /// Whether these frames, the next to be sent, keep to the limits, and leave something for those after them.
  /// - Parameters:
  ///   - frames: bits, and seconds from each to the next.
  ///   - margin: part of a limit that stays unused.
  ///   - reserve: part of a limit's rate that is left for frames after them.
  func allow(_ frames: [(bits: Double, seconds: Double)], margin: Double, reserve: Double) -> Bool {
    limits.allSatisfy { limit in
      let total = Double(limit.bytes) * 8
      let step = limit.seconds / HardLimits.steps
      var now = time
      var used = bits(since: now - limit.seconds)
      var first = history.count
      while first > 0, history[first - 1].time > now - limit.seconds + HardLimits.tolerance { first -= 1 }
      // The frames' own times come after those of the history.
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
          used += total * reserve / HardLimits.steps
          if used > total { return false }
          now += step
          continue
        }
        used += frames[n].bits
        // What was sent already can not be made smaller: of what it left, some is used in any case.
        let left = total - (used - frames[n].bits)
        if frames[n].bits > left - min(total * margin, max(left, 0) * 0.3) { return false }
        now += frames[n].seconds
      }
      return true
    }
  }

  /// Steps in which a window's time after the last known frame is gone through.
  private static let steps = 16.0
  /// Seconds by which sums of durations may miss.
  private static let tolerance = 1e-9

  /// Time passes: what the last frame was not accounted with.
  mutating func pass(seconds: Double) { time += seconds }

  /// A frame was sent, or dropped (0 bits), and its time passes.
  mutating func account(_ bits: Double, duration: Double) {
    if !limits.isEmpty {
      history.append(Sent(time: time, bits: bits, scale: scale))
      if history.count >= HardLimits.capacity { shorten() }
    }
    time += duration
  }

  /// Forgets what no window holds any more. If all is still in a window, its older half is kept in pairs,
  /// as if both had been sent with the later one: no window is then thought emptier than it is.
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
