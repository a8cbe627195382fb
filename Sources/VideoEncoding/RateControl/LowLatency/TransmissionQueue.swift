// SPDX-License-Identifier: Apache-2.0
/// A network link with the target bit rate, and the queue of bits that wait for it.
struct TransmissionQueue {
  /// The bits that wait for the link.
  private var queue: LeakyBucket
  /// The rate of the link, in bits per second.
  var rate: Double {
    get { queue.rate }
    set { queue.rate = newValue }
  }
  /// The longest time in seconds from the capture of a frame until its last bit is sent.
  var bound: Double
  /// The bits in the queue when the next frame arrives.
  var backlog: Double { queue.fullness }

  /// Begins with an empty queue. `rate` is in bits per second, `bound` in seconds.
  init(rate: Double, bound: Double) {
    queue = LeakyBucket(rate: rate)
    self.bound = bound
    window.reserveCapacity(TransmissionQueue.windowCapacity)
  }

  /// The frames sent during the last `evenness.seconds`: when, in seconds, and their bits.
  private var window: [(time: Double, bits: Double)] = []
  /// The sum of the bits in `window`.
  private var windowBits = 0.0
  /// The present time in seconds.
  private var time = 0.0
  /// The length in seconds of the window in which the rate is kept even, and the share by which it
  /// may be exceeded in it.
  static let evenness = (seconds: 2.0, excess: 0.075)
  /// The most elements of `window`.
  private static let windowCapacity = 2048

  /// The lowest backlog at the arrival of a frame, in the present period of `standingSeconds` and
  /// in the one before, and when the present one began.
  private var least = (now: Double.infinity, before: Double.infinity, since: -Double.infinity)
  /// The length of a period of `least`, in seconds.
  private static let standingSeconds = 0.25

  /// The bits that have been in the queue all the time in the present and the last period: they
  /// delay every frame, and benefit none.
  var standing: Double { min(least.now, least.before, backlog) }

  /// Lets time pass and sends bits.
  mutating func drain(_ seconds: Double) {
    queue.drain(seconds: seconds)
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

  /// Adds a frame to the queue.
  mutating func send(_ bits: Double) {
    queue.add(bits)
    windowBits += bits
    // No real stream has that many frames in two seconds. The bits are added to the last element,
    // so they count for longer.
    if window.count >= TransmissionQueue.windowCapacity {
      window[window.count - 1].bits += bits
    } else {
      window.append((time, bits))
    }
  }

  /// The most bits that a frame may have so that the rate is kept in the window that ends with it.
  var evenRoom: Double {
    rate * TransmissionQueue.evenness.seconds * (1 + TransmissionQueue.evenness.excess) - windowBits
  }

  /// The most bits that a frame may have so that each frame in the window that follows can still
  /// have at least `part` of its share of the rate: bits leave the window in the order in which
  /// they were sent.
  func evenRoom(keeping part: Double) -> Double {
    var room = evenRoom
    var least = room
    for sent in window {
      // The bits count until then.
      let until = sent.time + TransmissionQueue.evenness.seconds - time
      least = min(least, room - part * rate * until)
      room += sent.bits
    }
    return least
  }

  /// The bound in seconds for frames of a duration in seconds: at least 1.5 durations. With less, a
  /// stream of few frames per second could not use the full rate of the link.
  func bound(duration: Double) -> Double { max(bound, 1.5 * duration) }

  /// The most bits that a frame may have now so that it arrives within the bound.
  func room(duration: Double) -> Double { bound(duration: duration) * rate - backlog }

  /// Changes the rate of the link, in bits per second. The queue is sent at the new rate; after a
  /// reduction no more than half of the bound counts against the next frames.
  mutating func change(rate new: Double) {
    for i in window.indices { window[i].bits *= min(new / max(rate, 1), 1) }
    windowBits = window.reduce(0) { $0 + $1.bits }
    rate = new
    queue.clamp(to: 0.5 * bound * new)
  }
}
