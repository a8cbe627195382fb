// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation
import RealTimeTransport

/// The time of a real session, in seconds since its first use in this process, by a monotonic
/// clock.
enum SessionTime {
  private static let origin = DispatchTime.now().uptimeNanoseconds
  /// The seconds from 1900, where NTP time begins, to 1970.
  private static let epoch = 2_208_988_800.0

  static var now: Double {
    // Initialises the origin before the clock is read.
    let origin = origin
    return Double(DispatchTime.now().uptimeNanoseconds - origin) * 1e-9
  }

  /// The clock for peers: the time of day, taken once when the session begins.
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
  /// Waits like `wait(until:)`, with a time of `SessionTime`.
  /// - Parameter end: the time in seconds.
  /// - Returns: false if the time has come.
  func wait(untilSessionTime end: Double) -> Bool {
    wait(until: MonotonicCondition.now + (end - SessionTime.now))
  }
}
