// SPDX-License-Identifier: Apache-2.0
import Foundation
import VideoBitstream

// Annex B byte streams as libavformat returns them: their parameter sets, and conversion to
// length-prefixed samples.

extension NALCodec {
  /// The most parameter sets that are kept of a stream. H.264 has 288 identifiers. The samples of a
  /// stream with more keep their own.
  static let maxParameterSets = 512

  /// Whether one of the parameter sets has exactly these bytes.
  static func contains(_ sets: [Data], _ unit: UnsafeRawBufferPointer) -> Bool {
    guard let base = unit.baseAddress else { return false }
    return sets.contains { set in
      set.count == unit.count
        && set.withUnsafeBytes { $0.baseAddress.map { memcmp($0, base, unit.count) == 0 } ?? false }
    }
  }

  /// The parameter sets in some data, by type in the order VPS, SPS, PPS, without duplicates.
  func parameterSets(in data: Data) -> [Data] {
    var found: [(type: UInt8, unit: Data)] = []
    var known: Set<[UInt8]> = []
    data.withUnsafeBytes { bytes in
      ByteStream.forEachUnit(in: bytes) { range in
        let type = unitType(bytes[range.lowerBound])
        guard isParameterSet(type), found.count < Self.maxParameterSets else { return }
        let unit = [UInt8](bytes[range])
        if known.insert(unit).inserted { found.append((type, Data(unit))) }
      }
    }
    return parameterSetTypes.flatMap { type in found.filter { $0.type == type }.map(\.unit) }
  }

  /// Converts Annex B data to NAL units behind 4-byte big-endian lengths (ISO/IEC 14496-15).
  ///
  /// Access unit delimiters are left out, and parameter sets that the format description has
  /// already.
  /// - Parameters:
  ///   - bytes: An access unit with start codes.
  ///   - known: Parameter sets to be left out.
  /// - Returns: nil if the bytes have no start code, or if memory runs out.
  func lengthPrefixed(_ bytes: UnsafeRawBufferPointer, dropping known: [Data]) -> MediaPacket? {
    var units: [UnsafeRawBufferPointer] = []
    var size = 0
    var found = false
    ByteStream.forEachUnit(in: bytes) { range in
      found = true
      let unit = UnsafeRawBufferPointer(rebasing: bytes[range])
      let type = unitType(unit[0])
      if isAccessUnitDelimiter(type) { return }
      if isParameterSet(type), Self.contains(known, unit) { return }
      units.append(unit)
      size += 4 + unit.count
    }
    guard found, let packet = MediaPacket(size: size) else { return nil }
    guard var to = packet.bytes.baseAddress else { return packet }
    for unit in units {
      LengthPrefix.write(unit.count, lengthSize: 4, to: to)
      if let from = unit.baseAddress { memcpy(to + 4, from, unit.count) }
      to += 4 + unit.count
    }
    return packet
  }

  /// The identifier of a parameter set; nil where it cannot be parsed.
  ///
  /// For an HEVC sequence parameter set it is always 0: its identifier comes after the profile and
  /// level, and parsing these would cost too much. Two of them then count as a conflict, whatever
  /// their identifiers, and all parameter sets stay in the samples.
  func parameterSetIdentifier(_ set: Data, type: UInt8) -> Int? {
    if self == .hevc, type == HEVCNALUnitType.sequenceParameterSet.rawValue { return 0 }
    return BitReader.read(set, headerLength: headerLength) { reader in
      let id: Int
      if self == .hevc, type == HEVCNALUnitType.videoParameterSet.rawValue {
        id = reader.u(4)
      } else {
        if self == .h264, type == H264NALUnitType.sequenceParameterSet.rawValue { reader.skip(24) }
        id = reader.ue()
      }
      return reader.failure == nil ? id : nil
    }
  }
}
