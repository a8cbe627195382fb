// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Dispatch

// The members throw what the functions of the same meaning return, as errors in `NSOSStatusErrorDomain`.

extension CMTimebase {
  public static var typeID: CFTypeID { cfTypeID }

  /// A timebase that follows a clock, at time zero and rate zero.
  public convenience init(sourceClock: CMClock) throws { try self.init(source: .clock(sourceClock)) }
  /// A timebase that follows another, at time zero and rate zero.
  public convenience init(sourceTimebase: CMTimebase) throws {
    try self.init(source: .timebase(sourceTimebase))
  }
  /// A timebase that follows a clock, at time zero and rate zero.
  public convenience init(masterClock: CMClock) throws { try self.init(source: .clock(masterClock)) }
  /// A timebase that follows another, at time zero and rate zero.
  public convenience init(masterTimebase: CMTimebase) throws {
    try self.init(source: .timebase(masterTimebase))
  }

  /// The timebase that this one follows, nil if it follows a clock.
  public var sourceTimebase: CMTimebase? {
    if case .timebase(let timebase) = immediateSource { timebase } else { nil }
  }
  /// The clock that this one follows, nil if it follows a timebase.
  public var sourceClock: CMClock? {
    if case .clock(let clock) = immediateSource { clock } else { nil }
  }
  /// The clock at the end of the chain of timebases.
  public var ultimateSourceClock: CMClock { ultimateClock }

  public var masterTimebase: CMTimebase? { sourceTimebase }
  public var masterClock: CMClock? { sourceClock }
  public var ultimateMasterClock: CMClock { ultimateClock }
  /// What the timebase follows. Setting something that follows it changes nothing.
  public var master: any CMSyncProtocol {
    get { source }
    set { source = newValue }
  }
  /// What the timebase follows. Setting something that follows it changes nothing.
  public var source: any CMSyncProtocol {
    get { currentLine.source.object }
    set {
      switch newValue {
      case let clock as CMClock: _ = setSource(.clock(clock))
      case let timebase as CMTimebase: _ = setSource(.timebase(timebase))
      default: break
      }
    }
  }

  /// The time in a timescale.
  public func time(withTimescale timescale: CMTimeScale, rounding: CMTimeRoundingMethod = .default) -> CMTime
  {
    CMTimebaseGetTimeWithTimeScale(self, timescale: timescale, method: rounding)
  }
  public func setTime(_ time: CMTime) throws { try check(setAnchor(time, sourceTime: nil)) }
  /// Sets the time for a time of the source.
  public func setAnchorTime(_ anchorTime: CMTime, referenceTime: CMTime) throws {
    try check(setAnchor(anchorTime, sourceTime: referenceTime))
  }
  /// The rate against the source.
  public var rate: Double { snapshot.rate }
  /// The time and the rate at one moment.
  public var timeAndRate: (time: CMTime, rate: Double) { snapshot }
  public func setRate(_ rate: Double) throws { try check(setRate(to: rate)) }
  /// Sets the time for a time of the source, as though it had run at the rate since then.
  public func setRateAndAnchorTime(rate: Double, anchorTime: CMTime, referenceTime: CMTime) throws {
    try check(setAnchor(anchorTime, sourceTime: referenceTime, rate: rate))
  }
  /// The rate against the clock at the end of the chain.
  public var effectiveRate: Double { rateOfAll }

  // MARK: - Timers

  /// See `CMTimebaseAddTimer(_:timer:runloop:)`.
  public func addTimer(_ timer: Timer, on runloop: RunLoop) throws {
    try check(CMTimebaseAddTimer(self, timer: timer, runloop: runloop))
  }
  public func removeTimer(_ timer: Timer) throws { try check(CMTimebaseRemoveTimer(self, timer: timer)) }
  public func setTimerNextFireTime(_ timer: Timer, fireTime: CMTime) throws {
    try check(CMTimebaseSetTimerNextFireTime(self, timer: timer, fireTime: fireTime, flags: 0))
  }
  public func setTimerToFireImmediately(_ timer: Timer) throws {
    try check(CMTimebaseSetTimerToFireImmediately(self, timer: timer))
  }

  /// See `CMTimebaseAddTimerDispatchSource(_:timerSource:)`.
  public func addTimer<T: DispatchSourceTimer>(_ timer: T) throws {
    try check(CMTimebaseAddTimerDispatchSource(self, timerSource: timer))
  }
  public func removeTimer<T: DispatchSourceTimer>(_ timer: T) throws {
    try check(CMTimebaseRemoveTimerDispatchSource(self, timerSource: timer))
  }
  public func setTimerNextFireTime<T: DispatchSourceTimer>(_ timer: T, fireTime: CMTime) throws {
    try check(
      CMTimebaseSetTimerDispatchSourceNextFireTime(self, timerSource: timer, fireTime: fireTime, flags: 0))
  }
  public func setTimerToFireImmediately<T: DispatchSourceTimer>(_ timer: T) throws {
    try check(CMTimebaseSetTimerDispatchSourceToFireImmediately(self, timerSource: timer))
  }

  // MARK: - Notifications

  /// Waits until no other thread is posting the timebase's notifications.
  public func notificationBarrier() throws { try check(CMTimebaseNotificationBarrier(self)) }

  /// Posted after the effective rate has changed.
  public static let effectiveRateChanged = Notification.Name(
    kCMTimebaseNotification_EffectiveRateChanged as String)
  /// Posted after the time has jumped.
  public static let timeJumped = Notification.Name(kCMTimebaseNotification_TimeJumped as String)

  /// A key of a notification's user info.
  public struct NotificationKey: RawRepresentable, Hashable, @unchecked Sendable {
    // Sendable: immutable; a CFString is.
    public let rawValue: CFString
    public init(rawValue: CFString) { self.rawValue = rawValue }
    /// The timebase's time at the event, as `CMTimeCopyAsDictionary` writes it.
    public static let eventTime = NotificationKey(rawValue: kCMTimebaseNotificationKey_EventTime)
  }
}
