// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Dispatch

/// A timer of another library, for the C interface: its run loops and dispatch objects are not
/// those of Swift.
package protocol ForeignTimer: AnyObject, Sendable {
  /// The address of the timer itself, which tells it apart from others.
  var address: UnsafeRawPointer { get }
  /// Whether the timer can still fire.
  var isAlive: Bool { get }
  /// Schedules the timer, instead of the time for which it was scheduled before.
  /// - Parameter delay: The time in nanoseconds after which it fires; nil for never.
  func schedule(after delay: UInt64?)
}

/// The timers of a timebase, each with the time of the timebase at which it fires.
final class TimebaseTimers: @unchecked Sendable {
  // Sendable: `lock` guards all variables.
  enum Kind {
    case runLoop(Timer, RunLoop)
    case dispatch(any DispatchSourceTimer)
    case foreign(any ForeignTimer)

    /// The address of the timer's object.
    var address: UnsafeRawPointer {
      switch self {
      case .runLoop(let timer, _): TimebaseTimers.address(of: timer)
      case .dispatch(let timer): TimebaseTimers.address(of: timer as AnyObject)
      case .foreign(let timer): timer.address
      }
    }

    /// Whether the timer can still fire.
    var isAlive: Bool {
      switch self {
      case .runLoop(let timer, _): timer.isValid
      case .dispatch(let timer): !timer.isCancelled
      case .foreign(let timer): timer.isAlive
      }
    }

    /// Schedules the timer.
    /// - Parameter delay: The time in nanoseconds after which it fires; nil for never.
    func schedule(after delay: UInt64?) {
      switch self {
      case .runLoop(let timer, let runLoop):
        let date = delay.map { Date(timeIntervalSinceNow: Double($0) * 1e-9) }
        timer.fireDate = date ?? Date(timeIntervalSinceReferenceDate: CMTimebase.farFuture)
        CFRunLoopWakeUp(runLoop)
      case .dispatch(let timer):
        guard let delay else { return timer.schedule(deadline: .distantFuture) }
        timer.schedule(
          deadline: .now() + .nanoseconds(Int(clamping: delay)), repeating: .never, leeway: .nanoseconds(0))
      case .foreign(let timer): timer.schedule(after: delay)
      }
    }
  }

  private struct Entry {
    var kind: Kind
    /// The time of the timebase at which the timer fires; nil if none is set.
    var fireTime: CMTime?
    /// The host time in nanoseconds for which the timer is scheduled; nil if it is not.
    var deadline: UInt64?
  }

  private let lock = Lock()
  private var entries: [Entry] = []

  /// The address of an object, which tells it apart from others.
  static func address(of timer: AnyObject) -> UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged.passUnretained(timer).toOpaque())
  }

  func add(_ kind: Kind) {
    lock.withLock {
      entries.removeAll { !$0.kind.isAlive || $0.kind.address == kind.address }
      entries.append(Entry(kind: kind))
      kind.schedule(after: nil)
    }
  }

  /// Removes a timer, which its address identifies.
  /// - Returns: Whether the timebase had the timer.
  func remove(_ timer: UnsafeRawPointer) -> Bool {
    lock.withLock {
      guard let index = entries.firstIndex(where: { $0.kind.address == timer }) else { return false }
      entries.remove(at: index)
      return true
    }
  }

  /// Sets the time at which a timer fires; a time that is not numeric means never.
  /// - Returns: Whether the timebase has the timer.
  func setFireTime(_ time: CMTime, of timer: UnsafeRawPointer, timebase: CMTimebase) -> Bool {
    lock.withLock {
      guard let index = entries.firstIndex(where: { $0.kind.address == timer }) else { return false }
      entries[index].fireTime = time.isNumeric && time.timescale > 0 ? time : nil
      entries[index].deadline = nil
      arm(index, timebase)
      return true
    }
  }

  /// Makes a timer fire immediately, whatever time was set.
  /// - Returns: Whether the timebase has the timer.
  func fireNow(_ timer: UnsafeRawPointer) -> Bool {
    lock.withLock {
      guard let index = entries.firstIndex(where: { $0.kind.address == timer }) else { return false }
      entries[index].fireTime = nil
      entries[index].deadline = nil
      entries[index].kind.schedule(after: 0)
      return true
    }
  }

  /// Schedules all timers again, after a change of time or rate.
  func arm(for timebase: CMTimebase) {
    lock.withLock {
      entries.removeAll { !$0.kind.isAlive }
      for index in entries.indices where entries[index].fireTime != nil { arm(index, timebase) }
    }
  }

  private func arm(_ index: Int, _ timebase: CMTimebase) {
    let now = mach_absolute_time()
    let delay = entries[index].fireTime.flatMap { timebase.nanoseconds(until: $0) }
    // A timer fires once when its time has been reached. It can fire again only after its time has
    // been in the future again.
    if delay == 0, let deadline = entries[index].deadline, deadline <= now { return }
    entries[index].deadline = delay.map { $0 > UInt64.max - now ? .max : now + $0 }
    entries[index].kind.schedule(after: delay)
  }
}

extension CMTimebase {
  /// Returns the time in nanoseconds until the timebase reaches a time at its current rate; 0 if it
  /// has been reached, nil if it never will be.
  fileprivate func nanoseconds(until time: CMTime) -> UInt64? {
    let clock = ultimateClock
    let rate = rateOfAll * clock.rateRelativeToHost
    guard rate != 0, rate.isFinite else { return nil }
    // The result is computed from the line rather than from the current time, so that rounding
    // errors do not accumulate.
    let away = CMTimeSubtract(CMSyncConvertTime(time, from: self, to: clock), CMClockGetTime(clock))
    guard away.isNumeric else { return nil }
    let seconds = away.seconds / clock.rateRelativeToHost
    if seconds <= 0 { return 0 }
    return seconds < 9e9 ? UInt64((seconds * 1e9).rounded(.up)) : nil
  }
}
