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
      next: { time, isReached, isBackward in
        isBackward
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

  var isFinished: Bool { lock.withLock { isStopped } }

  /// Fires at a time. The action returns the next time to fire at, or nil.
  func start(at time: CMTime, action: @escaping @Sendable (_ fired: CMTime) -> CMTime?) {
    let due = Due(time)
    timer.setEventHandler { [weak self] in
      guard let self, !self.isFinished else { return }
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
  ///   - next: The next boundary.
  ///   - block: The function to call.
  fileprivate func startBoundaries(
    next: @escaping BoundaryTracker.Next,
    block: @escaping @Sendable () -> Void
  ) {
    let timebase = timebase
    let course = BoundaryTracker(next)
    timer.setEventHandler { [weak self] in
      guard let self, !self.isFinished else { return }
      // After a jump, the timer may fire before the notification of the jump arrives, which sets it
      // again.
      guard course.isDue, course.jumps == timebase.jumpCount else { return }
      block()
      course.pass(CMTimebaseGetTime(timebase))
      self.fire(at: course.due)
    }
    begin()
    let start = Change(now: timebase)
    queue.async { [weak self] in
      guard let self, !self.isFinished else { return }
      _ = course.follow(start)
      self.fire(at: course.due)
    }
    onChange { change in
      if course.follow(change) { block() }
      return course.due
    }
    // A jump that came before the notifications were asked for.
    guard timebase.jumpCount != start.jumps else { return }
    let missed = Change(now: timebase)
    queue.async { [weak self] in
      guard let self, !self.isFinished, course.jumps == start.jumps else { return }
      _ = course.follow(missed)
      self.fire(at: course.due)
    }
  }

  /// Sets the timer again when time jumps or the rate changes.
  /// - Parameter next: Returns the time to fire at after a change.
  private func onChange(_ next: @escaping @Sendable (Change) -> CMTime) {
    for name in [kCMTimebaseNotification_EffectiveRateChanged, kCMTimebaseNotification_TimeJumped] {
      let token = NotificationCenter.default.addObserver(
        forName: NSNotification.Name(name as String), object: timebase, queue: nil
      ) { [weak self] notification in
        guard let observer = self else { return }
        // The time of the change itself: the queue may be busy for long.
        let event = notification.userInfo?[kCMTimebaseNotificationKey_EventTime as String] as? NSDictionary
        let time = CMTimeMakeFromDictionary(event)
        let change = Change(
          observer.timebase, time: time.isNumeric ? time : CMTimebaseGetTime(observer.timebase))
        observer.queue.async { [weak observer] in
          guard let observer, !observer.isFinished else { return }
          observer.fire(at: next(change))
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
      guard let self, !self.isFinished else { return }
      // The timer can fire slightly early, but the time it was set for counts as reached.
      let (time, rate) = (CMTimebaseGetTime(timebase), CMTimebaseGetRate(timebase))
      let now = rate > 0 ? max(time, due.time) : rate < 0 ? min(time, due.time) : time
      block(now)
      due.time = next(now)
      self.fire(at: due.time)
    }
    begin()
    fire(at: due.time)
    onChange { _ in
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

  /// The time that the timer is set for.
  private final class Due: @unchecked Sendable {
    // Sendable: used on the queue of its observer only.
    var time: CMTime

    init(_ time: CMTime) { self.time = time }
  }

  /// A change of a timebase: its time at the change, and its rate and jumps after it.
  struct Change {
    let time: CMTime
    let rate: Double
    let jumps: Int

    init(_ timebase: CMTimebase, time: CMTime) {
      self.time = time
      rate = CMTimebaseGetEffectiveRate(timebase)
      jumps = timebase.jumpCount
    }

    /// The present state.
    init(now timebase: CMTimebase) {
      var count = timebase.jumpCount
      self.init(timebase, time: CMTimebaseGetTime(timebase))
      while jumps != count {
        count = jumps
        self.init(timebase, time: CMTimebaseGetTime(timebase))
      }
    }
  }
}

/// Determines which boundary times a timebase has passed. It applies each change of the timebase at
/// the time of the change, however late it is called, so that no boundary is missed.
private final class BoundaryTracker: @unchecked Sendable {
  // Sendable: used on the queue of its observer only.

  /// Returns the next boundary at a time, or beyond it if it has been reached.
  typealias Next =
    @Sendable (_ time: CMTime, _ isReached: Bool, _ isBackward: Bool) -> CMTime?

  private let next: Next
  /// The next boundary; distant if there is none.
  private(set) var due = BoundaryTracker.never
  /// The number of jumps of the timebase that are taken into account.
  private(set) var jumps = -1
  private var rate = 0.0
  /// The boundary that was passed last since the last jump.
  private var passed: CMTime?

  private static let never = CMTime(value: 1 << 40, timescale: 1)

  init(_ next: @escaping Next) { self.next = next }

  /// Whether there is a boundary to come.
  var isDue: Bool { due != Self.never }

  /// Continues with the boundary after the one that is due.
  /// - Parameter now: The time of the timebase. A timer can fire slightly early, but its time
  ///   counts as reached.
  func pass(_ now: CMTime) {
    passed = due
    due = next(rate < 0 ? min(now, due) : max(now, due), true, rate < 0) ?? Self.never
  }

  /// Continues from a change.
  /// - Returns: Whether the boundary that was due was passed between the last call and the change.
  func follow(_ change: TimeObserver.Change) -> Bool {
    let hasJumped = change.jumps != jumps
    let isBackward = change.rate < 0
    let isTurned = isBackward != (rate < 0)
    defer { (rate, jumps) = (change.rate, change.jumps) }
    if hasJumped {
      passed = nil
      due = next(change.time, false, isBackward) ?? Self.never
      return false
    }
    let isPassed = isDue && (rate < 0 ? due >= change.time : rate > 0 && due <= change.time)
    if isPassed { passed = due }
    if let passed, !isTurned, isBackward ? passed <= change.time : passed >= change.time {
      due = next(passed, true, isBackward) ?? Self.never
    } else {
      due = next(change.time, isPassed, isBackward) ?? Self.never
    }
    return isPassed
  }
}
