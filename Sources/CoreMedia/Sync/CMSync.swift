// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// Either a `CMClock` or a `CMTimebase`.
public typealias CMClockOrTimebase = CFTypeRef

/// The operations that clocks and timebases have in common.
public protocol CMSyncProtocol: Sendable {
  /// Returns the rate in relation to another clock or timebase.
  func rate<T: CMSyncProtocol>(relativeTo clockOrTimebase: T) -> Double
  /// Returns the rate in relation to another clock or timebase, and the times of both at which the
  /// rate took effect.
  func rateAndAnchorTime<T: CMSyncProtocol>(relativeTo clockOrTimebase: T) throws -> (
    rate: Double, anchorTime: CMTime, referenceTime: CMTime
  )
  /// Returns the time of another clock or timebase at the moment when the time of this one is
  /// `time`.
  func convertTime<T: CMSyncProtocol>(_ time: CMTime, to clockOrTimebase: T) -> CMTime
  /// Returns whether the two may drift.
  func mightDrift<T: CMSyncProtocol>(relativeTo clockOrTimebase: T) -> Bool
  /// The current time.
  var time: CMTime { get }
}

extension CMSyncProtocol {
  public func rate<T: CMSyncProtocol>(relativeTo clockOrTimebase: T) -> Double {
    CMSyncGetRelativeRate(self as AnyObject, relativeTo: clockOrTimebase as AnyObject)
  }

  public func rateAndAnchorTime<T: CMSyncProtocol>(relativeTo clockOrTimebase: T) throws -> (
    rate: Double, anchorTime: CMTime, referenceTime: CMTime
  ) {
    var (rate, anchor, reference) = (0.0, CMTime.invalid, CMTime.invalid)
    try check(
      CMSyncGetRelativeRateAndAnchorTime(
        self as AnyObject, relativeTo: clockOrTimebase as AnyObject, relativeRateOut: &rate,
        anchorTimeOut: &anchor,
        relativeToAnchorTimeOut: &reference))
    return (rate, anchor, reference)
  }

  public func convertTime<T: CMSyncProtocol>(_ time: CMTime, to clockOrTimebase: T) -> CMTime {
    CMSyncConvertTime(time, from: self as AnyObject, to: clockOrTimebase as AnyObject)
  }

  public func mightDrift<T: CMSyncProtocol>(relativeTo clockOrTimebase: T) -> Bool {
    CMSyncMightDrift(self as AnyObject, clockOrTimebase as AnyObject)
  }

  public var time: CMTime { CMSyncGetTime(self as AnyObject) }
}

extension CMClock: CMSyncProtocol {}
extension CMTimebase: CMSyncProtocol {}

/// Returns the time of a clock or timebase; invalid for other objects.
@discardableResult
public func CMSyncGetTime(_ clockOrTimebase: CMClockOrTimebase) -> CMTime {
  switch clockOrTimebase {
  case let clock as CMClock: CMClockGetTime(clock)
  case let timebase as CMTimebase: CMTimebaseGetTime(timebase)
  default: .invalid
  }
}

/// Returns whether two clocks or timebases may drift: whether their ultimate source clocks may.
@discardableResult
public func CMSyncMightDrift(
  _ clockOrTimebase1: CMClockOrTimebase, _ clockOrTimebase2: CMClockOrTimebase
) -> Bool {
  guard let a = SyncPath(clockOrTimebase1), let b = SyncPath(clockOrTimebase2) else { return false }
  return CMClockMightDrift(a.clock, otherClock: b.clock)
}

/// Returns the rate of a clock or timebase in relation to another.
///
/// For two timebases with a common source it follows from their rates alone; for two clocks from
/// the measured drift. The rate in relation to a timebase at rate 0 is not a number.
@discardableResult
public func CMSyncGetRelativeRate(
  _ ofClockOrTimebase: CMClockOrTimebase, relativeTo relativeToClockOrTimebase: CMClockOrTimebase
) -> Float64 {
  guard let of = SyncPath(ofClockOrTimebase), let to = SyncPath(relativeToClockOrTimebase) else {
    return .nan
  }
  let (up, down) = of.pathsToCommonTimebase(to)
  let divisor = down.reduce(1) { $0 * $1.line.rate }
  guard divisor != 0 else { return .nan }
  var rate = up.reduce(1) { $0 * $1.line.rate } / divisor
  if of.clock !== to.clock { rate *= of.clock.rateRelativeToHost / to.clock.rateRelativeToHost }
  return rate
}

/// Gets the rate of a clock or timebase in relation to another, and the times of both at which the
/// rate took effect. Each pointer may be nil.
/// - Returns: `kCMSyncError_RateMustBeNonZero` if the rate is not a number, for example in relation
///   to a timebase at rate 0; `kCMSyncError_InvalidParameter` if an object is neither a clock nor a
///   timebase.
@discardableResult
public func CMSyncGetRelativeRateAndAnchorTime(
  _ ofClockOrTimebase: CMClockOrTimebase, relativeTo relativeToClockOrTimebase: CMClockOrTimebase,
  relativeRateOut outRelativeRate: UnsafeMutablePointer<Float64>?,
  anchorTimeOut outOfClockOrTimebaseAnchorTime: UnsafeMutablePointer<CMTime>?,
  relativeToAnchorTimeOut outRelativeToClockOrTimebaseAnchorTime: UnsafeMutablePointer<CMTime>?
) -> OSStatus {
  guard let of = SyncPath(ofClockOrTimebase), SyncPath(relativeToClockOrTimebase) != nil else {
    return kCMSyncError_InvalidParameter
  }
  let rate = CMSyncGetRelativeRate(ofClockOrTimebase, relativeTo: relativeToClockOrTimebase)
  outRelativeRate?.pointee = rate
  let anchor = of.steps.first?.line.time ?? CMSyncGetTime(ofClockOrTimebase)
  outOfClockOrTimebaseAnchorTime?.pointee = anchor
  outRelativeToClockOrTimebaseAnchorTime?.pointee = CMSyncConvertTime(
    anchor, from: ofClockOrTimebase, to: relativeToClockOrTimebase)
  return rate.isNaN ? kCMSyncError_RateMustBeNonZero : noErr
}

/// Returns the time of a clock or timebase at the moment when the time of another one is `time`.
///
/// - Returns: Invalid if `time` is not numeric, or if a timebase at rate 0 never has that time.
@discardableResult
public func CMSyncConvertTime(
  _ time: CMTime, from fromClockOrTimebase: CMClockOrTimebase, to toClockOrTimebase: CMClockOrTimebase
) -> CMTime {
  guard time.isNumeric, let from = SyncPath(fromClockOrTimebase), let to = SyncPath(toClockOrTimebase) else {
    return .invalid
  }
  let (up, down) = from.pathsToCommonTimebase(to)
  var time = time
  for step in up {
    time = step.line.sourceTime(at: time)
    guard time.isNumeric else { return .invalid }
  }
  if from.clock !== to.clock {
    // The two clocks are read at the same moment and extrapolated at their relative rate.
    guard let a = try? from.clock.anchorTime(), let b = try? to.clock.anchorTime() else { return .invalid }
    let apart = CMTimeSubtract(b.referenceTime, a.referenceTime).seconds
    let rate = to.clock.rateRelativeToHost / from.clock.rateRelativeToHost
    let away = CMTimeSubtract(time, a.anchorTime).seconds * rate - apart * to.clock.rateRelativeToHost
    time = TimelineArithmetic.sum(
      b.anchorTime, CMTime(nearest: away, preferredTimescale: CMClock.nanosecondTimescale))
  }
  for step in down.reversed() { time = step.line.time(atSource: time) }
  return time
}

/// The chain of sources from a timebase to its ultimate clock.
private struct SyncPath {
  struct Step {
    let timebase: CMTimebase
    let line: CMTimebase.Line
  }

  var steps: [Step] = []
  let clock: CMClock

  init?(_ object: CMClockOrTimebase) {
    var next = object as? CMTimebase
    var end = object as? CMClock
    while let timebase = next {
      let line = timebase.currentLine
      steps.append(Step(timebase: timebase, line: line))
      switch line.source {
      case .clock(let clock): (next, end) = (nil, clock)
      case .timebase(let source): next = source
      }
    }
    guard let end else { return nil }
    clock = end
  }

  /// Returns the steps of both paths up to their first common timebase, or to the ends if there is
  /// none.
  func pathsToCommonTimebase(_ other: SyncPath) -> (own: ArraySlice<Step>, others: ArraySlice<Step>) {
    for (index, step) in steps.enumerated() {
      if let there = other.steps.firstIndex(where: { $0.timebase === step.timebase }) {
        return (steps[..<index], other.steps[..<there])
      }
    }
    return (steps[...], other.steps[...])
  }
}
