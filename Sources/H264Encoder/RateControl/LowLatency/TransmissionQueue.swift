// SPDX-License-Identifier: Apache-2.0
/// A line of the asked rate, and what waits before it.
struct TransmissionQueue {
  /// Bits per second.
  var rate: Double
  /// Seconds that a frame may wait at most, from its capture until its last bit is sent.
  var bound: Double
  /// Bits that wait when the next frame comes.
  private(set) var backlog = 0.0

  init(rate: Double, bound: Double) {
    self.rate = rate
    self.bound = bound
    window.reserveCapacity(TransmissionQueue.windowCapacity)
  }

  /// What was sent in the last seconds.
  private var window: [(time: Double, bits: Double)] = []
  private var windowBits = 0.0
  private var time = 0.0
  /// Seconds over which the rate is kept even, and by what part it may be exceeded.
  static let evenness = (seconds: 2.0, excess: 0.075)
  private static let windowCapacity = 2048

  /// The least that waited when frames came, and seconds that it is remembered, at least.
  private var least = (now: Double.infinity, before: Double.infinity, since: -Double.infinity)
  private static let standingSeconds = 0.25

  /// Bits that waited whatever came: they delay every frame, and help none.
  var standing: Double { min(least.now, least.before, backlog) }

  /// Time passes.
  mutating func drain(_ seconds: Double) {
    backlog = max(backlog - rate * seconds, 0)
    time += seconds
    if time - least.since >= TransmissionQueue.standingSeconds { least = (.infinity, least.now, time) }
    least.now = min(least.now, backlog)
    var old = 0
    while old < window.count, window[old].time <= time - TransmissionQueue.evenness.seconds + 1e-6 {
      windowBits -= window[old].bits
      old += 1
    }
    if old > 0 { window.removeFirst(old) }
    if window.isEmpty { windowBits = 0 }
  }

  mutating func send(_ bits: Double) {
    backlog += bits
    windowBits += bits
    // So many frames come in no two seconds of a real stream: the older ones then count for longer.
    if window.count >= TransmissionQueue.windowCapacity {
      window[window.count - 1].bits += bits
    } else {
      window.append((time, bits))
    }
  }

  /// The most bits that a frame may have for the rate to be kept in the seconds that end with it.
  var evenRoom: Double {
    rate * TransmissionQueue.evenness.seconds * (1 + TransmissionQueue.evenness.excess) - windowBits
  }

  /// The same where each picture of the next two seconds is to have at least such a part of its share: what was sent
  /// leaves the window only in the order in which it came.
  func evenRoom(keeping part: Double) -> Double {
    var room = evenRoom
    var least = room
    for sent in window {
      // It counts until then.
      let until = sent.time + TransmissionQueue.evenness.seconds - time
      least = min(least, room - part * rate * until)
      room += sent.bits
    }
    return least
  }

  /// The bound, or what a frame that uses the line to the full takes: without that, a stream of few frames a second
  /// would leave the line idle.
  func bound(duration: Double) -> Double { max(bound, 1.5 * duration) }

  /// The most bits that a frame may have now.
  func room(duration: Double) -> Double { bound(duration: duration) * rate - backlog }

  /// What waits before a line that became slower or faster is sent at the new rate; of a fall no more than a part of
  /// the bound is held against the frames to come.
  mutating func change(rate new: Double) {
    for i in window.indices { window[i].bits *= min(new / max(rate, 1), 1) }
    windowBits = window.reduce(0) { $0 + $1.bits }
    rate = new
    backlog = min(backlog, 0.5 * bound * new)
  }
}
