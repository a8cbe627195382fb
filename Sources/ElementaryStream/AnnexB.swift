// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import VideoBitstream

/// Conversion between byte streams (Annex B), in which a start code of 3 or 4 bytes precedes each
/// NAL unit, and length-prefixed NAL units, as in samples of movie files (ISO/IEC 14496-15).
///
/// The NAL units, with their emulation prevention bytes, are left unchanged.
public enum AnnexB {
  /// The start code of four bytes.
  public static let startCode = Data([0, 0, 0, 1])

  /// Returns the byte ranges of the NAL units of a byte stream, without start codes and trailing
  /// zeros.
  ///
  /// Bytes before the first start code are skipped.
  /// - Parameter stream: the byte stream.
  /// - Returns: ranges of offsets in `stream`, in order.
  public static func unitRanges(in stream: UnsafeRawBufferPointer) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    ByteStream.forEachUnit(in: stream) { ranges.append($0) }
    return ranges
  }

  /// Returns copies of the NAL units of a byte stream, without start codes.
  /// - Parameter stream: the byte stream.
  public static func units(in stream: Data) -> [Data] {
    stream.withUnsafeBytes { bytes in
      unitRanges(in: bytes).map { Data(UnsafeRawBufferPointer(rebasing: bytes[$0])) }
    }
  }

  /// Joins NAL units, each preceded by its length.
  ///
  /// - Parameters:
  ///   - units: the NAL units, without start codes.
  ///   - lengthSize: the size of a length in bytes: 1, 2 or 4.
  /// - Returns: the length-prefixed NAL units.
  /// - Throws: `ElementaryStreamError.invalidLengthSize`, or `unitTooLong` if a length does not fit
  ///   its size.
  public static func lengthPrefixed(_ units: [Data], lengthSize: Int = 4) throws -> Data {
    try check(lengthSize: lengthSize)
    var result = Data(capacity: units.reduce(0) { $0 + $1.count + lengthSize })
    for unit in units {
      guard LengthPrefix.fits(unit.count, lengthSize: lengthSize) else {
        throw ElementaryStreamError.unitTooLong(unit.count)
      }
      for byte in (0..<lengthSize).reversed() {
        result.append(UInt8(truncatingIfNeeded: unit.count >> (8 * byte)))
      }
      result.append(unit)
    }
    return result
  }

  /// Converts a byte stream to length-prefixed NAL units.
  ///
  /// - Parameters:
  ///   - stream: the byte stream.
  ///   - lengthSize: the size of a length in bytes: 1, 2 or 4.
  /// - Throws: `ElementaryStreamError.invalidLengthSize`, or `unitTooLong` if a length does not fit
  ///   its size.
  public static func lengthPrefixed(stream: Data, lengthSize: Int = 4) throws -> Data {
    try lengthPrefixed(units(in: stream), lengthSize: lengthSize)
  }

  /// Returns the byte ranges of length-prefixed NAL units. Empty units are skipped.
  ///
  /// - Parameters:
  ///   - bytes: the length-prefixed NAL units.
  ///   - lengthSize: the size of a length in bytes: 1, 2 or 4.
  /// - Returns: ranges of offsets in `bytes`, in order.
  /// - Throws: `ElementaryStreamError.invalidLengthSize`, or `truncatedUnit` if a length exceeds
  ///   the bytes that follow it.
  public static func unitRanges(inLengthPrefixed bytes: UnsafeRawBufferPointer, lengthSize: Int = 4) throws
    -> [Range<Int>]
  {
    try check(lengthSize: lengthSize)
    var ranges: [Range<Int>] = []
    let isWhole = LengthPrefix.forEachUnit(in: bytes, lengthSize: lengthSize) {
      ranges.append($0)
      return true
    }
    guard isWhole else { throw ElementaryStreamError.truncatedUnit }
    return ranges
  }

  /// Returns copies of length-prefixed NAL units.
  ///
  /// - Parameters:
  ///   - data: the length-prefixed NAL units.
  ///   - lengthSize: the size of a length in bytes: 1, 2 or 4.
  /// - Throws: `ElementaryStreamError.invalidLengthSize`, or `truncatedUnit` if a length exceeds
  ///   the bytes that follow it.
  public static func units(inLengthPrefixed data: Data, lengthSize: Int = 4) throws -> [Data] {
    try data.withUnsafeBytes { bytes in
      try unitRanges(inLengthPrefixed: bytes, lengthSize: lengthSize).map {
        Data(UnsafeRawBufferPointer(rebasing: bytes[$0]))
      }
    }
  }

  /// Joins NAL units to a byte stream, each preceded by a start code of four bytes.
  /// - Parameter units: the NAL units, without start codes.
  public static func stream(of units: [Data]) -> Data {
    var result = Data(capacity: units.reduce(0) { $0 + $1.count + startCode.count })
    for unit in units {
      result.append(startCode)
      result.append(unit)
    }
    return result
  }

  /// Converts length-prefixed NAL units to a byte stream.
  ///
  /// - Parameters:
  ///   - data: the length-prefixed NAL units.
  ///   - lengthSize: the size of a length in bytes: 1, 2 or 4.
  /// - Throws: `ElementaryStreamError.invalidLengthSize`, or `truncatedUnit` if a length exceeds
  ///   the bytes that follow it.
  public static func stream(lengthPrefixed data: Data, lengthSize: Int = 4) throws -> Data {
    try data.withUnsafeBytes { bytes in
      let ranges = try unitRanges(inLengthPrefixed: bytes, lengthSize: lengthSize)
      var result = Data(capacity: ranges.reduce(0) { $0 + $1.count + startCode.count })
      for range in ranges {
        result.append(startCode)
        result.append(contentsOf: bytes[range])
      }
      return result
    }
  }

  // MARK: - Inside

  /// Throws `ElementaryStreamError.invalidLengthSize` unless the size is 1, 2 or 4.
  static func check(lengthSize: Int) throws {
    guard LengthPrefix.isValid(lengthSize) else { throw ElementaryStreamError.invalidLengthSize(lengthSize) }
  }
}
