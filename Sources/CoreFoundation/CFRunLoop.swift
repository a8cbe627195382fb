// SPDX-License-Identifier: Apache-2.0
internal import CCoreFoundation

public typealias CFRunLoop = RunLoop
public typealias CFRunLoopTimer = Timer
public typealias CFRunLoopMode = RunLoop.Mode

extension RunLoop.Mode {
  public static var defaultMode: RunLoop.Mode { .default }
  public static var commonModes: RunLoop.Mode { .common }
}

/// The reason why a run loop returned.
public enum CFRunLoopRunResult: Int32, Sendable {
  /// No timer and no source is left in the mode.
  case finished = 1
  case stopped = 2
  case timedOut = 3
  case handledSource = 4
}

/// Returns the calling thread's run loop.
@discardableResult
public func CFRunLoopGetCurrent() -> CFRunLoop! { RunLoop.current }

/// Returns the main thread's run loop.
@discardableResult
public func CFRunLoopGetMain() -> CFRunLoop! { RunLoop.main }

/// Runs the calling thread's run loop until it is stopped or has no more timers and sources.
public func CFRunLoopRun() {
  while true {
    switch CFRunLoopRunInMode(.defaultMode, 1e10, false) {
    case .stopped, .finished: return
    default: break
    }
  }
}

/// Runs the calling thread's run loop for at most some seconds. With 0 it makes a single pass.
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

/// Wakes a waiting run loop, so that it handles its sources and timers.
public func CFRunLoopWakeUp(_ rl: CFRunLoop!) { rl?.perform {} }

// MARK: - Timers

/// Creates a timer that calls a block at a date and, if the interval is above 0, repeatedly after
/// that. The interval is in seconds; intervals below 1 microsecond become 1 microsecond.
@discardableResult
public func CFRunLoopTimerCreateWithHandler(
  _ allocator: CFAllocator!, _ fireDate: CFAbsoluteTime, _ interval: CFTimeInterval, _ flags: CFOptionFlags,
  _ order: CFIndex, _ block: ((CFRunLoopTimer?) -> Void)!
) -> CFRunLoopTimer! {
  guard let block else { return nil }
  let handler = TimerHandler(block: block)
  // Foundation counts in nanoseconds, and ends the process if an interval becomes 0.
  return Timer(
    fire: Date(timeIntervalSinceReferenceDate: fireDate),
    interval: interval > 0 ? max(interval, 1e-6) : interval, repeats: interval > 0
  ) { handler.block($0) }
}

/// The block of a timer. It only runs on the thread of the run loop that the timer was added to.
private struct TimerHandler: @unchecked Sendable {
  // Sendable: the block is only called on the thread of that run loop.
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
