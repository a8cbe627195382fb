// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import VideoBitstream

/// Takes a byte stream of Annex B apart as it comes, in pieces of any size.
public struct AnnexBParser: Sendable {
  /// Bytes of the unit that has begun, with its start code; empty before the first start code but for zeros.
  private var pending = Data()
  /// How far `pending` was searched for the next start code.
  private var searched = 0
  private var hasStart = false

  public init() {}

  /// How many bytes wait to be complete.
  var pendingCount: Int { pending.count }

  /// Adds bytes and returns the NAL units that are complete now, without start codes.
  ///
  /// A unit is complete when the start code of the next one has come.
  public mutating func append(_ bytes: Data) -> [Data] {
    pending.append(bytes)
    return takeUnits(atEnd: false)
  }

  /// Returns the last NAL unit, which the end of the stream completes. The parser is as new after it.
  public mutating func finish() -> [Data] {
    defer { self = AnnexBParser() }
    return takeUnits(atEnd: true)
  }

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
      // Without a unit only the last two bytes can be of use, as the beginning of a start code.
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
