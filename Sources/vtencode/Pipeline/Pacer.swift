// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Dispatch
import Foundation

/// Delays frames until their presentation times, on a timebase driven by the host clock, as a
/// camera or another live source would deliver them.
final class Pacer: @unchecked Sendable {
  // Sendable: one task starts it and waits for it.
  private let timebase: CMTimebase
  private let timer: any DispatchSourceTimer
  private let due = DispatchSemaphore(value: 0)
  private var hasStarted = false

  init() throws {
    timebase = try CMTimebase(sourceClock: CMClockGetHostTimeClock())
    timer = DispatchSource.makeTimerSource(
      queue: DispatchQueue(label: "vtencode.pacer", qos: .userInteractive))
    timer.setEventHandler { [due] in due.signal() }
    try timebase.addTimer(timer)
    timer.resume()
    // An interrupted run does not wait for its next frame.
    Interrupt.shared.onRequest { [due] in due.signal() }
  }

  deinit {
    try? timebase.removeTimer(timer)
    timer.cancel()
  }

  /// Waits until the timebase has reached `time`, or until an interrupt. The first call starts the
  /// timebase at `time`.
  func wait(until time: CMTime) throws {
    if !hasStarted {
      hasStarted = true
      try timebase.setTime(time)
      try timebase.setRate(1)
      return
    }
    while timebase.time < time, !Interrupt.shared.isRequested {
      try timebase.setTimerNextFireTime(timer, fireTime: time)
      due.wait()
    }
  }
}
