// SPDX-License-Identifier: Apache-2.0
import CFFmpeg

/// The channel layout for a number of channels.
enum ChannelOrder {
  /// The mask of left, right and centre.
  private static let three: UInt64 = 0x7

  /// libavutil's default layout, except for three channels of AAC, which are the front ones
  /// (ISO/IEC 14496-3, table 1.19). libavutil takes the third one for low frequencies, of which AAC
  /// would keep nothing else.
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
