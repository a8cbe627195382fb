// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Formats numbers for messages, the same in every locale.
enum TextFormat {
  /// A bit rate in kilobits a second, such as `1,500 kb/s`.
  static func bitRate(_ bitsPerSecond: Double) -> String {
    "\(grouped(Int(clamping: (bitsPerSecond / 1000).rounded()))) kb/s"
  }

  static func bytes(_ count: Int) -> String {
    switch count {
    case ..<10_000: "\(grouped(count)) bytes"
    case ..<10_000_000: "\(grouped(count / 1000)) kB"
    default: "\(fixed(Double(count) / 1_000_000, 1)) MB"
    }
  }

  /// A duration such as `0:07`, `12:34` or `1:02:03`.
  static func clock(_ seconds: Double) -> String {
    let whole = Int(clamping: max(seconds, 0).rounded())
    let minutes = String(format: whole >= 3600 ? "%02d" : "%d", whole / 60 % 60)
    return (whole >= 3600 ? "\(whole / 3600):" : "") + minutes + String(format: ":%02d", whole % 60)
  }

  static func fixed(_ value: Double, _ decimals: Int) -> String {
    String(format: "%.\(decimals)f", value)
  }

  static func grouped(_ value: Int) -> String {
    var digits = String(value.magnitude)[...]
    var groups: [Substring] = []
    while digits.count > 3 {
      groups.insert(digits.suffix(3), at: 0)
      digits = digits.dropLast(3)
    }
    groups.insert(digits, at: 0)
    return (value < 0 ? "-" : "") + groups.joined(separator: ",")
  }

  static func plural(_ count: Int, _ word: String) -> String {
    "\(grouped(count)) \(word)\(count == 1 ? "" : "s")"
  }
}
