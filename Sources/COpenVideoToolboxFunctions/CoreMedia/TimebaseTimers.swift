// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

// Timers of timebases: those of Core Foundation's run loops, and those of libdispatch.

/// A timer of Core Foundation's run loops.
private final class RunLoopTimer: ForeignTimer, @unchecked Sendable {
  // Sendable: immutable; the functions that are called may be called from any thread.
  private let timer: OpaquePointer
  private let runLoop: OpaquePointer

  init(_ timer: OpaquePointer, _ runLoop: OpaquePointer) {
    self.timer = timer
    self.runLoop = runLoop
    OVTRealRetain(UnsafeRawPointer(timer))
    OVTRealRetain(UnsafeRawPointer(runLoop))
  }

  deinit {
    OVTRealRelease(UnsafeRawPointer(timer))
    OVTRealRelease(UnsafeRawPointer(runLoop))
  }

  var address: UnsafeRawPointer { UnsafeRawPointer(timer) }
  var isAlive: Bool { COpenVideoToolbox.CFRunLoopTimerIsValid(timer) != 0 }

  func schedule(after delay: UInt64?) {
    let date =
      delay.map { COpenVideoToolbox.CFAbsoluteTimeGetCurrent() + Double($0) * 1e-9 } ?? CMTimebase.farFuture
    COpenVideoToolbox.CFRunLoopTimerSetNextFireDate(timer, date)
    COpenVideoToolbox.CFRunLoopWakeUp(runLoop)
  }
}

/// A timer of libdispatch.
private final class DispatchTimer: ForeignTimer, @unchecked Sendable {
  // Sendable: immutable; the functions that are called may be called from any thread.
  private let source: OpaquePointer

  init(_ source: OpaquePointer) {
    self.source = source
    OVTDispatchRetain(UnsafeMutableRawPointer(source))
  }

  deinit { OVTDispatchRelease(UnsafeMutableRawPointer(source)) }

  var address: UnsafeRawPointer { UnsafeRawPointer(source) }
  var isAlive: Bool { !OVTDispatchSourceIsCancelled(UnsafeMutableRawPointer(source)) }

  func schedule(after delay: UInt64?) {
    OVTDispatchSourceSchedule(
      UnsafeMutableRawPointer(source), delay.map { Int64(clamping: $0) } ?? Int64.max)
  }
}

/// A run-loop timer of C; nil for null and for another object.
private func runLoopTimer(_ pointer: OpaquePointer?) -> OpaquePointer? {
  guard let pointer, CFGetTypeID(UnsafeRawPointer(pointer)) == COpenVideoToolbox.CFRunLoopTimerGetTypeID()
  else { return nil }
  return pointer
}

// MARK: - Run loops

@c @implementation
public func CMTimebaseAddTimer(_ timebase: OpaquePointer?, _ timer: OpaquePointer?, _ runloop: OpaquePointer?)
  -> Int32
{
  guard let timebase = FromC.object(timebase, CMTimebase.self), timer != nil, let runloop else {
    return CoreMedia.kCMTimebaseError_MissingRequiredParameter
  }
  guard let timer = runLoopTimer(timer),
    CFGetTypeID(UnsafeRawPointer(runloop)) == COpenVideoToolbox.CFRunLoopGetTypeID(),
    COpenVideoToolbox.CFRunLoopTimerIsValid(timer) != 0
  else { return CoreMedia.kCMTimebaseError_InvalidParameter }
  guard COpenVideoToolbox.CFRunLoopTimerGetInterval(timer) >= CMTimebase.veryLongTimeInterval else {
    return CoreMedia.kCMTimebaseError_TimerIntervalTooShort
  }
  return timebase.addForeignTimer(RunLoopTimer(timer, runloop))
}

@c @implementation
public func CMTimebaseRemoveTimer(_ timebase: OpaquePointer?, _ timer: OpaquePointer?) -> Int32 {
  guard let timebase = FromC.object(timebase, CMTimebase.self), let timer else {
    return CoreMedia.kCMTimebaseError_MissingRequiredParameter
  }
  return timebase.removeForeignTimer(at: UnsafeRawPointer(timer))
}

@c @implementation
public func CMTimebaseSetTimerNextFireTime(
  _ timebase: OpaquePointer?, _ timer: OpaquePointer?, _ fireTime: C_CMTime, _ flags: UInt32
) -> Int32 {
  guard let timebase = FromC.object(timebase, CMTimebase.self), let timer else {
    return CoreMedia.kCMTimebaseError_MissingRequiredParameter
  }
  return timebase.setForeignTimer(
    at: UnsafeRawPointer(timer), fireTime: FromC.value(fireTime), flags: flags)
}

@c @implementation
public func CMTimebaseSetTimerToFireImmediately(_ timebase: OpaquePointer?, _ timer: OpaquePointer?) -> Int32
{
  guard let timebase = FromC.object(timebase, CMTimebase.self), let timer else {
    return CoreMedia.kCMTimebaseError_MissingRequiredParameter
  }
  return timebase.fireForeignTimerNow(at: UnsafeRawPointer(timer))
}

// MARK: - libdispatch

@c @implementation
public func CMTimebaseAddTimerDispatchSource(_ timebase: OpaquePointer?, _ timerSource: OpaquePointer?)
  -> Int32
{
  guard let timebase = FromC.object(timebase, CMTimebase.self), let timerSource else {
    return CoreMedia.kCMTimebaseError_MissingRequiredParameter
  }
  return timebase.addForeignTimer(DispatchTimer(timerSource))
}

@c @implementation
public func CMTimebaseRemoveTimerDispatchSource(_ timebase: OpaquePointer?, _ timerSource: OpaquePointer?)
  -> Int32
{
  CMTimebaseRemoveTimer(timebase, timerSource)
}

@c @implementation
public func CMTimebaseSetTimerDispatchSourceNextFireTime(
  _ timebase: OpaquePointer?, _ timerSource: OpaquePointer?, _ fireTime: C_CMTime, _ flags: UInt32
) -> Int32 {
  CMTimebaseSetTimerNextFireTime(timebase, timerSource, fireTime, flags)
}

@c @implementation
public func CMTimebaseSetTimerDispatchSourceToFireImmediately(
  _ timebase: OpaquePointer?, _ timerSource: OpaquePointer?
) -> Int32 {
  CMTimebaseSetTimerToFireImmediately(timebase, timerSource)
}
