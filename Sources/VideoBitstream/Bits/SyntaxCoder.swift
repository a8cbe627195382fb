// SPDX-License-Identifier: Apache-2.0
/// An error in a parameter set, a header or another structure that was read.
package enum SyntaxError: Error, Hashable {
  /// The data end too early.
  case truncated
  /// A value is not allowed by the standard, or what it refers to does not exist.
  case invalid
}

/// Reads or writes the syntax elements of a structure one after another.
///
/// A structure describes its syntax once, in a generic function `code`, which is specialised for
/// reading (values are set) and writing (values are taken). A caller that reads checks `failure` at
/// the end. After the first failure no value is changed, so values read before it are valid, and
/// later ones keep what they had.
package protocol SyntaxCoder {
  /// Whether values are read rather than written.
  static var isReading: Bool { get }
  /// The first error; nil for a writer.
  var failure: SyntaxError? { get }
  /// Records an error, unless there is one already.
  mutating func fail(_ error: SyntaxError)

  /// Codes u(1).
  mutating func flag(_ value: inout Bool)
  /// Codes u(n) of 0...62 bits, or i(n) that is not negative.
  mutating func u(_ value: inout Int, _ count: Int)
  /// Codes ue(v): the difference of `value` to the lower bound of `range`. A reader fails for
  /// values beyond `range`.
  mutating func ue(_ value: inout Int, _ range: ClosedRange<Int>)
  /// Codes se(v): the difference of `value` to `origin`. A reader fails for values outside `range`.
  mutating func se(_ value: inout Int, _ range: ClosedRange<Int>, above origin: Int)
  /// more_rbsp_data(): a reader sets `hasMore`, and a writer leaves it as it is.
  mutating func moreData(_ hasMore: inout Bool)
}

extension SyntaxCoder {
  /// The largest value of ue(v).
  package static var largestUE: Int { 0xFFFF_FFFE }

  /// Codes ue(v) with the largest range.
  package mutating func ue(_ value: inout Int) { ue(&value, 0...Self.largestUE) }

  /// Codes se(v) of a value in `range`.
  package mutating func se(_ value: inout Int, _ range: ClosedRange<Int>) { se(&value, range, above: 0) }

  /// Codes se(v) with the largest range.
  package mutating func se(_ value: inout Int) { se(&value, -0x7FFF_FFFF...0x7FFF_FFFF, above: 0) }

  /// Codes u(n) with a largest value below 2^n - 1. A reader fails for larger values.
  package mutating func u(_ value: inout Int, _ count: Int, max limit: Int) {
    var read = value
    u(&read, count)
    if Self.isReading, failure == nil, read > limit { fail(.invalid) }
    if failure == nil { value = read }
  }

  /// Codes u(n): the difference of `value` to `origin`.
  package mutating func u(_ value: inout Int, _ count: Int, above origin: Int) {
    var coded = value - origin
    u(&coded, count)
    if failure == nil { value = coded + origin }
  }

  /// Codes u(8).
  package mutating func u8(_ value: inout UInt8) {
    var coded = Int(value)
    u(&coded, 8)
    value = UInt8(truncatingIfNeeded: coded)
  }

  /// Codes bits with a fixed value; a reader skips them and accepts any value.
  package mutating func reserved(_ count: Int, _ value: Int = 0) {
    var bits = value
    u(&bits, count)
  }

  /// Codes a flag that tells whether a structure is present, and the structure. A reader leaves
  /// `value` nil if the structure cannot be read completely.
  package mutating func optional<T>(
    _ value: inout T?, _ initial: @autoclosure () -> T, _ body: (inout Self, inout T) -> Void
  ) {
    var isPresent = value != nil
    flag(&isPresent)
    guard isPresent, failure == nil else { return }
    var content = value ?? initial()
    body(&self, &content)
    if failure == nil { value = content }
  }

  /// Codes `count` elements. The caller has to bound `count`.
  ///
  /// A writer only reads the array, so that the array is never copied.
  package mutating func list<T>(
    _ values: inout [T], count: Int, _ initial: @autoclosure () -> T, _ body: (inout Self, inout T) -> Void
  ) {
    if Self.isReading {
      values.removeAll()
      // The count may be much larger than what follows it, so the first error ends the list.
      for _ in 0..<count {
        guard failure == nil else { return }
        var value = initial()
        body(&self, &value)
        if failure == nil { values.append(value) }
      }
    } else {
      for index in values.indices.prefix(count) {
        var value = values[index]
        body(&self, &value)
      }
    }
  }
}

/// Ceil(Log2(count)): the number of bits that distinguish `count` values; 0 for one value or none.
func ceilLog2(_ count: Int) -> Int { count <= 1 ? 0 : Int.bitWidth - (count - 1).leadingZeroBitCount }
