// SPDX-License-Identifier: Apache-2.0
internal import CCoreFoundation

public typealias CFRunLoop = RunLoop
public typealias CFRunLoopTimer = Timer
public typealias CFRunLoopMode = RunLoop.Mode

extension RunLoop.Mode {
  public static var defaultMode: RunLoop.Mode { .default }
  public static var commonModes: RunLoop.Mode { .common }
}

/// Why a run loop returned.
public enum CFRunLoopRunResult: Int32, Sendable {
  /// No timer and no source is left in the mode.
  case finished = 1
  case stopped = 2
  case timedOut = 3
  case handledSource = 4
}

/// The calling thread's run loop.
@discardableResult
public func CFRunLoopGetCurrent() -> CFRunLoop! { RunLoop.current }

/// The main thread's run loop.
@discardableResult
public func CFRunLoopGetMain() -> CFRunLoop! { RunLoop.main }

/// Runs the calling thread's run loop until it is stopped or has nothing left to do.
public func CFRunLoopRun() {
  while true {
    switch CFRunLoopRunInMode(.defaultMode, 1e10, false) {
    case .stopped, .finished: return
    default: break
    }
  }
}

/// Runs the calling thread's run loop for some seconds at most; with zero it makes one pass.
@discardableResult
public func CFRunLoopRunInMode(
  _ mode: CFRunLoopMode!, _ seconds: CFTimeInterval, _ returnAfterSourceHandled: Bool
) -> CFRunLoopRunResult {
  let mode = (mode ?? .default).rawValue as NSString
  let result = OVTRunLoopRunInMode(raw(mode), seconds, returnAfterSourceHandled ? 1 : 0)
  return CFRunLoopRunResult(rawValue: result) ?? .finished
}

/// Makes a run loop return from its innermost run.
public func CFRunLoopStop(_ rl: CFRunLoop!) {
  if rl === RunLoop.current {
    if let current = OVTRunLoopGetCurrent() { OVTRunLoopStop(current) }
  } else {
    rl?.perform { if let current = OVTRunLoopGetCurrent() { OVTRunLoopStop(current) } }
  }
}

/// Makes a run loop look for what there is to do.
public func CFRunLoopWakeUp(_ rl: CFRunLoop!) { rl?.perform {} }

// MARK: - Timers

/// A timer that calls a block at a date and then, unless the interval is zero, again and again. An interval
/// is a microsecond at least.
@discardableResult
public func CFRunLoopTimerCreateWithHandler(
  _ allocator: CFAllocator!, _ fireDate: CFAbsoluteTime, _ interval: CFTimeInterval, _ flags: CFOptionFlags,
  _ order: CFIndex, _ block: ((CFRunLoopTimer?) -> Void)!
) -> CFRunLoopTimer! {
  guard let block else { return nil }
  let handler = TimerHandler(block: block)
  // Foundation counts in nanoseconds and does not survive an interval of none.
  return Timer(
    fire: Date(timeIntervalSinceReferenceDate: fireDate),
    interval: interval > 0 ? max(interval, 1e-6) : interval, repeats: interval > 0
  ) { handler.block($0) }
}

/// A timer's block runs on the thread of the run loop that the timer was added to, and nowhere else.
private struct TimerHandler: @unchecked Sendable {
  // Sendable: called on the thread of the run loop that it was added to.
  let block: (CFRunLoopTimer?) -> Void
}

public func CFRunLoopAddTimer(_ rl: CFRunLoop!, _ timer: CFRunLoopTimer!, _ mode: CFRunLoopMode!) {
  guard let rl, let timer else { return }
  rl.add(timer, forMode: mode ?? .default)
}

public func CFRunLoopTimerInvalidate(_ timer: CFRunLoopTimer!) { timer?.invalidate() }

@discardableResult
public func CFRunLoopTimerIsValid(_ timer: CFRunLoopTimer!) -> Bool { timer?.isValid ?? false }

@discardableResult
public func CFRunLoopTimerGetNextFireDate(_ timer: CFRunLoopTimer!) -> CFAbsoluteTime {
  timer?.fireDate.timeIntervalSinceReferenceDate ?? 0
}

public func CFRunLoopTimerSetNextFireDate(_ timer: CFRunLoopTimer!, _ fireDate: CFAbsoluteTime) {
  timer?.fireDate = Date(timeIntervalSinceReferenceDate: fireDate)
}

@discardableResult
public func CFRunLoopTimerGetInterval(_ timer: CFRunLoopTimer!) -> CFTimeInterval { timer?.timeInterval ?? 0 }
