import CFFmpeg
import Foundation

/// Start-code byte streams: finding NAL units and turning them into length-prefixed ones.
package enum AnnexB {
  /// Calls `body` with each NAL unit's bytes, without start codes and trailing zeros.
  package static func forEachUnit(
    in bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    guard let base = bytes.baseAddress else { return }
    var start = nextStartCode(base, from: 0, count: bytes.count)
    while let code = start {
      let begin = code + 3
      let next = nextStartCode(base, from: begin, count: bytes.count)
      var end = next ?? bytes.count
      // A zero before the next start code belongs to that code; further ones are trailing_zero_8bits.
      while end > begin, base.load(fromByteOffset: end - 1, as: UInt8.self) == 0 { end -= 1 }
      if end > begin { body(UnsafeRawBufferPointer(start: base + begin, count: end - begin)) }
      start = next
    }
  }

  /// The offset of the next 00 00 01.
  private static func nextStartCode(_ base: UnsafeRawPointer, from: Int, count: Int) -> Int? {
    var at = from + 2
    while at < count, let hit = memchr(base + at, 1, count - at) {
      let position = UnsafeRawPointer(hit) - base
      if base.load(fromByteOffset: position - 1, as: UInt8.self) == 0,
        base.load(fromByteOffset: position - 2, as: UInt8.self) == 0
      {
        return position - 2
      }
      at = position + 1
    }
    return nil
  }

  package static func unitType(_ unit: UnsafeRawBufferPointer, isHEVC: Bool) -> UInt8 {
    isHEVC ? (unit[0] >> 1) & 0x3F : unit[0] & 0x1F
  }

  package static func isParameterSet(_ type: UInt8, isHEVC: Bool) -> Bool {
    isHEVC ? (32...34).contains(type) : type == 7 || type == 8
  }

  /// Parameter sets that are kept of a stream; H.264 has numbers for 288 at a time. A stream with more keeps its own in
  /// the samples.
  static let mostParameterSets = 512

  /// Whether one of the sets has these bytes.
  static func contains(_ sets: [Data], _ unit: UnsafeRawBufferPointer) -> Bool {
    guard let base = unit.baseAddress else { return false }
    return sets.contains { set in
      set.count == unit.count
        && set.withUnsafeBytes { $0.baseAddress.map { memcmp($0, base, unit.count) == 0 } ?? false }
    }
  }

  /// Parameter sets in the order of the standard (VPS, SPS, PPS), each content once.
  package static func parameterSets(in data: Data, isHEVC: Bool) -> [Data] {
    var found: [(type: UInt8, unit: Data)] = []
    data.withUnsafeBytes { bytes in
      forEachUnit(in: bytes) { unit in
        let type = unitType(unit, isHEVC: isHEVC)
        if isParameterSet(type, isHEVC: isHEVC) {
          let unit = Data(unit)
          if found.count < mostParameterSets, !found.contains(where: { $0.unit == unit }) {
            found.append((type, unit))
          }
        }
      }
    }
    let order = isHEVC ? [32, 33, 34] : [7, 8] as [UInt8]
    return order.flatMap { type in found.filter { $0.type == type }.map(\.unit) }
  }

  /// The same NAL units with 4-byte big-endian lengths before them.
  ///
  /// Units in `dropping` (those that the format description holds already) and access unit delimiters are left out.
  /// Gives nil when the bytes hold no start code at all.
  static func lengthPrefixed(
    _ bytes: UnsafeRawBufferPointer, isHEVC: Bool, dropping known: [Data]
  ) -> MediaPacket? {
    var units: [UnsafeRawBufferPointer] = []
    var size = 0
    var found = false
    forEachUnit(in: bytes) { unit in
      found = true
      let type = unitType(unit, isHEVC: isHEVC)
      if type == (isHEVC ? 35 : 9) { return }
      if isParameterSet(type, isHEVC: isHEVC), contains(known, unit) { return }
      units.append(unit)
      size += 4 + unit.count
    }
    guard found, let packet = MediaPacket(size: size) else { return nil }
    guard var to = packet.bytes.baseAddress else { return packet }
    for unit in units {
      to.storeBytes(of: UInt32(unit.count).bigEndian, as: UInt32.self)
      if let from = unit.baseAddress { memcpy(to + 4, from, unit.count) }
      to += 4 + unit.count
    }
    return packet
  }
}
