// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import VideoBitstream

/// Splits a byte stream (Annex B) that arrives in pieces of any size into NAL units.
public struct AnnexBParser: Sendable {
  /// The bytes of the NAL unit that has begun. Before the first start code, at most the last two
  /// bytes, which may belong to a start code.
  private var pending = Data()
  /// The offset in `pending` up to which it contains no start code.
  private var searched = 0
  /// Whether `pending` begins with a NAL unit.
  private var hasStart = false

  /// Creates a parser at the start of a stream.
  public init() {}

  /// The number of bytes of the incomplete NAL unit.
  var pendingCount: Int { pending.count }

  /// Adds bytes, and returns the NAL units that are complete now, without start codes.
  ///
  /// A NAL unit is complete when the start code of the next one has arrived.
  /// - Parameter bytes: the next bytes of the stream, of any number.
  public mutating func append(_ bytes: Data) -> [Data] {
    pending.append(bytes)
    return takeUnits(atEnd: false)
  }

  /// Returns the last NAL unit, which ends with the stream, and resets the parser. The result is
  /// empty if there is none.
  public mutating func finish() -> [Data] {
    defer { self = AnnexBParser() }
    return takeUnits(atEnd: true)
  }

  /// Removes the complete NAL units from `pending`; with `atEnd` also the last one.
  private mutating func takeUnits(atEnd: Bool) -> [Data] {
    var units: [Data] = []
    var unitStart = hasStart ? 0 : nil as Int?
    let count = pending.count
    let rest = pending.withUnsafeBytes { bytes -> Int in
      var position = searched
      while let code = ByteStream.nextStartCode(in: bytes, from: position) {
        if let start = unitStart { Self.append(bytes, start..<code, to: &units) }
        unitStart = code + 3
        position = code + 3
      }
      if atEnd, let start = unitStart { Self.append(bytes, start..<bytes.count, to: &units) }
      // Before the first NAL unit only the last two bytes are kept, which may begin a start code.
      return unitStart ?? max(0, count - 2)
    }
    hasStart = unitStart != nil
    pending = rest == 0 ? pending : Data(pending.suffix(count - rest))
    searched = max(0, pending.count - 2)
    return units
  }

  private static func append(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, to units: inout [Data]) {
    let unit = ByteStream.trimmed(range, of: bytes)
    if !unit.isEmpty { units.append(Data(UnsafeRawBufferPointer(rebasing: bytes[unit]))) }
  }
}
