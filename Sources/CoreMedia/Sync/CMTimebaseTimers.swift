// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Dispatch

// Timers that fire at a time of a timebase. They follow jumps and changes of rate of the timebase
// and its sources. A timer that is due may still fire although its time is changed concurrently.

extension CMTimebase {
  /// The interval at which a run-loop timer for a timebase repeats, in seconds: 256 years, so that
  /// it does not fire by itself.
  public static let veryLongTimeInterval: CFTimeInterval = 256 * 365 * 24 * 60 * 60
  /// The fire date with which a run-loop timer for a timebase is created.
  public static let farFuture: CFAbsoluteTime = veryLongTimeInterval
}

/// Adds a run-loop timer, which does not fire before a time is set for it.
///
/// - Parameters:
///   - timebase: The timebase.
///   - timer: A repeating timer with an interval of at least `CMTimebase.veryLongTimeInterval`.
///   - runloop: The run loop to which the timer has been added.
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

/// Removes a run-loop timer, which keeps its last fire date.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the timebase does not have the timer.
@discardableResult
public func CMTimebaseRemoveTimer(_ timebase: CMTimebase, timer: CFRunLoopTimer) -> OSStatus {
  timebase.timers.remove(TimebaseTimers.address(of: timer)) ? noErr : kCMTimebaseError_InvalidParameter
}

/// Sets the time at which a run-loop timer fires.
///
/// - Parameters:
///   - timebase: The timebase.
///   - timer: The timer.
///   - fireTime: The time; one that is not numeric means never.
///   - flags: Must be 0.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the timebase does not have the timer, or a
///   flag is set.
@discardableResult
public func CMTimebaseSetTimerNextFireTime(
  _ timebase: CMTimebase, timer: CFRunLoopTimer, fireTime: CMTime, flags: UInt32
) -> OSStatus {
  let address = TimebaseTimers.address(of: timer)
  guard flags == 0, timebase.timers.setFireTime(fireTime, of: address, timebase: timebase) else {
    return kCMTimebaseError_InvalidParameter
  }
  return noErr
}

/// Makes a run-loop timer fire once, immediately.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the timebase does not have the timer.
@discardableResult
public func CMTimebaseSetTimerToFireImmediately(_ timebase: CMTimebase, timer: CFRunLoopTimer) -> OSStatus {
  timebase.timers.fireNow(TimebaseTimers.address(of: timer)) ? noErr : kCMTimebaseError_InvalidParameter
}

/// Adds a dispatch timer, which does not fire before a time is set for it. The client must resume
/// it.
/// - Returns: `kCMTimebaseError_InvalidParameter` for a timer that has been cancelled.
@discardableResult
public func CMTimebaseAddTimerDispatchSource(
  _ timebase: CMTimebase, timerSource: any DispatchSourceTimer
) -> OSStatus {
  guard !timerSource.isCancelled else { return kCMTimebaseError_InvalidParameter }
  timebase.timers.add(.dispatch(timerSource))
  return noErr
}

/// Removes a dispatch timer, which keeps its last deadline.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the timebase does not have the timer.
@discardableResult
public func CMTimebaseRemoveTimerDispatchSource(
  _ timebase: CMTimebase, timerSource: any DispatchSourceTimer
) -> OSStatus {
  timebase.timers.remove(TimebaseTimers.address(of: timerSource as AnyObject))
    ? noErr : kCMTimebaseError_InvalidParameter
}

/// Sets the time at which a dispatch timer fires.
///
/// - Parameters:
///   - timebase: The timebase.
///   - timerSource: The timer.
///   - fireTime: The time; one that is not numeric means never.
///   - flags: Must be 0.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the timebase does not have the timer, or a
///   flag is set.
@discardableResult
public func CMTimebaseSetTimerDispatchSourceNextFireTime(
  _ timebase: CMTimebase, timerSource: any DispatchSourceTimer, fireTime: CMTime, flags: UInt32
) -> OSStatus {
  let address = TimebaseTimers.address(of: timerSource as AnyObject)
  guard flags == 0, timebase.timers.setFireTime(fireTime, of: address, timebase: timebase) else {
    return kCMTimebaseError_InvalidParameter
  }
  return noErr
}

/// Makes a dispatch timer fire once, immediately.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the timebase does not have the timer.
@discardableResult
public func CMTimebaseSetTimerDispatchSourceToFireImmediately(
  _ timebase: CMTimebase, timerSource: any DispatchSourceTimer
) -> OSStatus {
  timebase.timers.fireNow(TimebaseTimers.address(of: timerSource as AnyObject))
    ? noErr : kCMTimebaseError_InvalidParameter
}

// MARK: - For the C interface

extension CMTimebase {
  /// Adds a timer of another library, which does not fire before a time is set for it.
  /// - Returns: `kCMTimebaseError_InvalidParameter` for a timer that cannot fire any more.
  package func addForeignTimer(_ timer: any ForeignTimer) -> OSStatus {
    guard timer.isAlive else { return kCMTimebaseError_InvalidParameter }
    timers.add(.foreign(timer))
    return noErr
  }

  /// Removes the timer at an address; see `CMTimebaseRemoveTimer`.
  package func removeForeignTimer(at address: UnsafeRawPointer) -> OSStatus {
    timers.remove(address) ? noErr : kCMTimebaseError_InvalidParameter
  }

  /// Sets the time at which the timer at an address fires; see `CMTimebaseSetTimerNextFireTime`.
  package func setForeignTimer(at address: UnsafeRawPointer, fireTime: CMTime, flags: UInt32) -> OSStatus {
    guard flags == 0, timers.setFireTime(fireTime, of: address, timebase: self) else {
      return kCMTimebaseError_InvalidParameter
    }
    return noErr
  }

  /// Makes the timer at an address fire once, immediately.
  package func fireForeignTimerNow(at address: UnsafeRawPointer) -> OSStatus {
    timers.fireNow(address) ? noErr : kCMTimebaseError_InvalidParameter
  }
}
