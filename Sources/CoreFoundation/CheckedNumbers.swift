// SPDX-License-Identifier: Apache-2.0
import Foundation

// Numbers that come from outside: from a program's dictionaries, from files, from the network. Swift ends the process
// when such a number does not fit; these give the nearest number that does, or nothing.

extension FixedWidthInteger {
  /// The number without its fraction; the nearest that fits, and 0 for what is no number.
  package init(clamping value: Double) {
    guard value == value else {
      self = 0
      return
    }
    if let exact = Self(exactly: value.rounded(.towardZero)) {
      self = exact
    } else {
      self = value < 0 ? .min : .max
    }
  }

  /// The number without its fraction; nil if it does not fit or is no number.
  package init?(checking value: Double) {
    guard value.isFinite else { return nil }
    self.init(exactly: value.rounded(.towardZero))
  }

  /// The sum, or the nearest number that fits.
  package func addingClamped(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// The difference, or the nearest number that fits.
  package func subtractingClamped(_ other: Self) -> Self {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }

  /// The product, or the nearest number that fits.
  package func multipliedClamped(by other: Self) -> Self {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? ((self < 0) != (other < 0) ? .min : .max) : product
  }
}

extension CGRect {
  /// What two rectangles have in common; null if one is not of numbers. `intersection` does not survive such, nor sides
  /// without an end.
  package func common(with other: CGRect) -> CGRect {
    for rect in [self, other] {
      guard !rect.isNull, rect.minX <= rect.maxX, rect.minY <= rect.maxY else { return .null }
    }
    let (left, right) = (max(minX, other.minX), min(maxX, other.maxX))
    let (top, bottom) = (max(minY, other.minY), min(maxY, other.maxY))
    guard left <= right, top <= bottom else { return .null }
    return CGRect(x: left, y: top, width: right - left, height: bottom - top)
  }
}
