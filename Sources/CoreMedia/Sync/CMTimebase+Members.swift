// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Dispatch

// The members throw the status of the corresponding function as an error in
// `NSOSStatusErrorDomain`.

extension CMTimebase {
  public static var typeID: CFTypeID { cfTypeID }

  /// Creates a timebase that follows a clock, at time zero and rate zero.
  public convenience init(sourceClock: CMClock) throws { try self.init(source: .clock(sourceClock)) }
  /// Creates a timebase that follows another, at time zero and rate zero.
  public convenience init(sourceTimebase: CMTimebase) throws {
    try self.init(source: .timebase(sourceTimebase))
  }
  /// Creates a timebase that follows a clock, at time zero and rate zero.
  public convenience init(masterClock: CMClock) throws { try self.init(source: .clock(masterClock)) }
  /// Creates a timebase that follows another, at time zero and rate zero.
  public convenience init(masterTimebase: CMTimebase) throws {
    try self.init(source: .timebase(masterTimebase))
  }

  /// The timebase that this one follows; nil if it follows a clock.
  public var sourceTimebase: CMTimebase? {
    if case .timebase(let timebase) = immediateSource { timebase } else { nil }
  }
  /// The clock that this one follows; nil if it follows a timebase.
  public var sourceClock: CMClock? {
    if case .clock(let clock) = immediateSource { clock } else { nil }
  }
  /// The clock at the end of the chain of timebases.
  public var ultimateSourceClock: CMClock { ultimateClock }

  public var masterTimebase: CMTimebase? { sourceTimebase }
  public var masterClock: CMClock? { sourceClock }
  public var ultimateMasterClock: CMClock { ultimateClock }
  /// The source of the timebase. Setting a timebase that follows this one has no effect.
  public var master: any CMSyncProtocol {
    get { source }
    set { source = newValue }
  }
  /// The source of the timebase. Setting a timebase that follows this one has no effect.
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

  /// Returns the time in a timescale.
  public func time(withTimescale timescale: CMTimeScale, rounding: CMTimeRoundingMethod = .default) -> CMTime
  {
    CMTimebaseGetTimeWithTimeScale(self, timescale: timescale, method: rounding)
  }
  public func setTime(_ time: CMTime) throws { try check(setAnchor(time, sourceTime: nil)) }
  /// Sets the time at a time of the source.
  public func setAnchorTime(_ anchorTime: CMTime, referenceTime: CMTime) throws {
    try check(setAnchor(anchorTime, sourceTime: referenceTime))
  }
  /// The rate in relation to the source.
  public var rate: Double { snapshot.rate }
  /// The time and the rate at one moment.
  public var timeAndRate: (time: CMTime, rate: Double) { snapshot }
  public func setRate(_ rate: Double) throws { try check(setRate(to: rate)) }
  /// Sets the rate, and the time at a time of the source.
  public func setRateAndAnchorTime(rate: Double, anchorTime: CMTime, referenceTime: CMTime) throws {
    try check(setAnchor(anchorTime, sourceTime: referenceTime, rate: rate))
  }
  /// The rate in relation to the clock at the end of the chain of sources.
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

  /// Waits until no other thread is posting notifications of the timebase.
  public func notificationBarrier() throws { try check(CMTimebaseNotificationBarrier(self)) }

  /// Posted after the effective rate has changed.
  public static let effectiveRateChanged = Notification.Name(
    kCMTimebaseNotification_EffectiveRateChanged as String)
  /// Posted after the time has jumped.
  public static let timeJumped = Notification.Name(kCMTimebaseNotification_TimeJumped as String)

  /// A key in the user info of a notification.
  public struct NotificationKey: RawRepresentable, Hashable, @unchecked Sendable {
    // Sendable: immutable; a CFString is.
    public let rawValue: CFString
    public init(rawValue: CFString) { self.rawValue = rawValue }
    /// The time of the timebase at the event, as `CMTimeCopyAsDictionary` returns it.
    public static let eventTime = NotificationKey(rawValue: kCMTimebaseNotificationKey_EventTime)
  }
}
