// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Dispatch
import Foundation

/// Lets frames through at their own times, measured on a timebase that runs with the host's clock, as a
/// camera or a live source would deliver them.
final class Pacer: @unchecked Sendable {
  // Sendable: started and waited for by one task.
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
    // An interrupted run need not wait for its next frame.
    Interrupt.shared.onRequest { [due] in due.signal() }
  }

  deinit {
    try? timebase.removeTimer(timer)
    timer.cancel()
  }

  /// Returns when the timebase has reached `time`. The first call starts the timebase there.
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
