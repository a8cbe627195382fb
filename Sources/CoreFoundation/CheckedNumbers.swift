// SPDX-License-Identifier: Apache-2.0
import Foundation

// Conversions and arithmetic for numbers from outside: from a program's dictionaries, from files,
// from the network. Swift's own operations end the process when a result does not fit. These return
// the nearest number that fits, or nil.

extension FixedWidthInteger {
  /// Creates the integer part of a number, or the nearest number that fits. NaN becomes 0.
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

  /// Creates the integer part of a number. It is nil if that does not fit, or for NaN and the
  /// infinities.
  package init?(checking value: Double) {
    guard value.isFinite else { return nil }
    self.init(exactly: value.rounded(.towardZero))
  }

  /// Returns the sum, or the nearest number that fits.
  package func addingClamped(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// Returns the difference, or the nearest number that fits.
  package func subtractingClamped(_ other: Self) -> Self {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }

  /// Returns the product, or the nearest number that fits.
  package func multipliedClamped(by other: Self) -> Self {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? ((self < 0) != (other < 0) ? .min : .max) : product
  }
}

extension CGRect {
  /// Returns the intersection of two rectangles, or the null rectangle if they do not intersect or
  /// if one is null or contains NaN. Foundation's `intersection` ends the process for NaN and for
  /// infinite sides.
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
