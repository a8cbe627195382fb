import CoreMedia

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
    var unitStart: Int?
    var position = 0
    while let code = nextStartCode(in: stream, from: position) {
      if let start = unitStart { append(start..<code, of: stream, to: &ranges) }
      unitStart = code + 3
      position = code + 3
    }
    if let start = unitStart { append(start..<stream.count, of: stream, to: &ranges) }
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
      guard lengthSize == 4 ? unit.count <= UInt32.max : unit.count < 1 << (8 * lengthSize) else {
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
    var position = 0
    while position < bytes.count {
      guard lengthSize <= bytes.count - position else { throw ElementaryStreamError.truncatedUnit }
      var length = 0
      for byte in bytes[position..<position + lengthSize] { length = length << 8 | Int(byte) }
      position += lengthSize
      guard length <= bytes.count - position else { throw ElementaryStreamError.truncatedUnit }
      if length > 0 { ranges.append(position..<position + length) }
      position += length
    }
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
    guard [1, 2, 4].contains(lengthSize) else { throw ElementaryStreamError.invalidLengthSize(lengthSize) }
  }

  /// The offset of the three bytes 0, 0, 1; nil if there are none from `position` on.
  static func nextStartCode(in stream: UnsafeRawBufferPointer, from position: Int) -> Int? {
    // Looking at the third byte first, most of the stream is passed three bytes at a time.
    var index = position + 2
    while index < stream.count {
      let byte = stream[index]
      if byte > 1 {
        index += 3
      } else if byte == 0 {
        index += 1
      } else if stream[index - 1] == 0, stream[index - 2] == 0 {
        return index - 2
      } else {
        index += 3
      }
    }
    return nil
  }

  private static func append(
    _ range: Range<Int>, of stream: UnsafeRawBufferPointer, to ranges: inout [Range<Int>]
  ) {
    var end = range.upperBound
    // Zeros after a NAL unit belong to the stream: a unit ends with a byte that is not zero.
    while end > range.lowerBound, stream[end - 1] == 0 { end -= 1 }
    if end > range.lowerBound { ranges.append(range.lowerBound..<end) }
  }
}
