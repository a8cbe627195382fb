// SPDX-License-Identifier: Apache-2.0
/// Parses byte streams (Annex B), in which a start code of 3 or 4 bytes precedes each NAL unit.
///
/// The NAL units, with their emulation prevention bytes, are left unchanged.
package enum ByteStream {
  /// Calls `body` with the byte range of each NAL unit, without start codes and trailing zeros.
  ///
  /// Bytes before the first start code are skipped.
  /// - Parameters:
  ///   - stream: the byte stream.
  ///   - body: receives ranges of offsets in `stream`. Empty units are left out.
  package static func forEachUnit(in stream: UnsafeRawBufferPointer, _ body: (Range<Int>) -> Void) {
    var code = nextStartCode(in: stream, from: 0)
    while let found = code {
      let next = nextStartCode(in: stream, from: found + 3)
      let unit = trimmed(found + 3..<(next ?? stream.count), of: stream)
      if !unit.isEmpty { body(unit) }
      code = next
    }
  }

  /// Removes trailing zero bytes from the range of a NAL unit. They are trailing_zero_8bits of the
  /// byte stream, since a NAL unit does not end with a zero byte (7.4.1).
  /// - Parameters:
  ///   - range: offsets in `stream`.
  ///   - stream: the byte stream.
  package static func trimmed(_ range: Range<Int>, of stream: UnsafeRawBufferPointer) -> Range<Int> {
    var end = range.upperBound
    while end > range.lowerBound, stream[end - 1] == 0 { end -= 1 }
    return range.lowerBound..<end
  }

  /// Returns the offset of the next three bytes 0, 0, 1; nil if there are none.
  /// - Parameters:
  ///   - stream: the byte stream.
  ///   - position: the offset from which on to search.
  package static func nextStartCode(in stream: UnsafeRawBufferPointer, from position: Int) -> Int? {
    var index = position
    while index + 2 < stream.count {
      if index + 8 <= stream.count {
        let word = stream.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        // The subtraction carries into the top bit of a zero byte. Where no top bit is set, none of
        // the eight bytes is zero, and no start code begins here.
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
