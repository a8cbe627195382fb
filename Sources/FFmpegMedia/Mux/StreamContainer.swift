// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia

/// The containers that can be read while they are written, or that a server receives.
package enum StreamContainer: String, Sendable, CaseIterable {
  case matroska
  /// The subset of Matroska for VP8, VP9 and AV1 with Opus or Vorbis.
  case webm
  /// The transport stream of ISO/IEC 13818-1.
  case transportStream
  case flv
  /// ISO base media file format with a fragment (`moof`) at each key frame, and at least every two
  /// seconds.
  case fragmentedMP4
  /// RTP packets to a server to which they were announced by RTSP's ANNOUNCE (RFC 2326, 10.3).
  case rtsp

  /// The name of libavformat's muxer.
  var muxerName: String {
    switch self {
    case .matroska: "matroska"
    case .webm: "webm"
    case .transportStream: "mpegts"
    case .flv: "flv"
    case .fragmentedMP4: "mp4"
    case .rtsp: "rtsp"
    }
  }

  /// The name for messages.
  package var name: String {
    switch self {
    case .matroska: "Matroska"
    case .webm: "WebM"
    case .transportStream: "MPEG-TS"
    case .flv: "FLV"
    case .fragmentedMP4: "MP4"
    case .rtsp: "RTSP"
    }
  }

  /// Whether the container holds samples of a format.
  package func holds(_ format: CMFormatDescription) -> Bool {
    switch CMFormatDescriptionGetMediaType(format) {
    case kCMMediaType_Video: holds(CodecNames.videoCodec(format))
    case kCMMediaType_Audio: holds(CodecNames.audioCodec(format))
    case kCMMediaType_Subtitle, kCMMediaType_Text:
      holdsText && CMFormatDescriptionGetMediaSubType(format) == kCMTextFormatType_3GText
    default: false
    }
  }

  /// The format in which the container holds subtitles of text; nil if it holds none.
  var textCodec: AVCodecID? {
    switch self {
    case .matroska: AV_CODEC_ID_SUBRIP
    case .webm: AV_CODEC_ID_WEBVTT
    case .transportStream, .flv, .fragmentedMP4, .rtsp: nil
    }
  }

  /// Whether the container holds subtitles of text.
  package var holdsText: Bool { textCodec != nil }

  /// Whether the container holds samples of a codec, and players are known to play them.
  func holds(_ codec: AVCodecID) -> Bool {
    if codec == textCodec { return true }
    return switch self {
    case .matroska:
      [
        AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, AV_CODEC_ID_AV1, AV_CODEC_ID_VP8, AV_CODEC_ID_VP9,
        AV_CODEC_ID_AAC, AV_CODEC_ID_OPUS, AV_CODEC_ID_VORBIS, AV_CODEC_ID_MP3, AV_CODEC_ID_AC3,
        AV_CODEC_ID_EAC3, AV_CODEC_ID_FLAC,
      ].contains(codec)
    case .webm:
      [AV_CODEC_ID_AV1, AV_CODEC_ID_VP8, AV_CODEC_ID_VP9, AV_CODEC_ID_OPUS, AV_CODEC_ID_VORBIS].contains(
        codec)
    case .transportStream:
      [
        AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, AV_CODEC_ID_AAC, AV_CODEC_ID_MP3, AV_CODEC_ID_AC3,
        AV_CODEC_ID_EAC3, AV_CODEC_ID_OPUS,
      ].contains(codec)
    case .flv:
      // Enhanced RTMP has HEVC, which libavformat writes from version 60.10 (FFmpeg 6.1) on.
      [AV_CODEC_ID_H264, AV_CODEC_ID_AAC, AV_CODEC_ID_MP3].contains(codec)
        || codec == AV_CODEC_ID_HEVC && muxerAccepts(codec)
    case .fragmentedMP4:
      [
        AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, AV_CODEC_ID_AV1, AV_CODEC_ID_VP9, AV_CODEC_ID_AAC,
        AV_CODEC_ID_MP3, AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3, AV_CODEC_ID_OPUS, AV_CODEC_ID_ALAC,
      ].contains(codec)
    case .rtsp:
      [AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, AV_CODEC_ID_AAC, AV_CODEC_ID_OPUS].contains(codec)
    }
  }

  private func muxerAccepts(_ codec: AVCodecID) -> Bool {
    guard let format = av_guess_format(muxerName, nil, nil) else { return false }
    return avformat_query_codec(format, codec, FF_COMPLIANCE_NORMAL) == 1
  }
}
