// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

extension MediaStream {
  /// Words, not pictures of them, of a codec that libavcodec reads.
  package var isText: Bool {
    guard kind == .subtitle, codec.codecID != AV_CODEC_ID_EIA_608,
      let descriptor = avcodec_descriptor_get(codec.codecID)
    else { return false }
    return descriptor.pointee.props & AV_CODEC_PROP_TEXT_SUB != 0 && codec.hasDecoder
  }

  /// The samples are 3GPP timed text (3GPP TS 26.245) as they are stored.
  package var isTimedText: Bool { codec.codecID == AV_CODEC_ID_MOV_TEXT && codec.codecTag == "tx3g" }

  /// The titles of chapters, which libavformat does not count among the subtitles.
  package var isChapterText: Bool { kind == .data && ["text", "tx3g"].contains(codec.codecTag) }
}

/// Turns text subtitles of any codec (SubRip, ASS, WebVTT) into 3GPP timed text, which movies hold: libavcodec reads
/// the one and writes the other.
package final class TimedTextConverter {
  private let stream: MediaStream
  private var decoder: UnsafeMutablePointer<AVCodecContext>?
  private var encoder: UnsafeMutablePointer<AVCodecContext>?
  /// A sample's length has 16 bits.
  private var bytes = [UInt8](repeating: 0, count: 1 << 17)

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

  /// The sample description's content, after its header.
  package var sampleDescription: Data {
    guard let encoder, let data = encoder.pointee.extradata, encoder.pointee.extradata_size > 0 else {
      return Data()
    }
    return Data(bytes: data, count: Int(encoder.pointee.extradata_size))
  }

  /// What a packet says; nil where there is nothing to be read, or nothing that can be read.
  package func convert(_ packet: MediaPacket) -> TimedText? {
    guard let decoder, let encoder, let start = packet.pts ?? packet.dts else { return nil }
    var subtitle = AVSubtitle()
    var isWhole: Int32 = 0
    let (code, _) = LibavLog.collect {
      avcodec_decode_subtitle2(decoder, &subtitle, &isWhole, packet.pointer)
    }
    // One line that cannot be read does not cost the others.
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
    // The encoder takes the duration from here, and the beginning from the packet.
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
