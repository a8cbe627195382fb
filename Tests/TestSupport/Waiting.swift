// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation

/// How long tests wait at most. What is waited for decides how a test ends, never how long it took:
/// the limit only turns a hang into a failure, and is far above what a busy machine needs.
public enum HangLimit {
  /// Of one wait.
  public static let seconds = 300.0
  /// Of a test or of a suite: `.timeLimit(.minutes(HangLimit.minutes))`.
  public static let minutes = 10

  static var deadline: DispatchTime { .now() + seconds }
}

/// Whether the suites that watch the real clock run: `make test-timing` sets it. Their names end in
/// `WallClockTests`, and they carry `.enabled(if: runsWallClockTests)`.
public let runsWallClockTests = ProcessInfo.processInfo.environment["OVT_TIMING_TESTS"] == "1"

/// Whether long rows of cases run whole, as in CI (`OVT_ALL_CASES=1`).
public let runsAllCases = ProcessInfo.processInfo.environment["OVT_ALL_CASES"] == "1"

extension Array {
  /// All of them where all cases run, else some, by their indices.
  public func cases(_ some: [Int]) -> [Element] { runsAllCases ? self : some.map { self[$0] } }
}

/// Waits for a signal.
/// - Returns: False after ``HangLimit/seconds`` without one.
@discardableResult public func waitForSignal(_ semaphore: DispatchSemaphore) -> Bool {
  semaphore.wait(timeout: HangLimit.deadline) == .success
}

/// Waits until all of a group's work is done.
/// - Returns: False if it is not after ``HangLimit/seconds``.
@discardableResult public func waitForEnd(of group: DispatchGroup) -> Bool {
  group.wait(timeout: HangLimit.deadline) == .success
}

/// Waits for a state without notification: the thread sleeps between two looks at it.
/// - Returns: False if it has not come after ``HangLimit/seconds``.
@discardableResult public func blockUntil(_ condition: () throws -> Bool) rethrows -> Bool {
  let deadline = HangLimit.deadline
  while try !condition() {
    if DispatchTime.now() > deadline { return false }
    usleep(500)
  }
  return true
}

/// Waits for a state without notification, without keeping the thread.
/// - Returns: False if it has not come after ``HangLimit/seconds``, or if the task is cancelled.
@discardableResult public func waitUntil(_ condition: () throws -> Bool) async rethrows -> Bool {
  let deadline = HangLimit.deadline
  while try !condition() {
    if DispatchTime.now() > deadline || Task.isCancelled { return false }
    try? await Task.sleep(for: .milliseconds(1))
  }
  return true
}

/// The same with a condition that has to be waited for itself.
@discardableResult public func waitUntil(_ condition: () async throws -> Bool) async rethrows -> Bool {
  let deadline = HangLimit.deadline
  while try await !condition() {
    if DispatchTime.now() > deadline || Task.isCancelled { return false }
    try? await Task.sleep(for: .milliseconds(1))
  }
  return true
}

/// Lets time pass for other threads, counted in short calls of the system: a thousand are about
/// half a millisecond where no other thread needs the processor, which is given away once in a
/// thousand. For moments that tests of races vary, and for more chances of what must not happen;
/// what a test proves holds whatever they take.
public func letOthersRun(turns: Int) {
  for turn in 0..<max(0, turns) {
    // To give it away takes as long as all others want it.
    if turn % 1000 == 999 { sched_yield() } else { _ = getppid() }
  }
}

/// Waits until a serial queue has done all that it was given to do within some milliseconds from
/// now: what is due later runs later, however late both are.
/// - Returns: False if it has not after ``HangLimit/seconds``.
@discardableResult public func waitForTimers(of queue: DispatchQueue, dueWithin milliseconds: Int) -> Bool {
  let done = DispatchSemaphore(value: 0)
  queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { done.signal() }
  return waitForSignal(done)
}

/// The processor time that a thread needs for something, in seconds. Unlike the time of day it is
/// the same on a busy machine.
public func threadSeconds(of body: () throws -> Void) rethrows -> Double {
  func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
  let start = now()
  try body()
  return now() - start
}

/// A function for shells that waits as `blockUntil` does: `await PROCESS COMMAND...` until the
/// command succeeds, or the process is gone.
public let shellAwait = """
  await() { process=$1; shift; while kill -0 "$process" 2>/dev/null && ! "$@" 2>/dev/null; do sleep 0.05; done; }
  """
