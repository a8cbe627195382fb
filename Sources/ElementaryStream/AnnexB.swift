// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import VideoBitstream

/// Byte streams of Annex B, in which a start code of 3 or 4 bytes stands before each NAL unit, and NAL units with
/// their length before them, as samples and files hold them.
///
/// The NAL units themselves, emulation prevention bytes included, are never changed.
public enum AnnexB {
  /// The long start code.
  public static let startCode = Data([0, 0, 0, 1])

  /// Where the NAL units of a byte stream are, without start codes and without the zeros that may follow them.
  ///
  /// What stands before the first start code is not part of any.
  public static func unitRanges(in stream: UnsafeRawBufferPointer) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    ByteStream.forEachUnit(in: stream) { ranges.append($0) }
    return ranges
  }

  /// The NAL units of a byte stream, without start codes.
  public static func units(in stream: Data) -> [Data] {
    stream.withUnsafeBytes { bytes in
      unitRanges(in: bytes).map { Data(UnsafeRawBufferPointer(rebasing: bytes[$0])) }
    }
  }

  /// Writes NAL units with their length before them.
  ///
  /// Of the parameters:
  ///
  /// - `lengthSize`: The size of the length in bytes: 1, 2 or 4.
  /// - Throws: `ElementaryStreamError`.
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

  /// Turns a byte stream into NAL units with their length before them.
  public static func lengthPrefixed(stream: Data, lengthSize: Int = 4) throws -> Data {
    try lengthPrefixed(units(in: stream), lengthSize: lengthSize)
  }

  /// Where the NAL units are in data that holds each with its length before it. Empty ones are left out.
  ///
  /// - Throws: `ElementaryStreamError.truncatedUnit` if a length says more than there is.
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

  /// The NAL units of data that holds each with its length before it.
  public static func units(inLengthPrefixed data: Data, lengthSize: Int = 4) throws -> [Data] {
    try data.withUnsafeBytes { bytes in
      try unitRanges(inLengthPrefixed: bytes, lengthSize: lengthSize).map {
        Data(UnsafeRawBufferPointer(rebasing: bytes[$0]))
      }
    }
  }

  /// Writes NAL units as a byte stream, each with a start code of 4 bytes before it.
  public static func stream(of units: [Data]) -> Data {
    var result = Data(capacity: units.reduce(0) { $0 + $1.count + startCode.count })
    for unit in units {
      result.append(startCode)
      result.append(unit)
    }
    return result
  }

  /// Turns NAL units with their length before them into a byte stream.
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

  static func check(lengthSize: Int) throws {
    guard LengthPrefix.isValid(lengthSize) else { throw ElementaryStreamError.invalidLengthSize(lengthSize) }
  }
}
