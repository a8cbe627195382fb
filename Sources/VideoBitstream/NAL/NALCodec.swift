// SPDX-License-Identifier: Apache-2.0
/// The codecs whose streams are NAL units, and what they have in common.
package enum NALCodec: Hashable, Sendable {
  case h264
  case hevc

  /// Bytes of the header of a NAL unit.
  package var headerLength: Int { self == .h264 ? 1 : 2 }

  /// nal_unit_type, 0...31 in H.264 and 0...63 in HEVC, from the first byte of a NAL unit.
  package func unitType(_ first: UInt8) -> UInt8 { self == .h264 ? first & 31 : first >> 1 & 63 }

  /// A video, sequence or picture parameter set that a decoder cannot do without.
  package func isParameterSet(_ type: UInt8) -> Bool {
    self == .h264
      ? H264NALUnitType(rawValue: type).isParameterSet : HEVCNALUnitType(rawValue: type).isParameterSet
  }

  /// A slice of a picture, or a partition of one.
  package func isSlice(_ type: UInt8) -> Bool {
    self == .h264 ? H264NALUnitType(rawValue: type).isSlice : HEVCNALUnitType(rawValue: type).isSlice
  }

  /// A slice of a picture after which no other refers to one before it.
  package func closesReferences(_ type: UInt8) -> Bool {
    self == .h264
      ? type == H264NALUnitType.idrSlice.rawValue : HEVCNALUnitType(rawValue: type).closesReferences
  }

  package func isAccessUnitDelimiter(_ type: UInt8) -> Bool {
    type
      == (self == .h264
        ? H264NALUnitType.accessUnitDelimiter.rawValue : HEVCNALUnitType.accessUnitDelimiter.rawValue)
  }

  /// The types of parameter sets in the order in which the standard has them.
  package var parameterSetTypes: [UInt8] {
    self == .h264
      ? [H264NALUnitType.sequenceParameterSet, .pictureParameterSet].map(\.rawValue)
      : [HEVCNALUnitType.videoParameterSet, .sequenceParameterSet, .pictureParameterSet].map(\.rawValue)
  }
}
