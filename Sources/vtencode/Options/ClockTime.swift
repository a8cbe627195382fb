// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CoreMedia

/// A time in seconds, or as `m:ss` or `h:mm:ss`, with optional decimals, such as `90`, `1:30` or
/// `1:02:03.5`.
struct ClockTime: ExpressibleByArgument, Sendable, Equatable {
  /// The advice for an argument that is not a time.
  static let advice = "it takes seconds, m:ss or h:mm:ss, such as 90, 1:30 or 0:01:30.5"

  let seconds: Double

  init?(argument: String) {
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count) else { return nil }
    var total = 0.0
    for (index, part) in parts.enumerated() {
      guard let number = Double(part), number.isFinite, number >= 0, index == 0 || number < 60 else {
        return nil
      }
      guard index == parts.count - 1 || Int(part) != nil else { return nil }
      total = total * 60 + number
    }
    guard total < 1e9 else { return nil }
    seconds = total
  }

  var time: CMTime { CMTime(nearest: seconds, preferredTimescale: 1_000_000) }
}
