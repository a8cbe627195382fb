// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Presents several renderers' samples on one time line.
open class AVSampleBufferRenderSynchronizer: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// The rate has changed.
  public static let rateDidChangeNotification = NSNotification.Name(
    "AVSampleBufferRenderSynchronizerRateDidChangeNotification")

  /// The common time line, at rate 0 and time zero in the beginning.
  public let timebase: CMTimebase
  private let lock = Lock()
  private var members: [any SynchronizedRenderer] = []
  private let work = DispatchQueue(label: "AVFoundation.synchronizer")

  public override init() {
    timebase = .onHostClock()
    super.init()
  }

  // MARK: - Time

  /// How fast time goes; 0: it stands still.
  public var rate: Float {
    get { Float(CMTimebaseGetRate(timebase)) }
    set {
      CMTimebaseSetRate(timebase, rate: Float64(newValue))
      rateChanged()
    }
  }

  /// Sets the rate, and the time from which it goes on.
  open func setRate(_ rate: Float, time: CMTime) {
    if time.isNumeric {
      CMTimebaseSetTime(timebase, time: time)
    }
    CMTimebaseSetRate(timebase, rate: Float64(rate))
    rateChanged()
  }

  /// Sets the rate so that `time` coincides with a time of the host clock.
  open func setRate(_ rate: Float, time: CMTime, atHostTime hostTime: CMTime) {
    guard time.isNumeric, hostTime.isNumeric else { return setRate(rate, time: time) }
    CMTimebaseSetRateAndAnchorTime(
      timebase, rate: Float64(rate), anchorTime: time, immediateSourceTime: hostTime)
    rateChanged()
  }

  @discardableResult
  open func currentTime() -> CMTime { CMTimebaseGetTime(timebase) }

  private func rateChanged() {
    NotificationCenter.default.post(name: Self.rateDidChangeNotification, object: self)
  }

  // MARK: - Renderers

  public var renderers: [any AVQueuedSampleBufferRendering] { lock.withLock { members } }

  /// Presents a renderer's samples on this time line from now on.
  open func addRenderer(_ renderer: any AVQueuedSampleBufferRendering) {
    guard let renderer = renderer as? any SynchronizedRenderer else { return }
    lock.withLock { if !members.contains(where: { $0 === renderer }) { members.append(renderer) } }
    renderer.follow(timebase)
  }

  /// Lets a renderer go at a time of this time line; at once if the time is not a number.
  ///
  /// Of the parameters:
  ///
  /// - `completionHandler`: Receives whether the renderer was there.
  @preconcurrency open func removeRenderer(
    _ renderer: any AVQueuedSampleBufferRendering, at time: CMTime,
    completionHandler: (@Sendable (Bool) -> Void)? = nil
  ) {
    let remove: @Sendable () -> Void = { [weak self] in
      let removed: (any SynchronizedRenderer)? = self?.lock.withLock {
        guard let self, let index = self.members.firstIndex(where: { $0 === renderer }) else { return nil }
        return self.members.remove(at: index)
      }
      removed?.follow(nil)
      completionHandler?(removed != nil)
    }
    guard time.isNumeric, time > currentTime() else { return remove() }
    let observer = TimeObserver(timebase, queue: work)
    observer.start(at: time) { [weak observer] _ in
      remove()
      observer?.stop()
      return nil
    }
    keep(observer)
  }

  // MARK: - Observers

  private var observers: [TimeObserver] = []

  private func keep(_ observer: TimeObserver) {
    lock.withLock {
      observers.removeAll { $0.isOver }
      observers.append(observer)
    }
  }

  /// Calls `block` at every multiple of `interval`, and when time jumps or the rate changes from or to zero.
  /// - Returns: An object to keep, and to give to `removeTimeObserver(_:)`.
  @discardableResult
  @preconcurrency open func addPeriodicTimeObserver(
    forInterval interval: CMTime, queue: DispatchQueue?, using block: @escaping @Sendable (CMTime) -> Void
  ) -> Any {
    let observer = TimeObserver(timebase, queue: queue ?? .main)
    if interval.isNumeric, interval > .zero {
      let timebase = timebase
      @Sendable func following(_ time: CMTime) -> CMTime {
        let count = (time.seconds / interval.seconds + 1e-9).rounded(.down)
        let step: Int64 = CMTimebaseGetRate(timebase) < 0 ? -1 : 1
        return CMTimeMultiply(
          interval, multiplier: Int32(clamping: Int64(clamping: count).addingClamped(step)))
      }
      observer.startPeriodic(next: following, block: block)
    }
    keep(observer)
    return observer
  }

  /// Calls `block` whenever time passes one of the times in the ordinary course of playback, again after a seek back.
  /// A jump passes nothing.
  ///
  /// Of the parameters:
  ///
  /// - `times`: `NSValue`s of `CMTime`.
  @discardableResult
  @preconcurrency open func addBoundaryTimeObserver(
    forTimes times: [NSValue], queue: DispatchQueue?, using block: @escaping @Sendable () -> Void
  ) -> Any {
    let observer = TimeObserver(timebase, queue: queue ?? .main)
    let sorted = times.map(\.timeValue).filter(\.isNumeric).sorted()
    let timebase = timebase
    observer.startBoundaries(
      after: { time, isReached in
        CMTimebaseGetRate(timebase) < 0
          ? sorted.last { isReached ? $0 < time : $0 <= time }
          : sorted.first { isReached ? $0 > time : $0 >= time }
      }, block: block)
    keep(observer)
    return observer
  }

  open func removeTimeObserver(_ observer: Any) {
    guard let observer = observer as? TimeObserver else { return }
    observer.stop()
    lock.withLock { observers.removeAll { $0 === observer } }
  }
}

/// A timer on a timebase.
private final class TimeObserver: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let timebase: CMTimebase
  private let timer: any DispatchSourceTimer
  private let queue: DispatchQueue
  private let lock = Lock()
  private var isStopped = false
  private var isRunning = false
  private var tokens: [any NSObjectProtocol] = []

  init(_ timebase: CMTimebase, queue: DispatchQueue) {
    self.timebase = timebase
    self.queue = queue
    timer = DispatchSource.makeTimerSource(queue: queue)
  }

  deinit { stop() }

  var isOver: Bool { lock.withLock { isStopped } }

  /// Fires at a time; the action tells the next one, if there is one.
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
  /// - Parameter after: The next boundary at a time, or beyond it if it was reached.
  func startBoundaries(
    after: @escaping @Sendable (_ time: CMTime, _ isReached: Bool) -> CMTime?,
    block: @escaping @Sendable () -> Void
  ) {
    let timebase = timebase
    let due = Due(after(CMTimebaseGetTime(timebase), false) ?? .invalid)
    due.follow(timebase)
    timer.setEventHandler { [weak self] in
      guard let self, !self.isOver, due.time.isNumeric else { return }
      // A jump over the boundary lets the timer fire before word of the jump is here, which sets it anew; again at
      // once, should the readings only have been torn apart.
      guard !due.hasJumped(timebase) else { return self.fire(at: due.time) }
      block()
      // A timer may be a trifle early: the time it was set for has come all the same.
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
      // Without a boundary ahead the timer is set far away.
      return due.time.isNumeric ? due.time : CMTime(value: 1 << 40, timescale: 1)
    }
  }

  /// Sets the timer anew when time jumps or runs at another rate.
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
      // A timer may be a trifle early: the time it was set for has come all the same.
      let now = max(
        CMTimebaseGetTime(timebase), CMTimebaseGetRate(timebase) > 0 ? due.time : .negativeInfinity)
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
    // A suspended source must not be released.
    if !wasRunning { timer.resume() }
    timer.cancel()
  }

  /// The time that the timer is set for; used on the timer's queue.
  private final class Due: @unchecked Sendable {
    // Sendable: touched on the queue of its observer alone.
    var time: CMTime
    /// Where the timebase stood at a time of its clock, and its rate since.
    private var line = (time: CMTime.zero, clock: CMTime.zero, rate: 0.0)

    init(_ time: CMTime) { self.time = time }

    func follow(_ timebase: CMTimebase) {
      line = (
        CMTimebaseGetTime(timebase), CMClockGetTime(CMTimebaseCopyUltimateSourceClock(timebase)),
        CMTimebaseGetEffectiveRate(timebase)
      )
    }

    /// Whether the timebase is elsewhere than its line leads, by more than the two readings can differ.
    func hasJumped(_ timebase: CMTimebase) -> Bool {
      let clock = CMClockGetTime(CMTimebaseCopyUltimateSourceClock(timebase))
      let expected = line.time.seconds + (clock - line.clock).seconds * line.rate
      return abs(CMTimebaseGetTime(timebase).seconds - expected) > 0.05 * max(1, abs(line.rate))
    }
  }
}
