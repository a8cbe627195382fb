// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

extension MediaStream {
  /// Whether the stream consists of text, and not of bitmaps of text, of a codec that libavcodec
  /// decodes.
  package var isText: Bool {
    guard kind == .subtitle, codec.codecID != AV_CODEC_ID_EIA_608,
      let descriptor = avcodec_descriptor_get(codec.codecID)
    else { return false }
    return descriptor.pointee.props & AV_CODEC_PROP_TEXT_SUB != 0 && codec.hasDecoder
  }

  /// Whether the samples are stored as 3GPP timed text (3GPP TS 26.245).
  package var isTimedText: Bool { codec.codecID == AV_CODEC_ID_MOV_TEXT && codec.codecTag == "tx3g" }

  /// Whether the stream consists of chapter titles, which libavformat does not classify as
  /// subtitles.
  package var isChapterText: Bool { kind == .data && ["text", "tx3g"].contains(codec.codecTag) }
}

/// Converts text subtitles of any codec (SubRip, ASS, WebVTT) to 3GPP timed text, the format of
/// movies, with libavcodec's decoder and encoder.
package final class TimedTextConverter {
  private let stream: MediaStream
  private var decoder: UnsafeMutablePointer<AVCodecContext>?
  private var encoder: UnsafeMutablePointer<AVCodecContext>?
  /// The buffer for an encoded sample, whose length field has 16 bits.
  private var bytes = [UInt8](repeating: 0, count: 1 << 17)

  /// Opens the decoder and the encoder for a stream of text.
  /// - Parameter stream: The stream.
  /// - Throws: `MediaFileError` if libavcodec cannot decode the stream or encode timed text.
  package init(_ stream: MediaStream) throws {
    self.stream = stream
    guard let source = avcodec_find_decoder(stream.codec.codecID),
      let target = avcodec_find_encoder(AV_CODEC_ID_MOV_TEXT)
    else {
      throw MediaFileError(
        .unsupportedFormat, "libavcodec was built without subtitles of \(stream.codec.codecName)")
    }
    decoder = avcodec_alloc_context3(source)
    encoder = avcodec_alloc_context3(target)
    guard let decoder, let encoder,
      avcodec_parameters_to_context(decoder, stream.codec.pointer) >= 0
    else { throw MediaFileError(.outOfMemory, "out of memory") }
    decoder.pointee.pkt_timebase = stream.timeBase
    try open(decoder, source)
    if let header = decoder.pointee.subtitle_header, decoder.pointee.subtitle_header_size > 0 {
      let size = Int(decoder.pointee.subtitle_header_size)
      guard let copy = av_mallocz(size + 1) else { throw MediaFileError(.outOfMemory, "out of memory") }
      memcpy(copy, header, size)
      encoder.pointee.subtitle_header = copy.assumingMemoryBound(to: UInt8.self)
      encoder.pointee.subtitle_header_size = Int32(size)
    }
    encoder.pointee.time_base = AVRational(num: 1, den: 1000)
    try open(encoder, target)
  }

  deinit {
    avcodec_free_context(&decoder)
    avcodec_free_context(&encoder)
  }

  private func open(
    _ context: UnsafeMutablePointer<AVCodecContext>, _ codec: UnsafePointer<AVCodec>
  ) throws {
    let (code, messages) = LibavLog.collect { avcodec_open2(context, codec, nil) }
    guard code >= 0 else {
      throw MediaFileError.libav(
        code, "subtitles of \(stream.codec.codecName) cannot be read", messages: messages)
    }
  }

  /// The specific part of the sample entry, after its header.
  package var sampleDescription: Data {
    guard let encoder, let data = encoder.pointee.extradata, encoder.pointee.extradata_size > 0 else {
      return Data()
    }
    return Data(bytes: data, count: Int(encoder.pointee.extradata_size))
  }

  /// Converts a packet; nil if it has no time, or cannot be decoded or encoded.
  /// - Parameter packet: The packet of the stream.
  package func convert(_ packet: MediaPacket) -> TimedText? {
    guard let decoder, let encoder, let start = packet.pts ?? packet.dts else { return nil }
    var subtitle = AVSubtitle()
    var isWhole: Int32 = 0
    let (code, _) = LibavLog.collect {
      avcodec_decode_subtitle2(decoder, &subtitle, &isWhole, packet.pointer)
    }
    // A line that cannot be decoded is skipped, and the others are kept.
    guard code >= 0, isWhole != 0 else { return nil }
    defer { avsubtitle_free(&subtitle) }
    let milliseconds = AVRational(num: 1, den: 1000)
    func units(_ time: UInt32) -> Int64 { av_rescale_q(Int64(time), milliseconds, stream.timeBase) }
    let begin = start.addingClamped(units(subtitle.start_display_time))
    var end: Int64?
    if packet.duration > 0 {
      end = start.addingClamped(packet.duration)
    } else if subtitle.end_display_time > subtitle.start_display_time, subtitle.end_display_time != .max {
      end = start.addingClamped(units(subtitle.end_display_time))
    }
    // The encoder takes the duration from the subtitle; the start time is in the returned text.
    subtitle.end_display_time =
      end.map {
        UInt32(clamping: av_rescale_q($0.subtractingClamped(begin), stream.timeBase, milliseconds))
      } ?? 0
    subtitle.start_display_time = 0
    guard subtitle.num_rects > 0 else { return TimedText(start: begin, end: end, sample: []) }
    let (count, _) = LibavLog.collect {
      avcodec_encode_subtitle(encoder, &bytes, Int32(bytes.count), &subtitle)
    }
    guard count >= 2 else { return nil }
    return TimedText(start: begin, end: end, sample: Array(bytes.prefix(Int(count))))
  }
}
