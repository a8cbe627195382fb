// SPDX-License-Identifier: Apache-2.0
import Foundation

extension TimeObserver {
  /// Creates an observer that calls `block` at every multiple of an interval, and when time jumps
  /// or the rate changes.
  static func periodic(
    _ timebase: CMTimebase, _ interval: CMTime, queue: DispatchQueue?,
    _ block: @escaping @Sendable (CMTime) -> Void
  ) -> TimeObserver {
    let observer = TimeObserver(timebase, queue: queue ?? .main)
    guard interval.isNumeric, interval > .zero else { return observer }
    @Sendable func following(_ time: CMTime) -> CMTime {
      TimeGrid.multiple(of: interval, beyond: time, isBackward: CMTimebaseGetRate(timebase) < 0)
    }
    observer.startPeriodic(next: following, block: block)
    return observer
  }

  /// Creates an observer that calls `block` whenever one of the times is passed in normal playback.
  static func boundaries(
    _ timebase: CMTimebase, _ times: [CMTime], queue: DispatchQueue?, _ block: @escaping @Sendable () -> Void
  ) -> TimeObserver {
    let observer = TimeObserver(timebase, queue: queue ?? .main)
    let sorted = times.filter(\.isNumeric).sorted()
    observer.startBoundaries(
      after: { time, isReached in
        CMTimebaseGetRate(timebase) < 0
          ? sorted.last { isReached ? $0 < time : $0 <= time }
          : sorted.first { isReached ? $0 > time : $0 >= time }
      }, block: block)
    return observer
  }
}

/// A timer that fires at times of a timebase.
final class TimeObserver: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let timebase: CMTimebase
  private let timer: any DispatchSourceTimer
  private let queue: DispatchQueue
  private let lock = Lock()
  private var isStopped = false
  private var isRunning = false
  private var tokens: [any NSObjectProtocol] = []

  /// Creates an observer, which is not started.
  /// - Parameters:
  ///   - timebase: The timebase to observe.
  ///   - target: The program's queue. It may be concurrent; the observer calls its block from one
  ///     thread at a time.
  init(_ timebase: CMTimebase, queue target: DispatchQueue) {
    self.timebase = timebase
    queue = DispatchQueue(label: "org.openvideotoolbox.observer", target: target)
    timer = DispatchSource.makeTimerSource(queue: queue)
  }

  deinit { stop() }

  var isOver: Bool { lock.withLock { isStopped } }

  /// Fires at a time. The action returns the next time to fire at, or nil.
  func start(at time: CMTime, action: @escaping @Sendable (_ fired: CMTime) -> CMTime?) {
    let due = Due(time)
    timer.setEventHandler { [weak self] in
      guard let self, !self.isOver else { return }
      let fired = due.time
      if let next = action(fired) {
        due.time = next
        self.fire(at: next)
      }
    }
    begin()
    fire(at: time)
  }

  /// Fires at boundaries.
  /// - Parameters:
  ///   - after: Returns the next boundary at a time, or beyond it if it has been reached.
  ///   - block: The function to call.
  func startBoundaries(
    after: @escaping @Sendable (_ time: CMTime, _ isReached: Bool) -> CMTime?,
    block: @escaping @Sendable () -> Void
  ) {
    let timebase = timebase
    let due = Due(after(CMTimebaseGetTime(timebase), false) ?? .invalid)
    due.follow(timebase)
    timer.setEventHandler { [weak self] in
      guard let self, !self.isOver, due.time.isNumeric else { return }
      // If time jumps over the boundary, the timer fires before the notification of the jump
      // arrives. Setting the timer again makes it fire at once if the time has not jumped after
      // all.
      guard !due.hasJumped(timebase) else { return self.fire(at: due.time) }
      block()
      // The timer can fire slightly early, but the boundary counts as reached.
      let now = CMTimebaseGetTime(timebase)
      let passed = CMTimebaseGetRate(timebase) < 0 ? min(now, due.time) : max(now, due.time)
      due.time = after(passed, true) ?? .invalid
      if due.time.isNumeric { self.fire(at: due.time) }
    }
    begin()
    if due.time.isNumeric { fire(at: due.time) }
    onChange {
      due.follow(timebase)
      due.time = after(CMTimebaseGetTime(timebase), false) ?? .invalid
      // Without a further boundary the timer is set to a distant time.
      return due.time.isNumeric ? due.time : CMTime(value: 1 << 40, timescale: 1)
    }
  }

  /// Sets the timer again when time jumps or the rate changes.
  private func onChange(_ next: @escaping @Sendable () -> CMTime) {
    for name in [kCMTimebaseNotification_EffectiveRateChanged, kCMTimebaseNotification_TimeJumped] {
      let token = NotificationCenter.default.addObserver(
        forName: NSNotification.Name(name as String), object: timebase, queue: nil
      ) { [weak self] _ in
        guard let observer = self else { return }
        observer.queue.async { [weak observer] in
          guard let observer, !observer.isOver else { return }
          observer.fire(at: next())
        }
      }
      lock.withLock { tokens.append(token) }
    }
  }

  func startPeriodic(
    next: @escaping @Sendable (CMTime) -> CMTime, block: @escaping @Sendable (CMTime) -> Void
  ) {
    let timebase = timebase
    let due = Due(next(CMTimebaseGetTime(timebase)))
    timer.setEventHandler { [weak self] in
      guard let self, !self.isOver else { return }
      // The timer can fire slightly early, but the time it was set for counts as reached.
      let (time, rate) = (CMTimebaseGetTime(timebase), CMTimebaseGetRate(timebase))
      let now = rate > 0 ? max(time, due.time) : rate < 0 ? min(time, due.time) : time
      block(now)
      due.time = next(now)
      self.fire(at: due.time)
    }
    begin()
    fire(at: due.time)
    onChange {
      let now = CMTimebaseGetTime(timebase)
      block(now)
      due.time = next(now)
      return due.time
    }
  }

  private func begin() {
    CMTimebaseAddTimerDispatchSource(timebase, timerSource: timer)
    lock.withLock { isRunning = true }
    timer.resume()
  }

  private func fire(at time: CMTime) {
    CMTimebaseSetTimerDispatchSourceNextFireTime(timebase, timerSource: timer, fireTime: time, flags: 0)
  }

  func stop() {
    let (tokens, wasRunning): ([any NSObjectProtocol]?, Bool) = lock.withLock {
      guard !isStopped else { return (nil, false) }
      isStopped = true
      defer { self.tokens = [] }
      return (self.tokens, isRunning)
    }
    guard let tokens else { return }
    for token in tokens { NotificationCenter.default.removeObserver(token) }
    CMTimebaseRemoveTimerDispatchSource(timebase, timerSource: timer)
    // A suspended dispatch source must be resumed before it is released.
    if !wasRunning { timer.resume() }
    timer.cancel()
  }

  /// The time that the timer is set for. Used on the timer's queue only.
  private final class Due: @unchecked Sendable {
    // Sendable: used on the queue of its observer only.
    var time: CMTime
    /// A reading of the timebase and its clock, and the rate since then.
    private var line = (time: CMTime.zero, clock: CMTime.zero, rate: 0.0)

    init(_ time: CMTime) { self.time = time }

    func follow(_ timebase: CMTimebase) {
      line = (
        CMTimebaseGetTime(timebase), CMClockGetTime(CMTimebaseCopyUltimateSourceClock(timebase)),
        CMTimebaseGetEffectiveRate(timebase)
      )
    }

    /// Whether the timebase's time differs from the one computed from the last reading by more than
    /// 0.05 seconds, which is more than the readings' inaccuracy.
    func hasJumped(_ timebase: CMTimebase) -> Bool {
      let clock = CMClockGetTime(CMTimebaseCopyUltimateSourceClock(timebase))
      let expected = line.time.seconds + (clock - line.clock).seconds * line.rate
      return abs(CMTimebaseGetTime(timebase).seconds - expected) > 0.05 * max(1, abs(line.rate))
    }
  }
}
