// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CodecInterface
import CoreMedia

/// Maps the codes of Core Media's formats to the codec IDs of libavcodec and back.
enum CodecNames {
  /// The keys of this package's own format description extensions, for values that no sample
  /// description atom holds and that a decoder or a muxer needs.
  nonisolated(unsafe) static let codecNameKey: CFString = "OpenVideoToolbox.CodecName"
  nonisolated(unsafe) static let extradataKey: CFString = "OpenVideoToolbox.Extradata"
  nonisolated(unsafe) static let tagKey: CFString = "OpenVideoToolbox.CodecTag"
  nonisolated(unsafe) static let bitsPerCodedSampleKey: CFString = "OpenVideoToolbox.BitsPerCodedSample"
  nonisolated(unsafe) static let reorderDepthKey: CFString = "OpenVideoToolbox.ReorderDepth"
  nonisolated(unsafe) static let pixelFormatKey: CFString = "OpenVideoToolbox.PixelFormat"

  private static let video: [(AVCodecID, CMVideoCodecType)] = [
    (AV_CODEC_ID_H264, kCMVideoCodecType_H264), (AV_CODEC_ID_HEVC, kCMVideoCodecType_HEVC),
    (AV_CODEC_ID_HEVC, 0x6865_7631), (AV_CODEC_ID_H264, 0x6176_6333),  // hev1, avc3
    (AV_CODEC_ID_MPEG4, kCMVideoCodecType_MPEG4Video), (AV_CODEC_ID_MJPEG, kCMVideoCodecType_JPEG),
    (AV_CODEC_ID_VP9, kCMVideoCodecType_VP9), (AV_CODEC_ID_AV1, kCMVideoCodecType_AV1),
    (AV_CODEC_ID_VP8, 0x7670_3038),
  ]

  private static let audio: [(AVCodecID, AudioFormatID)] = [
    (AV_CODEC_ID_AAC, kAudioFormatMPEG4AAC), (AV_CODEC_ID_AAC, kAudioFormatMPEG4AAC_HE),
    (AV_CODEC_ID_AAC, kAudioFormatMPEG4AAC_HE_V2), (AV_CODEC_ID_MP3, kAudioFormatMPEGLayer3),
    (AV_CODEC_ID_AC3, kAudioFormatAC3), (AV_CODEC_ID_EAC3, kAudioFormatEnhancedAC3),
    (AV_CODEC_ID_ALAC, kAudioFormatAppleLossless), (AV_CODEC_ID_FLAC, kAudioFormatFLAC),
    (AV_CODEC_ID_OPUS, kAudioFormatOpus), (AV_CODEC_ID_PCM_MULAW, kAudioFormatULaw),
    (AV_CODEC_ID_PCM_ALAW, kAudioFormatALaw),
  ]

  /// Returns the four-character code of a video codec: Apple's code if there is one, otherwise that
  /// of QuickTime movie files, otherwise that of AVI files, otherwise the code in the container.
  static func videoType(_ parameters: AVCodecParameters) -> CMVideoCodecType {
    if let known = video.first(where: { $0.0 == parameters.codec_id }) { return known.1 }
    if parameters.codec_id == AV_CODEC_ID_RAWVIDEO {
      // The pixel format determines the code, because a container's own code may be less specific.
      let tag = avcodec_pix_fmt_to_codec_tag(AVPixelFormat(parameters.format))
      if tag != 0 { return tag.byteSwapped }
    }
    for tables in [avformat_get_mov_video_tags(), avformat_get_riff_video_tags()] {
      var list: [OpaquePointer?] = [tables, nil]
      let tag = list.withUnsafeMutableBufferPointer { av_codec_get_tag($0.baseAddress, parameters.codec_id) }
      if tag != 0 { return tag.byteSwapped }
    }
    return parameters.codec_tag.byteSwapped
  }

  static func videoCodec(_ description: CMFormatDescription) -> AVCodecID {
    let type = CMFormatDescriptionGetMediaSubType(description)
    if let known = video.first(where: { $0.1 == type }) { return known.0 }
    if let named = named(description) { return named }
    var list: [OpaquePointer?] = [avformat_get_mov_video_tags(), nil]
    return list.withUnsafeMutableBufferPointer { av_codec_get_id($0.baseAddress, type.byteSwapped) }
  }

  /// Whether the four-character code and the decoder configuration record of a codec suffice to
  /// decode it.
  static func isDescribedByType(_ codec: AVCodecID) -> Bool { video.contains { $0.0 == codec } }

  static func audioType(_ parameters: AVCodecParameters) -> AudioFormatID {
    if let known = audio.first(where: { $0.0 == parameters.codec_id }) { return known.1 }
    if PCMFormat(parameters.codec_id) != nil { return kAudioFormatLinearPCM }
    var list: [OpaquePointer?] = [avformat_get_mov_audio_tags(), nil]
    let tag = list.withUnsafeMutableBufferPointer { av_codec_get_tag($0.baseAddress, parameters.codec_id) }
    return (tag != 0 ? tag : parameters.codec_tag).byteSwapped
  }

  static func audioCodec(_ description: CMFormatDescription) -> AVCodecID {
    let type = CMFormatDescriptionGetMediaSubType(description)
    if let known = audio.first(where: { $0.1 == type }) { return known.0 }
    if type == kAudioFormatLinearPCM {
      return description.audioStreamBasicDescription.map { PCMFormat.codec($0) } ?? AV_CODEC_ID_NONE
    }
    if let named = named(description) { return named }
    var list: [OpaquePointer?] = [avformat_get_mov_audio_tags(), nil]
    return list.withUnsafeMutableBufferPointer { av_codec_get_id($0.baseAddress, type.byteSwapped) }
  }

  /// Returns the codec that a demuxer has stored under `codecNameKey`; nil if there is none.
  static func named(_ description: CMFormatDescription) -> AVCodecID? {
    guard
      let name = CMFormatDescriptionGetExtension(description, extensionKey: codecNameKey) as? NSString,
      let descriptor = avcodec_descriptor_get_by_name(name as String)
    else { return nil }
    return descriptor.pointee.id
  }
}

/// The format of linear PCM samples that have a codec in libavcodec.
struct PCMFormat {
  var bits: UInt32
  var flags: AudioFormatFlags

  private static let table: [(AVCodecID, UInt32, AudioFormatFlags)] = [
    (AV_CODEC_ID_PCM_S16LE, 16, kAudioFormatFlagIsSignedInteger),
    (AV_CODEC_ID_PCM_S16BE, 16, kAudioFormatFlagIsSignedInteger | kAudioFormatFlagIsBigEndian),
    (AV_CODEC_ID_PCM_S24LE, 24, kAudioFormatFlagIsSignedInteger),
    (AV_CODEC_ID_PCM_S24BE, 24, kAudioFormatFlagIsSignedInteger | kAudioFormatFlagIsBigEndian),
    (AV_CODEC_ID_PCM_S32LE, 32, kAudioFormatFlagIsSignedInteger),
    (AV_CODEC_ID_PCM_S32BE, 32, kAudioFormatFlagIsSignedInteger | kAudioFormatFlagIsBigEndian),
    (AV_CODEC_ID_PCM_F32LE, 32, kAudioFormatFlagIsFloat),
    (AV_CODEC_ID_PCM_F32BE, 32, kAudioFormatFlagIsFloat | kAudioFormatFlagIsBigEndian),
    (AV_CODEC_ID_PCM_F64LE, 64, kAudioFormatFlagIsFloat),
    (AV_CODEC_ID_PCM_F64BE, 64, kAudioFormatFlagIsFloat | kAudioFormatFlagIsBigEndian),
    (AV_CODEC_ID_PCM_S8, 8, kAudioFormatFlagIsSignedInteger), (AV_CODEC_ID_PCM_U8, 8, 0),
  ]

  init?(_ codec: AVCodecID) {
    guard let row = Self.table.first(where: { $0.0 == codec }) else { return nil }
    bits = row.1
    flags = row.2 | kAudioFormatFlagIsPacked
  }

  static func codec(_ basic: AudioStreamBasicDescription) -> AVCodecID {
    let kind = kAudioFormatFlagIsSignedInteger | kAudioFormatFlagIsFloat
    let order = basic.mBitsPerChannel > 8 ? kAudioFormatFlagIsBigEndian : 0
    let wanted = basic.mFormatFlags & (kind | order)
    // Files store samples without padding.
    guard basic.mFormatFlags & kAudioFormatFlagIsNonInterleaved == 0 || basic.mChannelsPerFrame == 1,
      let layout = PCMLayout(basic), layout.width * 8 == layout.bits
    else { return AV_CODEC_ID_NONE }
    return table.first { $0.1 == basic.mBitsPerChannel && $0.2 == wanted }?.0 ?? AV_CODEC_ID_NONE
  }
}
