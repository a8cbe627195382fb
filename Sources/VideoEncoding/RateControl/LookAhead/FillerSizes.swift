// SPDX-License-Identifier: Apache-2.0

/// The sizes in bytes of the filler data NAL units of a frame, framing included: one, or several
/// where a single one would need too much memory at once.
package struct FillerSizes: Sequence, IteratorProtocol {
  /// The bytes that are left.
  private var left: Int

  /// The size of the smallest filler data NAL unit in bytes, of H.264 and of HEVC.
  package static let least = 8
  /// The size of the largest one that is written.
  package static let maximum = 1 << 22

  /// - Parameter bytes: the size of all together, 8 or more.
  package init(_ bytes: Int) { left = bytes }

  package mutating func next() -> Int? {
    guard left > 0 else { return nil }
    var size = Swift.min(left, Self.maximum)
    // The rest has to be large enough for a NAL unit of its own.
    if left > size, left - size < Self.least { size -= Self.least }
    left -= size
    return size
  }
}
