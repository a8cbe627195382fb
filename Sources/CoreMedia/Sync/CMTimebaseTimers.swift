// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Dispatch

// Timers that fire at a time on a timebase. They follow its jumps and changes of rate, and its
// sources'. A timer that has been due may fire once more although it was moved meanwhile.

extension CMTimebase {
  /// The interval that a run-loop timer for a timebase repeats at: longer than anyone will wait, in
  /// seconds.
  public static let veryLongTimeInterval: CFTimeInterval = 256 * 365 * 24 * 60 * 60
  /// The date that a run-loop timer for a timebase is made with.
  public static let farFuture: CFAbsoluteTime = veryLongTimeInterval
}

/// Adds a run-loop timer, which does not fire until a time is set for it.
///
/// Of the parameters:
///
/// - `timer`: Repeating, with an interval of at least `CMTimebase.veryLongTimeInterval`.
/// - `runloop`: The run loop that the timer has been added to.
/// - Returns: `kCMTimebaseError_TimerIntervalTooShort`; `kCMTimebaseError_InvalidParameter` for a
///   timer that has been invalidated.
@discardableResult
public func CMTimebaseAddTimer(_ timebase: CMTimebase, timer: CFRunLoopTimer, runloop: CFRunLoop) -> OSStatus
{
  guard timer.isValid else { return kCMTimebaseError_InvalidParameter }
  guard timer.timeInterval >= CMTimebase.veryLongTimeInterval else {
    return kCMTimebaseError_TimerIntervalTooShort
  }
  timebase.timers.add(.runLoop(timer, runloop))
  return noErr
}

/// Removes a run-loop timer. It keeps its last fire date.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the timebase does not have the timer.
@discardableResult
public func CMTimebaseRemoveTimer(_ timebase: CMTimebase, timer: CFRunLoopTimer) -> OSStatus {
  timebase.timers.remove(timer) ? noErr : kCMTimebaseError_InvalidParameter
}

/// Sets the time at which a run-loop timer fires; one that is not a number means never.
///
/// Of the parameters:
///
/// - `flags`: 0.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the timebase does not have the timer, or a
///   flag is set.
@discardableResult
public func CMTimebaseSetTimerNextFireTime(
  _ timebase: CMTimebase, timer: CFRunLoopTimer, fireTime: CMTime, flags: UInt32
) -> OSStatus {
  guard flags == 0, timebase.timers.setFireTime(fireTime, of: timer, timebase: timebase) else {
    return kCMTimebaseError_InvalidParameter
  }
  return noErr
}

/// Makes a run-loop timer fire once, now.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the timebase does not have the timer.
@discardableResult
public func CMTimebaseSetTimerToFireImmediately(_ timebase: CMTimebase, timer: CFRunLoopTimer) -> OSStatus {
  timebase.timers.fireNow(timer) ? noErr : kCMTimebaseError_InvalidParameter
}

/// Adds a dispatch timer, which does not fire until a time is set for it. The client resumes it.
/// - Returns: `kCMTimebaseError_InvalidParameter` for a timer that has been cancelled.
@discardableResult
public func CMTimebaseAddTimerDispatchSource(
  _ timebase: CMTimebase, timerSource: any DispatchSourceTimer
) -> OSStatus {
  guard !timerSource.isCancelled else { return kCMTimebaseError_InvalidParameter }
  timebase.timers.add(.dispatch(timerSource))
  return noErr
}

/// Removes a dispatch timer. It keeps its last deadline.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the timebase does not have the timer.
@discardableResult
public func CMTimebaseRemoveTimerDispatchSource(
  _ timebase: CMTimebase, timerSource: any DispatchSourceTimer
) -> OSStatus {
  timebase.timers.remove(timerSource as AnyObject) ? noErr : kCMTimebaseError_InvalidParameter
}

/// Sets the time at which a dispatch timer fires; one that is not a number means never.
///
/// Of the parameters:
///
/// - `flags`: 0.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the timebase does not have the timer, or a
///   flag is set.
@discardableResult
public func CMTimebaseSetTimerDispatchSourceNextFireTime(
  _ timebase: CMTimebase, timerSource: any DispatchSourceTimer, fireTime: CMTime, flags: UInt32
) -> OSStatus {
  guard flags == 0, timebase.timers.setFireTime(fireTime, of: timerSource as AnyObject, timebase: timebase)
  else {
    return kCMTimebaseError_InvalidParameter
  }
  return noErr
}

/// Makes a dispatch timer fire once, now.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the timebase does not have the timer.
@discardableResult
public func CMTimebaseSetTimerDispatchSourceToFireImmediately(
  _ timebase: CMTimebase, timerSource: any DispatchSourceTimer
) -> OSStatus {
  timebase.timers.fireNow(timerSource as AnyObject) ? noErr : kCMTimebaseError_InvalidParameter
}
