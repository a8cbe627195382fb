// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation
import RealTimeTransport

/// The time of real sessions: seconds since this process asked first, on a clock that nobody sets.
enum SessionTime {
  private static let origin = DispatchTime.now().uptimeNanoseconds
  /// From 1900 to 1970.
  private static let epoch = 2_208_988_800.0

  static var now: Double {
    // Made before the clock is read, the first time.
    let origin = origin
    return Double(DispatchTime.now().uptimeNanoseconds - origin) * 1e-9
  }

  /// What others see: the time of day, as it was when the session began.
  static let clock: MediaClock = {
    let elapsed = SessionTime.now
    return MediaClock(start: Date().timeIntervalSince1970 + epoch - elapsed)
  }()

  static func sleep(until time: Double) {
    let left = time - now
    if left > 0 { Thread.sleep(forTimeInterval: left) }
  }
}

extension MonotonicCondition {
  /// As `wait(until:)`, up to a time of the session.
  /// - Parameter end: in seconds of `SessionTime`.
  /// - Returns: False if that has come.
  func wait(untilSessionTime end: Double) -> Bool {
    wait(until: MonotonicCondition.now + (end - SessionTime.now))
  }
}
