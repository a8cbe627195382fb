// SPDX-License-Identifier: Apache-2.0
import Foundation
import VideoBitstream

/// Takes HEVC parameter sets and messages that come after a slice from their packet to the front of the next one, whose
/// they are: after the last slice of a picture they begin an access unit (H.265, 7.4.2.4.4).
///
/// Where several threads of libavcodec decode pictures after one another, each takes the parameter sets of the thread
/// before over once that has begun its picture. That thread frees what a set after its slices replaces, at the same time:
/// a file in which one stands there makes the other thread read, and keep, memory that is free. Its H.264 decoder waits
/// for such sets.
struct LateParameterSets {
  /// Bytes of the lengths before the units; nil: start codes.
  private var lengthSize: Int?
  private var held: [[UInt8]] = []

  /// - Parameter record: as libavcodec gets it.
  init(record: [UInt8]) { lengthSize = Self.lengthSize(record) }

  /// Of what follows. Its sets replace those that are held.
  mutating func change(to record: [UInt8]) {
    lengthSize = Self.lengthSize(record)
    held = []
  }

  /// How libavcodec reads a record: as an `hvcC` unless it begins as a byte stream does.
  private static func lengthSize(_ record: [UInt8]) -> Int? {
    guard record.count > 3, record[0] != 0 || record[1] != 0 || record[2] > 1 else { return nil }
    return record.count > 21 ? Int(record[21] & 3) + 1 : 4
  }

  /// - Returns: What to decode in the place of a packet; nil: the packet as it is.
  mutating func reorder(_ packet: UnsafeRawBufferPointer) -> [UInt8]? {
    var (units, late): ([Range<Int>], [Range<Int>]) = ([], [])
    var isAfterSlice = false
    func sort(_ unit: Range<Int>) {
      let type = HEVCNALUnitType(rawValue: NALCodec.hevc.unitType(packet[unit.lowerBound]))
      if isAfterSlice, type.isParameterSet || type == .prefixSEI {
        late.append(unit)
      } else {
        units.append(unit)
      }
      if type.isSlice { isAfterSlice = true }
    }
    var rest = packet.count..<packet.count
    if let lengthSize {
      let isWhole = LengthPrefix.forEachUnit(in: packet, lengthSize: lengthSize) { unit in
        sort(unit)
        return true
      }
      // What makes no sense is libavcodec's to refuse.
      if !isWhole { rest = max(units.last?.upperBound ?? 0, late.last?.upperBound ?? 0)..<packet.count }
    } else {
      ByteStream.forEachUnit(in: packet, sort)
    }
    guard !late.isEmpty || !held.isEmpty else { return nil }
    var result: [UInt8] = []
    result.reserveCapacity(packet.count + held.reduce(0) { $0 + $1.count + 4 })
    for unit in held { unit.withUnsafeBytes { append($0, to: &result) } }
    for unit in units { append(UnsafeRawBufferPointer(rebasing: packet[unit]), to: &result) }
    result += packet[rest]
    held = late.map { [UInt8](packet[$0]) }
    return result
  }

  private func append(_ unit: UnsafeRawBufferPointer, to result: inout [UInt8]) {
    guard let lengthSize else {
      result += [0, 0, 0, 1]
      result += unit
      return
    }
    // One that was held when the lengths were longer.
    guard LengthPrefix.fits(unit.count, lengthSize: lengthSize) else { return }
    for index in (0..<lengthSize).reversed() {
      result.append(UInt8(truncatingIfNeeded: unit.count >> (8 * index)))
    }
    result += unit
  }
}
