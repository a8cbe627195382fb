// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import Foundation

/// Decodes audio to linear PCM of a given layout, sample rate and number of channels. Not
/// thread-safe.
package final class AudioDecoder {
  /// The format of the decoded samples.
  package struct Format: Sendable, Equatable {
    /// Bits per sample: 8, 16, 24 or 32; 32 or 64 for floating point.
    package var bits: Int
    package var isFloat: Bool
    package var isBigEndian: Bool
    package var isInterleaved: Bool
    package var sampleRate: Int
    package var channels: Int
    /// Taps of the resampling filter; nil: libswresample's default, 32.
    package var filterSize: Int?
    /// For each channel of the result, the channel of the source, from 0, or -1 for silence; nil:
    /// channels are mixed.
    package var channelMap: [Int]?

    package init(
      bits: Int, isFloat: Bool, isBigEndian: Bool, isInterleaved: Bool, sampleRate: Int, channels: Int
    ) {
      self.bits = bits
      self.isFloat = isFloat
      self.isBigEndian = isBigEndian
      self.isInterleaved = isInterleaved
      self.sampleRate = sampleRate
      self.channels = channels
    }

    var bytesPerSample: Int { bits / 8 }

    /// Cuts a range of frames out of samples in this format.
    /// - Parameters:
    ///   - data: The samples.
    ///   - frames: The number of frames in `data`.
    ///   - range: The frames to be returned.
    package func part(of data: Data, frames: Int, _ range: Range<Int>) -> Data {
      let width = bytesPerSample
      let start = data.startIndex
      if isInterleaved {
        let frame = width * channels
        return data.subdata(in: start + range.lowerBound * frame..<start + range.upperBound * frame)
      }
      return (0..<channels).reduce(into: Data()) { joined, channel in
        let base = start + channel * frames * width
        joined.append(
          data.subdata(in: base + range.lowerBound * width..<base + range.upperBound * width))
      }
    }
  }

  /// Consecutive frames of decoded audio.
  package struct Chunk {
    /// The samples, interleaved or one channel after the other; empty for silence, because a gap
    /// may be long.
    package var data: Data
    package var frames: Int
    /// Time of the first frame in units of 1 / sampleRate.
    package var time: Int64

    package var isSilence: Bool { data.isEmpty }
  }

  private let codec: CodecParameters
  /// Time base of the packets.
  private let timeBase: AVRational
  private let format: Format
  private var context: UnsafeMutablePointer<AVCodecContext>?
  private var resampler: OpaquePointer?
  private var frame: UnsafeMutablePointer<AVFrame>?
  /// Time of the next frame to be output; nil before the first one.
  private var clock: Int64?
  /// The number of packets that could not be decoded.
  package private(set) var lostPackets = 0
  private var hasDecodedAudio = false
  /// Frames to be dropped, because according to the timestamps they overlap with earlier ones.
  private var surplus: Int64 = 0
  private var inputRate: Int32 = 0
  private var inputFormat: Int32 = -1
  private var inputChannels: Int32 = 0
  /// The number of samples of `frame` that have been converted.
  private var converted: Int32 = 0
  /// How often the audio's format has changed, and the number of frames so far.
  private var changes = 0
  private var frames = 0
  /// Whether the last packet has been sent.
  private var isEnding = false
  /// Whether a chunk of the last packet has been returned.
  private var hasReturnedSamples = false

  /// Makes a decoder for a stream's packets.
  /// - Parameters:
  ///   - stream: The stream.
  ///   - format: The format of the decoded samples.
  /// - Throws: `MediaFileError`.
  package convenience init(_ stream: MediaStream, format: Format) throws {
    try self.init(stream.codec, timeBase: stream.timeBase, format: format)
  }

  /// Makes a decoder of packets without times, which follow each other.
  /// - Parameters:
  ///   - description: The format of the packets.
  ///   - format: The format of the decoded samples.
  /// - Throws: `MediaFileError`.
  package convenience init(_ description: CMFormatDescription, format: Format) throws {
    try self.init(
      CodecParameters.audio(description), timeBase: AVRational(num: 1, den: Int32(format.sampleRate)),
      format: format)
  }

  private init(_ parameters: CodecParameters, timeBase: AVRational, format: Format) throws {
    self.codec = parameters
    self.timeBase = timeBase
    self.format = format
    LibavLog.takeOver()
    guard let codec = avcodec_find_decoder(parameters.codecID) else {
      throw MediaFileError(.unsupportedFormat, "there is no decoder for \(parameters.codecName)")
    }
    context = avcodec_alloc_context3(codec)
    frame = av_frame_alloc()
    guard let context, frame != nil, avcodec_parameters_to_context(context, parameters.pointer) >= 0 else {
      throw MediaFileError(.outOfMemory, "out of memory")
    }
    context.pointee.pkt_timebase = timeBase
    let (code, messages) = LibavLog.collect { avcodec_open2(context, codec, nil) }
    guard code >= 0 else {
      throw MediaFileError.libav(
        code, "the decoder for \(parameters.codecName) cannot start", messages: messages)
    }
  }

  deinit {
    avcodec_free_context(&context)
    av_frame_free(&frame)
    swr_free(&resampler)
  }

  /// Discards everything that is held, before packets from another position.
  package func reset() {
    if let context { avcodec_flush_buffers(context) }
    swr_free(&resampler)
    if let frame { av_frame_unref(frame) }
    converted = 0
    isEnding = false
    clock = nil
    surplus = 0
    inputFormat = -1
  }

  /// Sends a packet to the decoder. All chunks of the previous one must have been taken with
  /// `next()`.
  /// - Parameter packet: The packet; nil at the end, so that `next()` returns what the decoder
  ///   still holds.
  /// - Throws: `MediaFileError` if the audio cannot be decoded at all; single damaged packets are
  ///   counted in `lostPackets`.
  package func send(_ packet: MediaPacket?) throws {
    guard let context else { return }
    isEnding = packet == nil
    hasReturnedSamples = false
    let (sent, messages) = LibavLog.collect { avcodec_send_packet(context, packet?.pointer) }
    if sent < 0, sent != ovt_averror_eof() {
      try countDamagedPacket(MediaFileError.libav(sent, "audio cannot be decoded", messages: messages))
    }
  }

  /// Returns the next chunk, of at most about one second unless it is silence; nil if the decoder
  /// needs another packet.
  /// - Throws: `MediaFileError` if the audio cannot be decoded or converted.
  package func next() throws -> Chunk? {
    guard let context, let frame else { return nil }
    while true {
      if let chunk = try convertRest(of: frame) {
        hasReturnedSamples = true
        return chunk
      }
      let code = LibavLog.collect { avcodec_receive_frame(context, frame) }.0
      if code == ovt_averror(EAGAIN) || code == ovt_averror_eof() { break }
      guard code >= 0 else {
        try countDamagedPacket(MediaFileError.libav(code, "audio cannot be decoded"))
        // The limit ends the loop if the codec returns errors without end.
        if !hasReturnedSamples || lostPackets % 256 == 0 { break }
        continue
      }
      guard try takes(frame) else { continue }
      hasDecodedAudio = true
      converted = 0
      if let silence = follow(frame) {
        hasReturnedSamples = true
        return silence
      }
    }
    return isEnding ? try drain() : nil
  }

  /// Each change of the format needs a new resampler. Allowed are `maxChanges`, and one more for
  /// every `framesPerChange` frames; frames with further changes count as damaged.
  private static let maxChanges = 64
  private static let framesPerChange = 128

  private func isPrepared(for frame: UnsafeMutablePointer<AVFrame>) -> Bool {
    let fields = frame.pointee
    return resampler != nil && fields.format == inputFormat && fields.sample_rate == inputRate
      && fields.ch_layout.nb_channels == inputChannels
  }

  /// Whether a frame can be converted. One with a rate that cannot be converted, and that is not
  /// the file's, is damaged.
  private func takes(_ frame: UnsafeMutablePointer<AVFrame>) throws -> Bool {
    let rate = frame.pointee.sample_rate
    frames += 1
    if changes >= Self.maxChanges + frames / Self.framesPerChange, resampler != nil, !isPrepared(for: frame) {
      converted = frame.pointee.nb_samples
      try countDamagedPacket(
        MediaFileError(.unsupportedFormat, "audio changes its rate or channels again and again"))
      return false
    }
    guard !SampleRates.canConvert(from: Int(rate), to: format.sampleRate) else { return true }
    converted = frame.pointee.nb_samples
    let error = MediaFileError(
      .unsupportedFormat, "audio of \(rate) Hz cannot be converted to \(format.sampleRate) Hz")
    guard rate != codec.pointer.pointee.sample_rate else { throw error }
    try countDamagedPacket(error)
    return false
  }

  /// Counts a damaged packet, whose time will be filled with silence when the next one comes.
  /// Throws if nothing could be decoded in 100 packets, or if memory runs out.
  private func countDamagedPacket(_ error: MediaFileError) throws {
    lostPackets += 1
    guard error.kind != .outOfMemory, hasDecodedAudio || lostPackets < 100 else { throw error }
  }

  /// Audio follows its timestamps: gaps are filled with silence, and overlapping frames are
  /// dropped, as soon as the difference exceeds this many seconds. Rounded timestamps and
  /// inaccurate clocks stay below.
  private static let tolerance = 0.04
  /// Longest gap in seconds that is filled with silence. Longer ones are left out.
  private static let longestFill = 60.0

  private func follow(_ frame: UnsafeMutablePointer<AVFrame>) -> Chunk? {
    let stamp = frame.pointee.best_effort_timestamp
    guard let clock, stamp != ovt_av_nopts_value() else { return nil }
    let rate = Int64(format.sampleRate)
    let time = av_rescale_q(stamp, timeBase, AVRational(num: 1, den: Int32(format.sampleRate)))
    // The frames that the resampler still holds come before this one.
    let held = resampler.map { swr_get_delay($0, rate) } ?? 0
    let difference = time.subtractingClamped(clock.subtractingClamped(surplus).addingClamped(held))
    guard Double(difference.magnitude) > Self.tolerance * Double(rate) else { return nil }
    if difference < 0 {
      surplus = surplus.subtractingClamped(difference)
      return nil
    }
    let missing = difference - min(surplus, difference)
    surplus -= difference - missing
    guard missing > 0 else { return nil }
    self.clock = clock.addingClamped(missing)
    guard Double(missing) <= Self.longestFill * Double(rate) else { return nil }
    return Chunk(data: Data(), frames: Int(missing), time: clock)
  }

  /// Converts the next part of a frame, at most one second: at a very low sample rate, a single
  /// frame may last minutes.
  private func convertRest(of frame: UnsafeMutablePointer<AVFrame>) throws -> Chunk? {
    while converted < frame.pointee.nb_samples {
      try prepare(for: frame)
      guard let resampler, let input = frame.pointee.extended_data else { return nil }
      if clock == nil {
        let time = frame.pointee.best_effort_timestamp
        clock =
          time == ovt_av_nopts_value()
          ? 0 : av_rescale_q(time, timeBase, AVRational(num: 1, den: Int32(format.sampleRate)))
      }
      let maximum = Int(inputRate) == format.sampleRate ? max(inputRate, 4096) : inputRate
      let count = min(frame.pointee.nb_samples - converted, max(1, maximum))
      let isPlanar = av_sample_fmt_is_planar(AVSampleFormat(inputFormat)) != 0
      let width = Int(av_get_bytes_per_sample(AVSampleFormat(inputFormat)))
      let offset = Int(converted) * width * (isPlanar ? 1 : Int(inputChannels))
      let planes = (0..<(isPlanar ? Int(inputChannels) : 1)).map { plane in
        input[plane].map { UnsafePointer($0 + offset) }
      }
      converted += count
      let capacity = swr_get_out_samples(resampler, count)
      let made = try output(capacity) { out in
        var planes = planes
        return planes.withUnsafeMutableBufferPointer {
          swr_convert(resampler, out, capacity, $0.baseAddress, count)
        }
      }
      if let made { return made }
    }
    av_frame_unref(frame)
    converted = 0
    return nil
  }

  private func drain() throws -> Chunk? {
    guard let resampler else { return nil }
    let capacity = swr_get_out_samples(resampler, 0)
    guard capacity > 0 else { return nil }
    return try output(capacity) { swr_convert(resampler, $0, capacity, nil, 0) }
  }

  /// Makes a resampler for the format of a frame, if it differs from the previous one's.
  private func prepare(for frame: UnsafeMutablePointer<AVFrame>) throws {
    guard !isPrepared(for: frame) else { return }
    if resampler != nil { changes += 1 }
    let fields = frame.pointee
    swr_free(&resampler)
    inputFormat = fields.format
    inputRate = fields.sample_rate
    inputChannels = fields.ch_layout.nb_channels
    var target = AVChannelLayout()
    av_channel_layout_default(&target, Int32(format.channels))
    // If the number of channels is that of the result, they are kept in their order: libswresample
    // mixes nothing between two equal layouts.
    var source = Int(inputChannels) == format.channels ? target : fields.ch_layout
    if source.order == AV_CHANNEL_ORDER_UNSPEC { av_channel_layout_default(&source, inputChannels) }
    resampler = try AudioResampler.make(
      from: ResamplerFormat(format: AVSampleFormat(inputFormat), rate: inputRate, layout: source),
      to: ResamplerFormat(format: sampleFormat, rate: Int32(format.sampleRate), layout: target),
      AudioResampler.Options(filterSize: format.filterSize, channelMap: map(Int(inputChannels))))
  }

  /// The channel map, unless it refers to channels that the source does not have.
  private func map(_ channels: Int) -> [Int]? {
    guard let map = format.channelMap, map.allSatisfy({ $0 < channels }) else { return nil }
    return map
  }

  /// libswresample's sample format, which has native byte order; 24 bits are made of 32.
  private var sampleFormat: AVSampleFormat {
    let planar = !format.isInterleaved
    if format.isFloat {
      return format.bits == 64
        ? (planar ? AV_SAMPLE_FMT_DBLP : AV_SAMPLE_FMT_DBL)
        : (planar ? AV_SAMPLE_FMT_FLTP : AV_SAMPLE_FMT_FLT)
    }
    switch format.bits {
    case 8: return planar ? AV_SAMPLE_FMT_U8P : AV_SAMPLE_FMT_U8
    case 16: return planar ? AV_SAMPLE_FMT_S16P : AV_SAMPLE_FMT_S16
    default: return planar ? AV_SAMPLE_FMT_S32P : AV_SAMPLE_FMT_S32
    }
  }

  private func output(
    _ capacity: Int32, _ convert: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> Int32
  ) throws -> Chunk? {
    guard capacity >= 0 else { throw MediaFileError.libav(capacity, "audio cannot be converted") }
    var planes = [UnsafeMutablePointer<UInt8>?](repeating: nil, count: max(8, format.channels))
    var lineSize: Int32 = 0
    guard av_samples_alloc(&planes, &lineSize, Int32(format.channels), max(1, capacity), sampleFormat, 1) >= 0
    else {
      throw MediaFileError(.outOfMemory, "no memory for audio")
    }
    defer { av_free(planes[0]) }
    let frames = Int(planes.withUnsafeMutableBufferPointer { $0.baseAddress.map(convert) ?? 0 })
    guard frames >= 0 else { throw MediaFileError.libav(Int32(frames), "audio cannot be converted") }
    guard frames > 0 else { return nil }
    let width = Int(av_get_bytes_per_sample(sampleFormat))
    var data = Data()
    if format.isInterleaved {
      if let base = planes[0] { data.append(base, count: frames * width * format.channels) }
    } else {
      for plane in planes.prefix(format.channels) {
        if let plane { data.append(plane, count: frames * width) }
      }
    }
    if !format.isFloat {
      if format.bits == 24 { data = Self.keepUpper24(data) }
      // In Core Audio, 8-bit samples are signed unless the flags say otherwise; in libavutil they
      // are unsigned.
      if format.bits == 8 { for index in data.indices { data[index] ^= 0x80 } }
    }
    if format.isBigEndian { Self.swapBytes(&data, width: format.bytesPerSample) }
    let dropped = Int(min(surplus, Int64(frames)))
    surplus -= Int64(dropped)
    guard dropped < frames else { return nil }
    let time = clock ?? 0
    clock = time.addingClamped(Int64(frames - dropped))
    if dropped > 0 {
      data = format.part(of: data, frames: frames, dropped..<frames)
    }
    return Chunk(data: data, frames: frames - dropped, time: time)
  }

  private static func keepUpper24(_ data: Data) -> Data {
    var out = Data(capacity: data.count / 4 * 3)
    var at = data.startIndex
    while at + 4 <= data.endIndex {
      out.append(contentsOf: data[at + 1..<at + 4])
      at += 4
    }
    return out
  }

  private static func swapBytes(_ data: inout Data, width: Int) {
    guard width > 1 else { return }
    data.withUnsafeMutableBytes { bytes in
      var at = 0
      while at + width <= bytes.count {
        for step in 0..<width / 2 { bytes.swapAt(at + step, at + width - 1 - step) }
        at += width
      }
    }
  }
}
