// SPDX-License-Identifier: Apache-2.0
import CFFmpeg

/// Which channels a number of them is taken for.
enum ChannelOrder {
  /// Left, right and centre.
  private static let three: UInt64 = 0x7

  /// libavutil's choice. But three channels of AAC are the front ones (ISO/IEC 14496-3, table 1.19), where
  /// libavutil's third is one for low frequencies: nothing else would be left of it.
  static func layout(_ channels: Int32, of codec: AVCodecID) -> AVChannelLayout {
    var layout = AVChannelLayout()
    if codec == AV_CODEC_ID_AAC, channels == 3 {
      av_channel_layout_from_mask(&layout, three)
    } else {
      av_channel_layout_default(&layout, channels)
    }
    return layout
  }
}
