// SPDX-License-Identifier: Apache-2.0
/// nal_unit_type of H.264 (Table 7-1).
package struct H264NALUnitType: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let slice = Self(rawValue: 1)
  package static let dataPartitionA = Self(rawValue: 2)
  package static let idrSlice = Self(rawValue: 5)
  package static let sei = Self(rawValue: 6)
  package static let sequenceParameterSet = Self(rawValue: 7)
  package static let pictureParameterSet = Self(rawValue: 8)
  package static let accessUnitDelimiter = Self(rawValue: 9)
  package static let fillerData = Self(rawValue: 12)
  package static let sequenceParameterSetExtension = Self(rawValue: 13)
  package static let prefix = Self(rawValue: 14)
  package static let subsetSequenceParameterSet = Self(rawValue: 15)

  /// Whether the unit is a sequence or picture parameter set.
  package var isParameterSet: Bool { self == .sequenceParameterSet || self == .pictureParameterSet }
  /// Whether the unit is a slice or a data partition of one.
  package var isSlice: Bool { 1...5 ~= rawValue }
  /// Whether the unit begins with a slice header. Partitions B and C do not.
  package var hasSliceHeader: Bool { self == .slice || self == .dataPartitionA || self == .idrSlice }
  /// Whether the unit begins a new access unit where it follows the last slice of a picture
  /// (7.4.1.2.3).
  package var beginsAccessUnit: Bool { 6...9 ~= rawValue || 14...18 ~= rawValue }
}

/// The first byte of a NAL unit (7.3.1).
package struct H264NALUnitHeader: Hashable, Sendable {
  /// nal_ref_idc, 0...3; 0: no picture refers to it.
  package var refIDC: UInt8
  package var type: H264NALUnitType

  package init(refIDC: UInt8, type: H264NALUnitType) {
    self.refIDC = refIDC
    self.type = type
  }

  /// Reads the byte; nil if forbidden_zero_bit is set.
  package init?(byte: UInt8) {
    guard byte & 0x80 == 0 else { return nil }
    refIDC = byte >> 5
    type = H264NALUnitType(rawValue: byte & 31)
  }

  package var byte: UInt8 { refIDC << 5 | type.rawValue }
}
