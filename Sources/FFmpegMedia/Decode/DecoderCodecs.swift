// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CodecInterface

/// Maps the four-character codes by which movie files name codecs to libavcodec's decoders.
enum DecoderCodecs {
  /// The codec of a four-character code; nil if there is none, or no video decoder for it.
  static func identifier(_ type: CodecType) -> AVCodecID? {
    let id = knownIdentifier(type) ?? taggedIdentifier(type)
    guard let id, let decoder = avcodec_find_decoder(id), decoder.pointee.type == AVMEDIA_TYPE_VIDEO else {
      return nil
    }
    return id
  }

  private static func knownIdentifier(_ type: CodecType) -> AVCodecID? {
    switch type {
    case .h264, CodecType(rawValue: fourCharacterCode("avc3")): AV_CODEC_ID_H264
    case .hevc, CodecType(rawValue: fourCharacterCode("hev1")): AV_CODEC_ID_HEVC
    case CodecType(rawValue: fourCharacterCode("vp08")): AV_CODEC_ID_VP8
    case CodecType(rawValue: fourCharacterCode("vp09")): AV_CODEC_ID_VP9
    case CodecType(rawValue: fourCharacterCode("av01")): AV_CODEC_ID_AV1
    default: nil
    }
  }

  /// Searches libavformat's tables of codes, first the one for movies and then the one for AVI.
  private static func taggedIdentifier(_ type: CodecType) -> AVCodecID? {
    let tag = type.rawValue.byteSwapped
    for tables in [avformat_get_mov_video_tags(), avformat_get_riff_video_tags()] {
      var list: [OpaquePointer?] = [tables, nil]
      let id = list.withUnsafeMutableBufferPointer { av_codec_get_id($0.baseAddress, tag) }
      if id != AV_CODEC_ID_NONE { return id }
    }
    return nil
  }

  /// Whether a codec's decoder can write into any memory that it is given, from the upper left
  /// corner on, and has finished a picture when the call that took its packet returns (unless it
  /// decodes with frame threads).
  static func decodesInPlace(_ id: AVCodecID) -> Bool {
    id == AV_CODEC_ID_H264 || id == AV_CODEC_ID_HEVC
  }
}
