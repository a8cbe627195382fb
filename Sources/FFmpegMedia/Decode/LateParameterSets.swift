// SPDX-License-Identifier: Apache-2.0
import Foundation
import VideoBitstream

/// Moves HEVC parameter sets and prefix SEI messages that come after a slice from their packet to
/// the beginning of the next one, to which they belong: after the last slice of a picture they
/// begin a new access unit (H.265, 7.4.2.4.4).
///
/// With frame threads, each thread of libavcodec copies the parameter sets of the previous thread
/// as soon as that one has begun its picture. If a parameter set follows the slices of that
/// picture, the previous thread frees the set that it replaces while it is copied, so that the next
/// thread reads and keeps freed memory. libavcodec's H.264 decoder waits for such parameter sets.
struct LateParameterSets {
  /// The size in bytes of the length before each NAL unit; nil if the stream has start codes.
  private var lengthSize: Int?
  /// The NAL units that are to be inserted before those of the next packet.
  private var held: [[UInt8]] = []

  /// Creates an instance without held NAL units.
  /// - Parameter record: The configuration record as it is given to libavcodec.
  init(record: [UInt8]) { lengthSize = Self.lengthSize(record) }

  /// Sets the configuration record of the following packets. Its parameter sets replace those that
  /// are held.
  mutating func change(to record: [UInt8]) {
    lengthSize = Self.lengthSize(record)
    held = []
  }

  /// Returns the value of `lengthSize` for a configuration record. The record is parsed as
  /// libavcodec does: as `hvcC` unless it begins like a byte stream.
  private static func lengthSize(_ record: [UInt8]) -> Int? {
    guard record.count > 3, record[0] != 0 || record[1] != 0 || record[2] > 1 else { return nil }
    return record.count > 21 ? Int(record[21] & 3) + 1 : 4
  }

  /// Inserts the NAL units held from the previous packet, and removes and holds those that belong
  /// to the next one.
  /// - Returns: The bytes to be decoded instead of the packet; nil if the packet needs no change.
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
      // Invalid data at the end is kept, for libavcodec to reject.
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

  /// Appends a NAL unit with its start code or length.
  private func append(_ unit: UnsafeRawBufferPointer, to result: inout [UInt8]) {
    guard let lengthSize else {
      result += [0, 0, 0, 1]
      result += unit
      return
    }
    // A unit that was held may be too long for a shorter length field.
    guard LengthPrefix.fits(unit.count, lengthSize: lengthSize) else { return }
    for index in (0..<lengthSize).reversed() {
      result.append(UInt8(truncatingIfNeeded: unit.count >> (8 * index)))
    }
    result += unit
  }
}
