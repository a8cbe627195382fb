// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The time that an operation took, in seconds.
public struct Usage: Sendable {
  /// The processor time of all threads of the process.
  public var processor: Double
  public var clock: Double

  public static func of(_ work: () throws -> Void) rethrows -> Usage {
    let start = now()
    try work()
    let end = now()
    return Usage(processor: end.processor - start.processor, clock: end.clock - start.clock)
  }

  /// The minimum of each time, because other activity on the machine can only make it longer.
  public static func best(_ list: some Collection<Usage>) -> Usage {
    Usage(processor: list.map(\.processor).min() ?? 0, clock: list.map(\.clock).min() ?? 0)
  }

  /// The times since arbitrary starting points.
  public static func now() -> Usage {
    func seconds(_ id: clockid_t) -> Double {
      var time = timespec()
      clock_gettime(id, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
    return Usage(processor: seconds(CLOCK_PROCESS_CPUTIME_ID), clock: seconds(CLOCK_MONOTONIC))
  }
}
