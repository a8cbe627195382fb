// SPDX-License-Identifier: Apache-2.0
import Foundation
import VideoBitstream

/// The parameter sets, and the size of the length field before each NAL unit: the content of `avcC`
/// and `hvcC`.
package struct DecoderConfiguration: Sendable, Equatable {
  package var codec: NALCodec
  /// The size of the length field in bytes: 1, 2 or 4.
  package var lengthSize: Int
  /// The parameter sets as NAL units, ordered by index: VPS (HEVC only), SPS, PPS and others.
  package var parameterSets: [Data]

  package init(codec: NALCodec, lengthSize: Int, parameterSets: [Data]) {
    self.codec = codec
    self.lengthSize = lengthSize
    self.parameterSets = parameterSets
  }

  // MARK: - H.264: ISO/IEC 14496-15, 5.3.3.1

  /// Parses an AVCDecoderConfigurationRecord.
  /// - Throws: `SyntaxError` if it is malformed.
  package init(avcC record: Data) throws {
    var reader = ByteReader(record)
    guard try reader.uint8() == 1 else { throw SyntaxError.invalid }
    _ = try reader.bytes(3)
    codec = .h264
    lengthSize = Int(try reader.uint8() & 3) + 1
    parameterSets = []
    for _ in 0..<(try reader.uint8() & 31) { parameterSets.append(try reader.unit()) }
    for _ in 0..<(try reader.uint8()) { parameterSets.append(try reader.unit()) }
    // The chroma format and the bit depths that follow in some profiles are also in the SPS.
    if reader.remaining >= 4 {
      _ = try reader.bytes(3)
      for _ in 0..<(try reader.uint8()) { parameterSets.append(try reader.unit()) }
    }
  }

  /// Returns an AVCDecoderConfigurationRecord.
  /// - Throws: `SyntaxError` if there is no SPS, or there are too many parameter sets.
  package func avcC() throws -> Data {
    let sequence = parameterSets.filter { [7, 15].contains($0.first.map { $0 & 31 }) }
    let picture = parameterSets.filter { $0.first.map { $0 & 31 } == 8 }
    let extensions = parameterSets.filter { $0.first.map { $0 & 31 } == 13 }
    guard let first = sequence.first, first.count >= 4, sequence.count <= 31, picture.count <= 255,
      extensions.count <= 255
    else { throw SyntaxError.invalid }
    let sps = try H264SequenceParameterSet(nalUnit: first)
    var record = Data([1])
    record.append(first.dropFirst().prefix(3))
    record.append(0xFC | UInt8(lengthSize - 1))
    record.append(0xE0 | UInt8(sequence.count))
    for unit in sequence { try record.append(unit: unit) }
    record.append(UInt8(picture.count))
    for unit in picture { try record.append(unit: unit) }
    if sps.hasChromaFormat {
      record.append(0xFC | UInt8(sps.chromaFormat))
      record.append(0xF8 | UInt8(sps.bitDepthLuma - 8))
      record.append(0xF8 | UInt8(sps.bitDepthChroma - 8))
      record.append(UInt8(extensions.count))
      for unit in extensions { try record.append(unit: unit) }
    }
    return record
  }

  // MARK: - HEVC: ISO/IEC 14496-15, 8.3.3.1

  /// Parses an HEVCDecoderConfigurationRecord.
  /// - Throws: `SyntaxError` if it is malformed.
  package init(hvcC record: Data) throws {
    var reader = ByteReader(record)
    // Version 0 was used by some writers before the standard was final.
    guard try reader.uint8() <= 1 else { throw SyntaxError.invalid }
    _ = try reader.bytes(20)
    codec = .hevc
    lengthSize = Int(try reader.uint8() & 3) + 1
    parameterSets = []
    for _ in 0..<(try reader.uint8()) {
      _ = try reader.uint8()
      for _ in 0..<(try reader.uint16()) { parameterSets.append(try reader.unit()) }
    }
  }

  /// Returns an HEVCDecoderConfigurationRecord.
  /// - Throws: `SyntaxError` if there is no SPS, or there are too many parameter sets.
  package func hvcC() throws -> Data {
    guard let first = parameterSets.first(where: { $0.first.map { $0 >> 1 & 63 } == 33 }) else {
      throw SyntaxError.invalid
    }
    let sps = try HEVCSequenceParameterSet(nalUnit: first)
    var record = Data([1])
    let profile = sps.profileTierLevel.profile
    record.append(UInt8(profile.space) << 6 | (profile.isHighTier ? 0x20 : 0) | UInt8(profile.idc))
    record.append(bigEndian: UInt32(truncatingIfNeeded: profile.compatibility))
    record.append(bigEndian: UInt16(truncatingIfNeeded: profile.constraints >> 32))
    record.append(bigEndian: UInt32(truncatingIfNeeded: profile.constraints))
    record.append(UInt8(sps.profileTierLevel.levelIDC))
    record.append(bigEndian: UInt16(0xF000))  // min_spatial_segmentation_idc: unknown
    record.append(0xFC)  // parallelismType: unknown
    record.append(0xFC | UInt8(sps.chromaFormat))
    record.append(0xF8 | UInt8(sps.bitDepthLuma - 8))
    record.append(0xF8 | UInt8(sps.bitDepthChroma - 8))
    record.append(bigEndian: UInt16(0))  // avgFrameRate: unknown
    record.append(UInt8(sps.subLayerCount << 3) | (sps.isTemporalNested ? 4 : 0) | UInt8(lengthSize - 1))
    var types: [UInt8] = []
    for unit in parameterSets {
      let type = unit.first.map { $0 >> 1 & 63 } ?? 0
      if !types.contains(type) { types.append(type) }
    }
    record.append(UInt8(types.count))
    for type in types {
      let units = parameterSets.filter { $0.first.map { $0 >> 1 & 63 } == type }
      guard units.count <= 65535 else { throw SyntaxError.invalid }
      record.append(0x80 | type)  // array_completeness
      record.append(bigEndian: UInt16(units.count))
      for unit in units { try record.append(unit: unit) }
    }
    return record
  }
}

extension ByteReader<Data> {
  /// Reads a NAL unit after its length of 16 bits.
  fileprivate mutating func unit() throws(SyntaxError) -> Data { Data(try bytes(Int(uint16()))) }
}

extension Data {
  /// Appends the length of a NAL unit in 16 bits, and the NAL unit.
  fileprivate mutating func append(unit: Data) throws {
    guard unit.count <= 65535 else { throw SyntaxError.invalid }
    append(bigEndian: UInt16(unit.count))
    append(unit)
  }
}
