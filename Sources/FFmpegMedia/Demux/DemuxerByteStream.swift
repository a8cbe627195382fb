// SPDX-License-Identifier: Apache-2.0
import Foundation
import VideoBitstream

// Byte streams of Annex B that libavformat gives: their parameter sets, and their samples with lengths.

extension NALCodec {
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
  func parameterSets(in data: Data) -> [Data] {
    var found: [(type: UInt8, unit: Data)] = []
    var known: Set<[UInt8]> = []
    data.withUnsafeBytes { bytes in
      ByteStream.forEachUnit(in: bytes) { range in
        let type = unitType(bytes[range.lowerBound])
        guard isParameterSet(type), found.count < Self.mostParameterSets else { return }
        let unit = [UInt8](bytes[range])
        if known.insert(unit).inserted { found.append((type, Data(unit))) }
      }
    }
    return parameterSetTypes.flatMap { type in found.filter { $0.type == type }.map(\.unit) }
  }

  /// The same NAL units with 4-byte big-endian lengths before them.
  ///
  /// Units in `dropping` (those that the format description holds already) and access unit delimiters are left out.
  /// Gives nil when the bytes hold no start code at all.
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

  /// A parameter set's own identifier; nil where it cannot be read.
  ///
  /// That of an HEVC sequence parameter set lies too deep to be worth a parse: a second one, whatever its identifier,
  /// is reason enough to keep all in the samples.
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
