// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The channel layout in the value of `AVChannelLayoutKey`: an `AudioChannelLayout` in `Data`.
struct ChannelLayoutSetting {
  let channels: Int

  /// The layout tags with more than two channels whose channel order is that of the codecs.
  private static let orders: Set<UInt32> = [
    // MPEG 5.0 A and 5.1 A: L R C (LFE) Ls Rs, the order of WAVE files
    117 << 16 | 5, 121 << 16 | 6,
  ]
  /// In AAC each number of channels has a single order, that of ISO/IEC 14496-3, table 1.19.
  private static let coded: Set<UInt32> = [
    116 << 16 | 4, 120 << 16 | 5, 124 << 16 | 6,  // MPEG 4.0 B, 5.0 D, 5.1 D: C first
  ]

  /// Parses the value.
  /// - Parameters:
  ///   - value: The value of `AVChannelLayoutKey`.
  ///   - isCoded: Whether the audio is AAC.
  ///   - number: The value of `AVNumberOfChannelsKey`, if it is given.
  /// - Throws: `AVError.Code.unsupportedOutputSettings` if the value is not a layout, contradicts
  ///   `number`, or names a layout that is not supported.
  init(_ value: Any, isCoded: Bool, number: Int?) throws {
    func configurationError(_ reason: String) -> AVError {
      AVError(
        .unsupportedOutputSettings, reason: reason,
        advice: "Use a layout of mono or stereo, or of 5.0 or 5.1 in the format's own order.")
    }
    guard let data = value as? Data, data.count >= 12 else {
      throw configurationError("The channel layout is not an AudioChannelLayout in Data.")
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
      // L and R; C alone; 5.0 and 5.1.
      guard let count = [0x3: 2, 0x4: 1, 0x37: 5, 0x3F: 6][bitmap] else {
        throw configurationError("The channels of the layout are not possible.")
      }
      channels = count
    case kAudioChannelLayoutTag_UseChannelDescriptions:
      let labels = try (0..<Int(min(descriptions, 8))).map { index -> UInt32 in
        guard data.count >= 12 + 20 * (index + 1) else {
          throw configurationError("The channel layout is cut short.")
        }
        return data.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 12 + 20 * index, as: UInt32.self) }
      }
      // The labels are L and R; C; or mono.
      guard labels == [1, 2] || labels == [3] || labels == [42] else {
        throw configurationError("The channels of the layout are not possible.")
      }
      channels = labels.count
    default:
      // The lower 16 bits of a tag are the number of channels. The upper ones are 0xFFFF or 147 if
      // the channels may have any order.
      let count = Int(tag & 0xFFFF)
      let isAny = tag >> 16 == 0xFFFF || tag >> 16 == 147
      let isStandard = tag == kAudioChannelLayoutTag_Mono || (101...106).contains(tag >> 16) && count == 2
      guard (1...8).contains(count),
        isAny || isStandard || Self.orders.contains(tag) || isCoded && Self.coded.contains(tag)
      else { throw configurationError("The channel layout is not possible.") }
      channels = count
    }
    guard number ?? channels == channels else {
      throw configurationError("The channel layout has another number of channels than the settings.")
    }
  }
}
