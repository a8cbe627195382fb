// SPDX-License-Identifier: Apache-2.0
/// nal_unit_type of HEVC (Table 7-1).
package struct HEVCNALUnitType: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let trailN = Self(rawValue: 0)
  package static let trailR = Self(rawValue: 1)
  package static let raslN = Self(rawValue: 8)
  package static let raslR = Self(rawValue: 9)
  package static let idrWithRADL = Self(rawValue: 19)
  package static let idrWithoutLeading = Self(rawValue: 20)
  package static let cra = Self(rawValue: 21)
  package static let videoParameterSet = Self(rawValue: 32)
  package static let sequenceParameterSet = Self(rawValue: 33)
  package static let pictureParameterSet = Self(rawValue: 34)
  package static let accessUnitDelimiter = Self(rawValue: 35)
  package static let endOfSequence = Self(rawValue: 36)
  package static let endOfBitstream = Self(rawValue: 37)
  package static let fillerData = Self(rawValue: 38)
  package static let prefixSEI = Self(rawValue: 39)
  package static let suffixSEI = Self(rawValue: 40)

  /// Whether the unit is a video, sequence or picture parameter set.
  package var isParameterSet: Bool { 32...34 ~= rawValue }
  /// Whether the unit is a slice segment (or of a reserved type of one).
  package var isSlice: Bool { rawValue < 32 }
  /// Whether the picture is an intra random access point (IRAP).
  package var isIRAP: Bool { 16...23 ~= rawValue }
  package var isIDR: Bool { self == .idrWithRADL || self == .idrWithoutLeading }
  /// Whether the picture is a broken link access (BLA) picture.
  package var isBLA: Bool { 16...18 ~= rawValue }
  /// Whether no picture after this one in decoding order refers to one before it: BLA or IDR.
  package var closesReferences: Bool { 16...20 ~= rawValue }
  /// Whether the picture is a leading picture: RADL or RASL.
  package var isLeading: Bool { 6...9 ~= rawValue }
  /// Whether no picture of the same temporal sub-layer refers to this one.
  package var isSubLayerNonReference: Bool { rawValue <= 14 && rawValue % 2 == 0 }
  /// Whether the unit begins a new access unit where it follows the last slice segment of a picture
  /// (7.4.2.4.4).
  package var beginsAccessUnit: Bool {
    32...35 ~= rawValue || self == .prefixSEI || 41...44 ~= rawValue || 48...55 ~= rawValue
  }
}

/// nal_unit_header() of HEVC (7.3.1.2): two bytes.
package struct HEVCNALUnitHeader: Hashable, Sendable {
  package var type: HEVCNALUnitType
  /// nuh_layer_id, 0...63; 0: the base layer.
  package var layerID: UInt8 = 0
  /// nuh_temporal_id_plus1 - 1, 0...6.
  package var temporalID: UInt8 = 0

  package init(type: HEVCNALUnitType, layerID: UInt8 = 0, temporalID: UInt8 = 0) {
    self.type = type
    self.layerID = layerID
    self.temporalID = temporalID
  }

  /// Reads the header of a NAL unit; nil if the unit is too short or the header is invalid.
  package init?<Bytes: Collection<UInt8>>(of unit: Bytes) {
    guard let first = unit.first, let second = unit.dropFirst().first else { return nil }
    guard first & 0x80 == 0, second & 7 > 0 else { return nil }
    type = HEVCNALUnitType(rawValue: first >> 1 & 63)
    layerID = (first & 1) << 5 | second >> 3
    temporalID = (second & 7) - 1
  }

  package var bytes: [UInt8] { [codedBytes.0, codedBytes.1] }

  /// The two bytes of the header.
  package var codedBytes: (UInt8, UInt8) {
    (type.rawValue << 1 | layerID >> 5 & 1, layerID << 3 | (temporalID + 1))
  }
}
