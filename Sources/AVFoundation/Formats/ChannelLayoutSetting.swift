// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The channels that `AVChannelLayoutKey` asks for: an `AudioChannelLayout` in `Data`.
struct ChannelLayoutSetting {
  let channels: Int

  /// Orders in which the codecs here take and give more than two channels.
  private static let orders: Set<UInt32> = [
    117 << 16 | 5, 121 << 16 | 6,  // MPEG 5.0 A and 5.1 A: L R C (LFE) Ls Rs, as WAVE files have it
  ]
  /// In AAC a number of channels has one order only, that of the standard (ISO/IEC 14496-3, table 1.19).
  private static let coded: Set<UInt32> = [
    116 << 16 | 4, 120 << 16 | 5, 124 << 16 | 6,  // MPEG 4.0 B, 5.0 D, 5.1 D: C first
  ]

  /// - Parameters:
  ///   - isCoded: The sound is AAC.
  ///   - number: What `AVNumberOfChannelsKey` says.
  /// - Throws: `AVError.unsupportedOutputSettings` for another value than a layout, one that contradicts the number, or
  ///   one that sound cannot be brought into here.
  init(_ value: Any, isCoded: Bool, number: Int?) throws {
    func complain(_ reason: String) -> AVError {
      AVError(
        .unsupportedOutputSettings, reason: reason,
        advice: "Use a layout of mono or stereo, or of 5.0 or 5.1 in the format's own order.")
    }
    guard let data = value as? Data, data.count >= 12 else {
      throw complain("The channel layout is no AudioChannelLayout in Data.")
    }
    let (tag, bitmap, descriptions) = data.withUnsafeBytes { bytes in
      (
        bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self),
        bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self),
        bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self)
      )
    }
    switch tag {
    case kAudioChannelLayoutTag_UseChannelBitmap:
      // Left and right, the centre alone, 5.0 and 5.1.
      guard let count = [0x3: 2, 0x4: 1, 0x37: 5, 0x3F: 6][bitmap] else {
        throw complain("The channels of the layout are not possible.")
      }
      channels = count
    case kAudioChannelLayoutTag_UseChannelDescriptions:
      let labels = try (0..<Int(min(descriptions, 8))).map { index -> UInt32 in
        guard data.count >= 12 + 20 * (index + 1) else { throw complain("The channel layout is cut short.") }
        return data.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 12 + 20 * index, as: UInt32.self) }
      }
      // Mono or the centre; left and right.
      guard labels == [1, 2] || labels == [3] || labels == [42] else {
        throw complain("The channels of the layout are not possible.")
      }
      channels = labels.count
    default:
      // The lower half of a tag is the number of channels. 0xFFFF, 147: any order.
      let count = Int(tag & 0xFFFF)
      let isAny = tag >> 16 == 0xFFFF || tag >> 16 == 147
      let isUsual = tag == kAudioChannelLayoutTag_Mono || (101...106).contains(tag >> 16) && count == 2
      guard (1...8).contains(count),
        isAny || isUsual || Self.orders.contains(tag) || isCoded && Self.coded.contains(tag)
      else { throw complain("The channel layout is not possible.") }
      channels = count
    }
    guard number ?? channels == channels else {
      throw complain("The channel layout has another number of channels than the settings.")
    }
  }
}
