// SPDX-License-Identifier: Apache-2.0
/// Byte streams of Annex B, in which a start code of 3 or 4 bytes stands before each NAL unit.
///
/// The NAL units themselves, emulation prevention bytes included, are never changed.
package enum ByteStream {
  /// Calls `body` with the place of each NAL unit, without start codes and without the zeros that may follow it.
  ///
  /// What stands before the first start code is not part of any.
  package static func forEachUnit(in stream: UnsafeRawBufferPointer, _ body: (Range<Int>) -> Void) {
    var code = nextStartCode(in: stream, from: 0)
    while let found = code {
      let next = nextStartCode(in: stream, from: found + 3)
      let unit = trimmed(found + 3..<(next ?? stream.count), of: stream)
      if !unit.isEmpty { body(unit) }
      code = next
    }
  }

  /// A NAL unit without the zeros after it, which belong to the stream: a unit ends with a byte that is not zero.
  package static func trimmed(_ range: Range<Int>, of stream: UnsafeRawBufferPointer) -> Range<Int> {
    var end = range.upperBound
    while end > range.lowerBound, stream[end - 1] == 0 { end -= 1 }
    return range.lowerBound..<end
  }

  /// The offset of the three bytes 0, 0, 1; nil if there are none from `position` on.
  package static func nextStartCode(in stream: UnsafeRawBufferPointer, from position: Int) -> Int? {
    var index = position
    while index + 2 < stream.count {
      if index + 8 <= stream.count {
        let word = stream.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        // A zero byte borrows from its top bit: without one, no start code begins in these eight.
        if (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080 == 0 {
          index += 8
          continue
        }
      }
      let end = min(index + 8, stream.count - 2)
      while index < end {
        if stream[index] == 0, stream[index + 1] == 0, stream[index + 2] == 1 { return index }
        index += 1
      }
    }
    return nil
  }
}
