// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import VideoBitstream

/// The decoder configuration record of a format description (ISO/IEC 14496-15: 5.3.3.1 for H.264,
/// 8.3.3.1 for HEVC), whose level can be raised.
struct ConfigurationRecord {
  /// The name of its atom: `avcC` or `hvcC`.
  let atom: String
  /// Its bytes.
  private(set) var bytes: [UInt8]

  private var isHEVC: Bool { atom == "hvcC" }

  /// Nil if the format is of another codec, or has no record.
  init?(_ format: CMFormatDescription) {
    let atoms =
      CMFormatDescriptionGetExtension(
        format, extensionKey: kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms) as? [String: Any]
    switch CMFormatDescriptionGetMediaSubType(format) {
    case kCMVideoCodecType_H264: atom = "avcC"
    case kCMVideoCodecType_HEVC: atom = "hvcC"
    default: return nil
    }
    guard let record = atoms?[atom] as? Data, record.count > (atom == "hvcC" ? 22 : 6) else { return nil }
    bytes = [UInt8](record)
  }

  /// level_idc or general_level_idc.
  var level: UInt8 { bytes[isHEVC ? 12 : 3] }
  /// general_tier_flag of HEVC. Every stream of the Main tier is one of the High tier at levels
  /// that have one (A.4.1).
  var isHighTier: Bool { isHEVC && bytes[1] & Self.tierBit != 0 }

  private static let tierBit: UInt8 = 0x20

  /// Returns the record with another level and tier, in the record itself and in its parameter
  /// sets; nil if it is malformed.
  func raised(level: UInt8, isHighTier: Bool) -> Self? {
    var result = self
    let isDone = isHEVC ? result.raiseHEVC(level, isHighTier) : result.raiseH264(level)
    return isDone ? result : nil
  }

  /// Each sequence parameter set has the level in its fourth byte.
  private mutating func raiseH264(_ level: UInt8) -> Bool {
    bytes[3] = level
    var position = 6
    for _ in 0..<Int(bytes[5] & 31) {
      guard let length = length(at: position), length > 3 else { return false }
      bytes[position + 5] = level
      position += 2 + length
    }
    return true
  }

  /// Video and sequence parameter sets have profile_tier_level() (7.3.3) in their payload.
  private mutating func raiseHEVC(_ level: UInt8, _ isHighTier: Bool) -> Bool {
    func set(_ tier: inout UInt8) { tier = tier & ~Self.tierBit | (isHighTier ? Self.tierBit : 0) }
    set(&bytes[1])
    bytes[12] = level
    var position = 23
    for _ in 0..<Int(bytes[22]) {
      guard position + 3 <= bytes.count else { return false }
      let type = bytes[position] & 63
      let count = Int(bytes[position + 1]) << 8 | Int(bytes[position + 2])
      position += 3
      for _ in 0..<count {
        guard let length = length(at: position) else { return false }
        let range = position + 2..<position + 2 + length
        // The bytes of the payload before it: 32 bits in video parameter sets, 8 in others.
        let start = type == 32 ? 4 : type == 33 ? 1 : nil
        if let start {
          var payload = EmulationPrevention.removing(from: bytes[range].dropFirst(2))
          guard payload.count > start + 11 else { return false }
          set(&payload[start])
          payload[start + 11] = level
          let unit = EmulationPrevention.adding(
            header: Array(bytes[range].prefix(2)), payload: payload)
          // Emulation prevention bytes stay where they are: the level is above 3, and no zeros
          // precede the tier.
          guard unit.count == length else { return false }
          bytes.replaceSubrange(range, with: unit)
        }
        position += 2 + length
      }
    }
    return true
  }

  /// The length of a parameter set whose length field is at a position; nil if it is not all there.
  private func length(at position: Int) -> Int? {
    guard position + 2 <= bytes.count else { return nil }
    let length = Int(bytes[position]) << 8 | Int(bytes[position + 1])
    return position + 2 + length <= bytes.count ? length : nil
  }
}
