// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A timeline that a program controls. It follows a source, which is a clock or another timebase,
/// at a rate that can be set.
///
/// At rate 0 its time does not change; at rate 2 it advances by two seconds for each second of its
/// source; at a negative rate it runs backward. It starts at time zero and rate zero.
public final class CMTimebase: @unchecked Sendable, Hashable {
  // Sendable: `lock` guards all variables.
  enum Source {
    case clock(CMClock)
    case timebase(CMTimebase)

    var time: CMTime {
      switch self {
      case .clock(let clock): CMClockGetTime(clock)
      case .timebase(let timebase): timebase.time
      }
    }

    var object: any CMSyncProtocol {
      switch self {
      case .clock(let clock): clock
      case .timebase(let timebase): timebase
      }
    }

    var jumpCount: Int {
      switch self {
      case .clock: 0
      case .timebase(let timebase): timebase.jumpCount
      }
    }
  }

  /// The linear relation between the time of the timebase and that of its source: when the source
  /// has the time `sourceTime`, the timebase has the time `time`, and it advances from there at
  /// `rate`.
  struct Line {
    var source: Source
    var rate = 0.0
    var time = CMTime.zero
    var sourceTime = CMTime.zero

    /// Returns the time of the timebase when that of the source is `t`.
    func time(atSource t: CMTime) -> CMTime {
      if rate == 0 { return time }
      return TimelineArithmetic.sum(time, TimelineArithmetic.product(CMTimeSubtract(t, sourceTime), rate))
    }

    /// Returns the time of the source when that of the timebase is `t`; invalid if the rate is 0
    /// and the time is another one.
    func sourceTime(at t: CMTime) -> CMTime {
      if rate == 0 { return CMTimeCompare(t, time) == 0 ? sourceTime : .invalid }
      return TimelineArithmetic.sum(sourceTime, TimelineArithmetic.product(CMTimeSubtract(t, time), 1 / rate))
    }
  }

  // Lock order: a timebase's lock may be held while its source's is acquired, never the reverse.
  private let lock = Lock()
  /// Held while a source is set, and acquired before any other lock, so that two timebases cannot
  /// become each other's source.
  private static let sources = Lock()
  /// The largest number of timebases in a chain of sources, which is followed recursively.
  static let maxInChain = 1000
  private var line: Line
  /// The jumps of the time, less those that the source had made when it was set.
  private var jumps = 0
  private var followers: [WeakTimebase] = []
  let timers = TimebaseTimers()
  let posts = PendingNotifications()

  private struct WeakTimebase {
    weak var timebase: CMTimebase?
  }

  /// Creates a timebase.
  /// - Parameter source: The source.
  /// - Throws: `kCMTimebaseError_InvalidParameter` if the chain of sources would exceed
  ///   `maxInChain`.
  init(source: Source) throws {
    line = Line(source: source)
    line.sourceTime = source.time
    guard case .timebase(let timebase) = source else { return }
    let isDone = Self.sources.withLock {
      if timebase.depth >= Self.maxInChain { return false }
      timebase.addFollower(self)
      return true
    }
    try check(isDone ? noErr : kCMTimebaseError_InvalidParameter)
  }

  public static func == (a: CMTimebase, b: CMTimebase) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  // MARK: - State

  var currentLine: Line { lock.withLock { line } }
  var immediateSource: Source { currentLine.source }

  /// The time and the rate at one moment.
  var snapshot: (time: CMTime, rate: Double) {
    lock.withLock { (line.rate == 0 ? line.time : line.time(atSource: line.source.time), line.rate) }
  }

  var ultimateClock: CMClock {
    switch immediateSource {
    case .clock(let clock): clock
    case .timebase(let timebase): timebase.ultimateClock
    }
  }

  /// The rate relative to the clock at the end of the chain.
  var rateOfAll: Double {
    let line = currentLine
    switch line.source {
    case .clock: return line.rate
    case .timebase(let timebase): return line.rate * timebase.rateOfAll
    }
  }

  /// A number that changes whenever the time jumps, of itself or with that of its source, and
  /// before the jump is notified.
  package var jumpCount: Int { lock.withLock { jumps &+ line.source.jumpCount } }

  private func follows(_ other: CMTimebase) -> Bool {
    if self === other { return true }
    if case .timebase(let next) = immediateSource { return next.follows(other) }
    return false
  }

  /// The number of timebases from this one to the one that follows a clock.
  private var depth: Int {
    if case .timebase(let next) = immediateSource { return next.depth + 1 }
    return 1
  }

  /// The number of timebases from this one to the end of the longest chain that follows it.
  /// - Parameter kept: Receives the followers, so that none is released under the caller's lock.
  private func height(_ kept: inout [CMTimebase]) -> Int {
    let next = lock.withLock { followers.compactMap(\.timebase) }
    kept += next
    return next.reduce(0) { max($0, $1.height(&kept)) } + 1
  }

  private func addFollower(_ timebase: CMTimebase) {
    lock.withLock {
      followers.removeAll { $0.timebase == nil }
      followers.append(WeakTimebase(timebase: timebase))
    }
  }

  private func removeFollower(_ timebase: CMTimebase) {
    lock.withLock { followers.removeAll { $0.timebase == nil || $0.timebase === timebase } }
  }

  // MARK: - Changes

  /// Changes the line, then reschedules timers and notifies followers and observers.
  /// - Parameters:
  ///   - jumps: Whether the time jumps.
  ///   - body: Changes the line at a time of the source.
  private func change(jumps: Bool, _ body: (_ line: inout Line, _ now: CMTime) -> Void) {
    let before = effectiveRates()
    let event = lock.withLock {
      let now = line.source.time
      body(&line, now)
      if jumps { self.jumps &+= 1 }
      return line.time(atSource: now)
    }
    announce(before: before, jumps: jumps, event: event)
  }

  /// Returns the effective rates of the timebase and of all that follow it.
  private func effectiveRates() -> [ObjectIdentifier: Double] {
    var rates = [ObjectIdentifier(self): rateOfAll]
    for follower in lock.withLock({ followers.compactMap(\.timebase) }) {
      rates.merge(follower.effectiveRates()) { first, _ in first }
    }
    return rates
  }

  /// Reschedules timers and notifies followers and observers.
  /// - Parameters:
  ///   - before: The effective rates before the change.
  ///   - jumps: Whether the time jumped.
  ///   - event: The time of the timebase at the change. It is not read here, since it continues
  ///     while this thread may wait for a processor, and observers must not miss what lies between.
  private func announce(before: [ObjectIdentifier: Double], jumps: Bool, event: CMTime) {
    timers.arm(for: self)
    let rateChanged = before[ObjectIdentifier(self)] != rateOfAll
    if jumps || rateChanged {
      if rateChanged { post(kCMTimebaseNotification_EffectiveRateChanged, event) }
      if jumps { post(kCMTimebaseNotification_TimeJumped, event) }
    }
    for follower in lock.withLock({ followers.compactMap(\.timebase) }) {
      // A jump of the source does not change the time of a timebase at rate 0.
      let (time, rate) = follower.snapshot
      follower.announce(before: before, jumps: jumps && rate != 0, event: time)
    }
  }

  func setRate(to rate: Double) -> OSStatus {
    guard rate.isFinite else { return kCMTimebaseError_InvalidParameter }
    change(jumps: false) { line, now in
      line.time = line.time(atSource: now)
      line.sourceTime = now
      line.rate = rate
    }
    return noErr
  }

  /// Sets the time at a time of the source, or now if `sourceTime` is nil, and the rate unless it
  /// is nil.
  func setAnchor(_ time: CMTime, sourceTime: CMTime?, rate: Double? = nil) -> OSStatus {
    guard time.isNumeric, time.timescale > 0, rate?.isFinite ?? true else {
      return kCMTimebaseError_InvalidParameter
    }
    if let sourceTime {
      guard sourceTime.isNumeric, sourceTime.timescale > 0 else { return kCMTimebaseError_InvalidParameter }
    }
    change(jumps: true) { line, now in
      line.sourceTime = sourceTime ?? now
      line.time = time
      if let rate { line.rate = rate }
    }
    return noErr
  }

  /// Changes the source from now on, without a jump of the time.
  func setSource(_ source: Source) -> OSStatus {
    let before = effectiveRates()
    // The old source may release objects of the program, which must not happen under the lock.
    var old: Source?
    var kept: [CMTimebase] = []
    var event = CMTime.zero
    let isDone = Self.sources.withLock { () -> Bool in
      if case .timebase(let next) = source,
        next.follows(self) || next.depth + height(&kept) > Self.maxInChain
      {
        return false
      }
      old = immediateSource
      lock.withLock {
        event = line.time(atSource: line.source.time)
        // A change of the source is not a jump.
        jumps = jumps &+ line.source.jumpCount &- source.jumpCount
        line.time = event
        line.source = source
        line.sourceTime = source.time
      }
      if case .timebase(let timebase)? = old { timebase.removeFollower(self) }
      if case .timebase(let timebase) = source { timebase.addFollower(self) }
      return true
    }
    guard isDone else { return kCMTimebaseError_InvalidParameter }
    withExtendedLifetime((old, kept)) {}
    announce(before: before, jumps: false, event: event)
    return noErr
  }

  // MARK: - Notifications

  private func post(_ name: CFString, _ time: CMTime) {
    posts.begin()
    defer { posts.end() }
    var userInfo: [AnyHashable: Any] = [:]
    if let event = CMTimeCopyAsDictionary(time, allocator: nil) {
      userInfo[kCMTimebaseNotificationKey_EventTime as String] = event
    }
    NotificationCenter.default.post(
      name: Notification.Name(name as String), object: self, userInfo: userInfo)
  }
}

extension CMTimebase: CFRuntimeObject {
  package static let cfTypeID = CFRuntimeRegister("CMTimebase")

  package var cfDescription: String {
    let (time, rate) = snapshot
    return "<CMTimebase rate=\(rate) effectiveRate=\(rateOfAll) time=\(time.text)>"
  }
}

/// Posted by a timebase after its effective rate has changed.
public nonisolated(unsafe) let kCMTimebaseNotification_EffectiveRateChanged: CFString =
  "CMTimebaseNotification_EffectiveRateChanged"
/// Posted by a timebase after its time has jumped.
public nonisolated(unsafe) let kCMTimebaseNotification_TimeJumped: CFString =
  "CMTimebaseNotification_TimeJumped"
/// A key in the user info of a notification: the time of the timebase at the event, as
/// `CMTimeCopyAsDictionary` returns it.
public nonisolated(unsafe) let kCMTimebaseNotificationKey_EventTime: CFString = "EventTime"

/// Arithmetic on running times, which are in nanoseconds. If an exact result would need a larger
/// timescale, it is rounded to nanoseconds.
enum TimelineArithmetic {
  static func sum(_ a: CMTime, _ b: CMTime) -> CMTime {
    let scale = Int64(CMClock.nanosecondTimescale)
    if a.isNumeric, b.isNumeric, a.timescale > 0, b.timescale > 0,
      leastCommonMultiple(Int64(a.timescale), Int64(b.timescale)) > scale
    {
      return CMTimeAdd(nanoseconds(a), nanoseconds(b))
    }
    return CMTimeAdd(a, b)
  }

  static func product(_ time: CMTime, _ rate: Double) -> CMTime {
    if rate == 1 { return time }
    if rate == -1 { return CMTimeMultiply(time, multiplier: -1) }
    return CMTimeMultiplyByFloat64(nanoseconds(time), multiplier: rate)
  }

  static func nanoseconds(_ time: CMTime) -> CMTime {
    CMTimeConvertScale(time, timescale: CMClock.nanosecondTimescale, method: .default)
  }
}

/// Counts the notifications that are being posted by each thread.
final class PendingNotifications: @unchecked Sendable {
  // Sendable: `condition` guards all variables.
  private let condition = NSCondition()
  private var threads: [pthread_t: Int] = [:]
  /// The threads whose observers are waiting in `wait()`.
  private var waiting: Set<pthread_t> = []

  func begin() {
    condition.withLock { threads[pthread_self(), default: 0] += 1 }
  }

  func end() {
    condition.withLock {
      let thread = pthread_self()
      if let count = threads[thread] { threads[thread] = count > 1 ? count - 1 : nil }
      condition.broadcast()
    }
  }

  /// Waits until no other thread is posting. An observer may call it: observers that are waiting do
  /// not wait for each other.
  func wait() {
    condition.withLock {
      let own = pthread_self()
      let isPosting = threads[own] != nil
      if isPosting {
        waiting.insert(own)
        condition.broadcast()
      }
      while threads.keys.contains(where: { $0 != own && !waiting.contains($0) }) { condition.wait() }
      if isPosting { waiting.remove(own) }
    }
  }
}
