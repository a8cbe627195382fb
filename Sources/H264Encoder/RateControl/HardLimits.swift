// SPDX-License-Identifier: Apache-2.0
/// Counts what was sent in each window of the hard limits, and says what they leave for a frame.
struct HardLimits {
  private struct Sent {
    var time: Double
    var bits: Double
  }

  /// Frames that the limits look back at.
  private static let capacity = 4096
  private var history: [Sent] = []
  private(set) var limits: [EncoderConfiguration.DataRateLimit]
  private var time = 0.0

  init(_ limits: [EncoderConfiguration.DataRateLimit]) {
    self.limits = limits
    history.reserveCapacity(HardLimits.capacity)
  }

  var isEmpty: Bool { limits.isEmpty }

  /// What was sent under a wider limit fills a narrower one by the same part: the frames after a cut have what the
  /// new limit gives to as many, rather than nothing until the window has passed.
  mutating func change(to new: [EncoderConfiguration.DataRateLimit]) {
    let old = limits
    limits = new
    guard old.count == new.count, zip(old, new).allSatisfy({ $0.seconds == $1.seconds && $0.bytes > 0 })
    else {
      return
    }
    let part = zip(old, new).map { Double($1.bytes) / Double($0.bytes) }.max() ?? 1
    guard part < 1 else { return }
    for i in history.indices { history[i].bits *= part }
  }

  /// The most that the limits leave for a frame of this duration, in bits; nil: no limits.
  func largestFrame(duration: Double) -> Double? {
    var least: Double?
    for limit in limits {
      // Every window that ends with this frame begins after `time - seconds`.
      var used = 0.0
      for sent in history.reversed() {
        if sent.time <= time - limit.seconds + 1e-9 { break }
        used += sent.bits
      }
      let total = Double(limit.bytes) * 8
      let left = max(total - used, 0)
      // Keep something for the frames to come in this window: a key frame must not starve them.
      let frames = max(1, limit.seconds / duration)
      let reserve = total / frames
      let room = max(left - reserve * 0.5, min(left, reserve)) * 0.98
      least = min(least ?? room, room)
    }
    return least
  }

  /// A frame was sent, or dropped (0 bits), and its time passes.
  mutating func account(_ bits: Double, duration: Double) {
    if !limits.isEmpty {
      history.append(Sent(time: time, bits: bits))
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
        time: history[2 * i + 1].time, bits: history[2 * i].bits + history[2 * i + 1].bits)
    }
    history.removeSubrange(older..<2 * older)
  }
}
