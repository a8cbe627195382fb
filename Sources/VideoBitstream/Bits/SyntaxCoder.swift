// SPDX-License-Identifier: Apache-2.0
/// What is wrong with a parameter set, a header or another structure that was read.
package enum SyntaxError: Error, Hashable {
  /// It ends too early.
  case truncated
  /// A value is not allowed by the standard, or what it refers to is not there.
  case invalid
}

/// Visits the syntax elements of a structure one after another: a reader sets them, a writer takes them.
///
/// So a structure is described once, in a function `code` that is specialised for both. Whoever reads looks at
/// `failure` in the end: after the first one nothing is changed any more, so that what came before it stays, and
/// counts that were not read stay what they were.
package protocol SyntaxCoder {
  static var isReading: Bool { get }
  /// What went wrong first; nil for a writer.
  var failure: SyntaxError? { get }
  mutating func fail(_ error: SyntaxError)

  /// u(1)
  mutating func flag(_ value: inout Bool)
  /// u(n) and i(n) that are not negative, 0...62 bits.
  mutating func u(_ value: inout Int, _ count: Int)
  /// ue(v): how far a value lies above the lower bound of its range. A reader fails for values beyond.
  mutating func ue(_ value: inout Int, _ range: ClosedRange<Int>)
  /// se(v): how far a value of a range lies above `origin`. A reader fails for values beyond.
  mutating func se(_ value: inout Int, _ range: ClosedRange<Int>, above origin: Int)
  /// more_rbsp_data(): a reader sets it, a writer lets it be.
  mutating func moreData(_ hasMore: inout Bool)
}

extension SyntaxCoder {
  /// The largest value of ue(v).
  package static var largestUE: Int { 0xFFFF_FFFE }

  /// ue(v) that the standard does not limit otherwise.
  package mutating func ue(_ value: inout Int) { ue(&value, 0...Self.largestUE) }

  package mutating func se(_ value: inout Int, _ range: ClosedRange<Int>) { se(&value, range, above: 0) }

  /// se(v) that the standard does not limit otherwise.
  package mutating func se(_ value: inout Int) { se(&value, -0x7FFF_FFFF...0x7FFF_FFFF, above: 0) }

  /// u(n) with a largest value below 2^n - 1.
  package mutating func u(_ value: inout Int, _ count: Int, max limit: Int) {
    var read = value
    u(&read, count)
    if Self.isReading, failure == nil, read > limit { fail(.invalid) }
    if failure == nil { value = read }
  }

  /// u(n): how far a value lies above `origin`.
  package mutating func u(_ value: inout Int, _ count: Int, above origin: Int) {
    var coded = value - origin
    u(&coded, count)
    if failure == nil { value = coded + origin }
  }

  /// Bits that have one value only, or none that is looked at.
  package mutating func reserved(_ count: Int, _ value: Int = 0) {
    var bits = value
    u(&bits, count)
  }

  /// A flag that says whether a structure is present, and the structure. One that cannot be read whole is left out.
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

  /// As many elements as `count` says, which must be bounded.
  ///
  /// A writer only looks at the array, and so never copies one.
  package mutating func list<T>(
    _ values: inout [T], count: Int, _ initial: @autoclosure () -> T, _ body: (inout Self, inout T) -> Void
  ) {
    if Self.isReading {
      values.removeAll()
      // A count may be large where nothing follows: the first error ends the list.
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

/// Ceil(Log2(count)): the bits that tell one of so many; 0 for one or none.
func ceilLog2(_ count: Int) -> Int { count <= 1 ? 0 : Int.bitWidth - (count - 1).leadingZeroBitCount }
