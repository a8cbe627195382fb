// SPDX-License-Identifier: Apache-2.0
import CoreMedia

extension ManagedAudioChannelLayout {
  /// The label of each channel in the order of the stream, or nil if the layout does not define
  /// them.
  package var channelLabels: [AudioChannelLabel]? {
    switch tag {
    case kAudioChannelLayoutTag_UseChannelDescriptions:
      let labels = channelDescriptions.map(\.mChannelLabel)
      return labels.isEmpty ? nil : labels
    case kAudioChannelLayoutTag_UseChannelBitmap:
      // Bit n stands for label n + 1.
      return (0..<18).filter { bitmap.rawValue & 1 << UInt32($0) != 0 }.map { AudioChannelLabel($0 + 1) }
    default: return Self.labels[tag]
    }
  }

  private static let labels: [AudioChannelLayoutTag: [AudioChannelLabel]] = [
    kAudioChannelLayoutTag_Mono: [kAudioChannelLabel_Center],
    kAudioChannelLayoutTag_Stereo: [kAudioChannelLabel_Left, kAudioChannelLabel_Right],
    kAudioChannelLayoutTag_StereoHeadphones: [1, 2],
    kAudioChannelLayoutTag_Binaural: [1, 2],
    kAudioChannelLayoutTag_Quadraphonic: [1, 2, 5, 6],
    kAudioChannelLayoutTag_Pentagonal: [1, 2, 5, 6, 3],
    kAudioChannelLayoutTag_Hexagonal: [1, 2, 5, 6, 3, 9],
    kAudioChannelLayoutTag_MPEG_3_0_A: [1, 2, 3],
    kAudioChannelLayoutTag_MPEG_3_0_B: [3, 1, 2],
    kAudioChannelLayoutTag_MPEG_4_0_A: [1, 2, 3, 9],
    kAudioChannelLayoutTag_MPEG_4_0_B: [3, 1, 2, 9],
    kAudioChannelLayoutTag_MPEG_5_0_A: [1, 2, 3, 5, 6],
    kAudioChannelLayoutTag_MPEG_5_0_B: [1, 2, 5, 6, 3],
    kAudioChannelLayoutTag_MPEG_5_0_C: [1, 3, 2, 5, 6],
    kAudioChannelLayoutTag_MPEG_5_0_D: [3, 1, 2, 5, 6],
    kAudioChannelLayoutTag_MPEG_5_1_A: [1, 2, 3, 4, 5, 6],
    kAudioChannelLayoutTag_MPEG_5_1_B: [1, 2, 5, 6, 3, 4],
    kAudioChannelLayoutTag_MPEG_5_1_C: [1, 3, 2, 5, 6, 4],
    kAudioChannelLayoutTag_MPEG_5_1_D: [3, 1, 2, 5, 6, 4],
    kAudioChannelLayoutTag_MPEG_6_1_A: [1, 2, 3, 4, 5, 6, 9],
    kAudioChannelLayoutTag_MPEG_7_1_A: [1, 2, 3, 4, 5, 6, 7, 8],
    kAudioChannelLayoutTag_MPEG_7_1_B: [3, 7, 8, 1, 2, 5, 6, 4],
    kAudioChannelLayoutTag_MPEG_7_1_C: [1, 2, 3, 4, 5, 6, 33, 34],
    kAudioChannelLayoutTag_Emagic_Default_7_1: [1, 2, 5, 6, 3, 4, 7, 8],
    kAudioChannelLayoutTag_ITU_2_1: [1, 2, 9],
    kAudioChannelLayoutTag_ITU_2_2: [1, 2, 5, 6],
    kAudioChannelLayoutTag_DVD_4: [1, 2, 4],
    kAudioChannelLayoutTag_DVD_5: [1, 2, 4, 9],
    kAudioChannelLayoutTag_DVD_6: [1, 2, 4, 5, 6],
    kAudioChannelLayoutTag_DVD_10: [1, 2, 3, 4],
    kAudioChannelLayoutTag_DVD_11: [1, 2, 3, 4, 9],
    kAudioChannelLayoutTag_DVD_18: [1, 2, 5, 6, 4],
    kAudioChannelLayoutTag_AudioUnit_6_0: [1, 2, 5, 6, 3, 9],
    kAudioChannelLayoutTag_AudioUnit_7_0: [1, 2, 5, 6, 3, 33, 34],
    kAudioChannelLayoutTag_AAC_6_0: [3, 1, 2, 5, 6, 9],
    kAudioChannelLayoutTag_AAC_6_1: [3, 1, 2, 5, 6, 9, 4],
    kAudioChannelLayoutTag_AAC_7_0: [3, 1, 2, 5, 6, 33, 34],
    kAudioChannelLayoutTag_AAC_7_1_B: [3, 1, 2, 5, 6, 33, 34, 4],
  ]
}

/// Returns the labels of a number of channels in the default order of libavcodec, which is the
/// order of WAVE files. The result is nil for 0 and for more than 6 channels.
package func nativeChannelLabels(_ count: Int) -> [AudioChannelLabel]? {
  switch count {
  case 1: [kAudioChannelLabel_Center]
  case 2: [kAudioChannelLabel_Left, kAudioChannelLabel_Right]
  case 3: [1, 2, 3]
  case 4: [1, 2, 3, kAudioChannelLabel_CenterSurround]
  case 5: [1, 2, 3, kAudioChannelLabel_LeftSurround, kAudioChannelLabel_RightSurround]
  case 6:
    [
      1, 2, 3, kAudioChannelLabel_LFEScreen, kAudioChannelLabel_LeftSurround,
      kAudioChannelLabel_RightSurround,
    ]
  default: nil
  }
}
