// SPDX-License-Identifier: Apache-2.0
/// The codecs whose streams consist of NAL units, and the syntax that they share.
package enum NALCodec: Hashable, Sendable {
  case h264
  case hevc

  /// The size of a NAL unit header in bytes.
  package var headerLength: Int { self == .h264 ? 1 : 2 }

  /// Returns nal_unit_type, 0...31 in H.264 and 0...63 in HEVC.
  /// - Parameter first: the first byte of the NAL unit.
  package func unitType(_ first: UInt8) -> UInt8 { self == .h264 ? first & 31 : first >> 1 & 63 }

  /// Whether a nal_unit_type is that of a parameter set that every decoder needs: a video, sequence
  /// or picture parameter set.
  package func isParameterSet(_ type: UInt8) -> Bool {
    self == .h264
      ? H264NALUnitType(rawValue: type).isParameterSet : HEVCNALUnitType(rawValue: type).isParameterSet
  }

  /// Whether a nal_unit_type is that of a slice or of a data partition of one.
  package func isSlice(_ type: UInt8) -> Bool {
    self == .h264 ? H264NALUnitType(rawValue: type).isSlice : HEVCNALUnitType(rawValue: type).isSlice
  }

  /// Whether a nal_unit_type is that of a picture after which, in decoding order, no picture refers
  /// to one before it.
  package func closesReferences(_ type: UInt8) -> Bool {
    self == .h264
      ? type == H264NALUnitType.idrSlice.rawValue : HEVCNALUnitType(rawValue: type).closesReferences
  }

  /// Whether a nal_unit_type is that of an access unit delimiter.
  package func isAccessUnitDelimiter(_ type: UInt8) -> Bool {
    type
      == (self == .h264
        ? H264NALUnitType.accessUnitDelimiter.rawValue : HEVCNALUnitType.accessUnitDelimiter.rawValue)
  }

  /// The nal_unit_types of parameter sets in the order of the standard: video (HEVC only),
  /// sequence, picture.
  package var parameterSetTypes: [UInt8] {
    self == .h264
      ? [H264NALUnitType.sequenceParameterSet, .pictureParameterSet].map(\.rawValue)
      : [HEVCNALUnitType.videoParameterSet, .sequenceParameterSet, .pictureParameterSet].map(\.rawValue)
  }
}
