// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import Foundation

/// Encodes linear PCM to packets of a codec, or converts it to another PCM format. Not thread-safe.
package final class AudioEncoder {
  /// The format to encode to, and the encoder's settings.
  package struct Request: Sendable {
    /// The sample rate in hertz, and the number of channels; nil: those of the source.
    package var sampleRate: Int?
    package var channels: Int?
    /// Bit rate of AAC and Opus in bits per second; nil: `bitRatePerChannel`.
    package var bitRate: Int?
    /// Bit rate of AAC and Opus per channel in bits per second; nil: 64,000. Used if `bitRate` is
    /// nil.
    package var bitRatePerChannel: Int?
    /// Quality of AAC with a variable bit rate, 0.0 to 1.0; nil: the bit rate is constant.
    package var quality: Double?
    /// Whether AAC is encoded with the faster search for quantizers.
    package var isFast = false
    /// Taps of the resampling filter; nil: libswresample's default, 32.
    package var filterSize: Int?
    /// The format of PCM; nil: audio is encoded with `codec`.
    package var pcm: (bits: Int, isFloat: Bool, isBigEndian: Bool)?
    /// The codec; used if `pcm` is nil.
    package var codec = AudioCodec.aac
    /// Frames at 48 kHz in a packet of Opus; nil: 960.
    package var framesPerPacket: Int?
    /// For each channel of the result, the channel of the source, from 0, or -1 for silence; nil:
    /// channels are mixed.
    package var channelMap: [Int]?
    /// Whether mixing channels is scaled so that the result cannot exceed full scale.
    package var isNormalized = false

    package init() {}
  }

  private let request: Request
  private let sampleRate: Int32
  private let channels: Int32
  private var context: UnsafeMutablePointer<AVCodecContext>?
  private var resampler: OpaquePointer?
  private var fifo: OpaquePointer?
  private var frame: UnsafeMutablePointer<AVFrame>?
  private var packet: UnsafeMutablePointer<AVPacket>?
  private var source: AudioStreamBasicDescription
  private var layout: PCMLayout
  private let description: CMFormatDescription
  /// The format of the encoded samples.
  package var formatDescription: CMFormatDescription { description }
  /// Frames that a decoder outputs before the first one that was encoded (encoder delay).
  package var primingFrames: Int { Int(max(0, context?.pointee.initial_padding ?? 0)) }
  /// Bit rate in bits per second. Setting it changes the next packets of AAC, and has no effect for
  /// other codecs.
  package var bitRate: Int {
    get { Int(clamping: context?.pointee.bit_rate ?? 0) }
    set { if request.pcm == nil, request.codec == .aac { context?.pointee.bit_rate = Int64(newValue) } }
  }
  /// The first frame's time, the frames taken since then, in the source's rate, and the frames sent
  /// to the encoder.
  private var anchor: CMTime?
  private var framesIn: Int64 = 0
  private var framesOut: Int64 = 0

  /// Opens an encoder.
  /// - Parameters:
  ///   - request: What to encode to.
  ///   - source: The format of the PCM that will come first.
  /// - Throws: `MediaFileError` of the kind `unsupportedFormat` if the source or the result cannot
  ///   be encoded.
  package init(_ request: Request, source: AudioStreamBasicDescription) throws {
    self.request = request
    self.source = source
    LibavLog.takeOver()
    sampleRate = Int32(clamping: request.sampleRate ?? Int(clamping: source.mSampleRate))
    channels = Int32(clamping: request.channels ?? Int(source.mChannelsPerFrame))
    guard sampleRate > 0, (1...8).contains(channels) else {
      throw MediaFileError(.unsupportedFormat, "the audio has no valid sample rate or channels")
    }
    layout = try Self.layout(of: source)
    let codecID = request.pcm.map(Self.codec) ?? request.codec.identifier
    guard let codec = request.pcm == nil ? request.codec.encoder : avcodec_find_encoder(codecID),
      let context = avcodec_alloc_context3(codec)
    else {
      throw MediaFileError(.unsupportedFormat, "libavcodec was built without this audio encoder")
    }
    self.context = context
    context.pointee.sample_rate = sampleRate
    context.pointee.ch_layout = ChannelOrder.layout(channels, of: codecID)
    context.pointee.time_base = AVRational(num: 1, den: sampleRate)
    context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
    if let pcm = request.pcm {
      context.pointee.sample_fmt =
        pcm.isFloat ? AV_SAMPLE_FMT_FLT : pcm.bits == 16 ? AV_SAMPLE_FMT_S16 : AV_SAMPLE_FMT_S32
    } else if request.codec != .aac {
      request.codec.set(up: context, codec, bits: layout.bits, request)
    } else {
      context.pointee.sample_fmt = AV_SAMPLE_FMT_FLTP
      let rate = request.bitRate ?? (request.bitRatePerChannel ?? 64_000) * Int(channels)
      context.pointee.bit_rate = Int64(rate)
      if let quality = request.quality {
        // The encoder's useful quantizer scales are 0.1 to 2.
        context.pointee.flags |= AV_CODEC_FLAG_QSCALE
        context.pointee.global_quality = Int32((min(max(quality, 0), 1) * 1.9 + 0.1) * Double(FF_QP2LAMBDA))
      }
      if request.isFast { av_opt_set(context.pointee.priv_data, "aac_coder", "fast", 0) }
    }
    let (code, messages) = LibavLog.collect { avcodec_open2(context, codec, nil) }
    guard code >= 0 else {
      var closing: UnsafeMutablePointer<AVCodecContext>? = context
      avcodec_free_context(&closing)
      throw MediaFileError(
        .unsupportedFormat,
        MediaFileError.libav(code, "the audio encoder cannot start", messages: messages).detail)
    }
    do { description = try Self.describe(context, request) } catch {
      var closing: UnsafeMutablePointer<AVCodecContext>? = context
      avcodec_free_context(&closing)
      throw error
    }
    frame = av_frame_alloc()
    packet = av_packet_alloc()
    fifo = av_audio_fifo_alloc(context.pointee.sample_fmt, channels, 4096)
    guard frame != nil, packet != nil, fifo != nil else {
      throw MediaFileError(.outOfMemory, "out of memory")
    }
    try makeResampler()
  }

  deinit {
    avcodec_free_context(&context)
    swr_free(&resampler)
    av_audio_fifo_free(fifo)
    av_frame_free(&frame)
    av_packet_free(&packet)
  }

  private static func codec(_ pcm: (bits: Int, isFloat: Bool, isBigEndian: Bool)) -> AVCodecID {
    switch (pcm.bits, pcm.isFloat, pcm.isBigEndian) {
    case (_, true, false): AV_CODEC_ID_PCM_F32LE
    case (_, true, true): AV_CODEC_ID_PCM_F32BE
    case (24, _, false): AV_CODEC_ID_PCM_S24LE
    case (24, _, true): AV_CODEC_ID_PCM_S24BE
    case (32, _, false): AV_CODEC_ID_PCM_S32LE
    case (32, _, true): AV_CODEC_ID_PCM_S32BE
    case (_, _, true): AV_CODEC_ID_PCM_S16BE
    default: AV_CODEC_ID_PCM_S16LE
    }
  }

  private static func describe(
    _ context: UnsafeMutablePointer<AVCodecContext>, _ request: Request
  ) throws -> CMFormatDescription {
    let fields = context.pointee
    var basic = AudioStreamBasicDescription()
    basic.mSampleRate = Float64(fields.sample_rate)
    basic.mChannelsPerFrame = UInt32(fields.ch_layout.nb_channels)
    var cookie: Data?
    if let pcm = request.pcm {
      basic.mFormatID = kAudioFormatLinearPCM
      basic.mFormatFlags =
        kAudioFormatFlagIsPacked | (pcm.isFloat ? kAudioFormatFlagIsFloat : kAudioFormatFlagIsSignedInteger)
        | (pcm.isBigEndian ? kAudioFormatFlagIsBigEndian : 0)
      basic.mBitsPerChannel = UInt32(pcm.bits)
      basic.mBytesPerFrame = UInt32(pcm.bits / 8) * basic.mChannelsPerFrame
      basic.mBytesPerPacket = basic.mBytesPerFrame
      basic.mFramesPerPacket = 1
    } else if request.codec != .aac {
      basic = request.codec.describe(context, basic)
      cookie = fields.extradata.map { Data(bytes: $0, count: Int(fields.extradata_size)) }
    } else {
      basic.mFormatID = kAudioFormatMPEG4AAC
      basic.mFramesPerPacket = UInt32(max(0, fields.frame_size))
      let configuration =
        fields.extradata.map { Data(bytes: $0, count: Int(fields.extradata_size)) } ?? Data()
      cookie = ElementaryStreamDescriptor.make(
        configuration: configuration, objectType: 0x40, bitRate: UInt32(clamping: fields.bit_rate))
    }
    return try CMFormatDescription(audioStreamBasicDescription: basic, magicCookie: cookie)
  }

  /// The layout of the source's samples.
  private static func layout(of source: AudioStreamBasicDescription) throws -> PCMLayout {
    guard (1...768_000).contains(source.mSampleRate), (1...64).contains(source.mChannelsPerFrame),
      let layout = PCMLayout(source)
    else { throw MediaFileError(.unsupportedFormat, "the audio has no valid sample rate, channels or bits") }
    return layout
  }

  /// Longest gap in seconds that is filled with silence. For longer ones the times of later audio
  /// are moved.
  private static let longestFill = 60.0
  /// Frames of silence that are converted at once.
  private static let silenceChunk = 8192

  /// Fills a gap of `gap` frames with silence, or moves the times of what follows.
  private func bridge(_ gap: Int64, _ samples: inout [CMSampleBuffer]) throws {
    var missing = gap
    if Double(gap) > source.mSampleRate * Self.longestFill {
      // One second of silence separates what was encoded from the audio whose times are moved.
      missing = Int64(clamping: source.mSampleRate)
      let rest = CMTime(value: gap - missing, timescale: CMTimeScale(clamping: source.mSampleRate))
      try fill(missing, &samples)
      anchor = (anchor ?? .zero) + rest
    } else {
      try fill(missing, &samples)
    }
    framesIn = framesIn.addingClamped(missing)
  }

  private func fill(_ count: Int64, _ samples: inout [CMSampleBuffer]) throws {
    let channels = Int(source.mChannelsPerFrame)
    var rest = count
    while rest > 0 {
      let frames = Int(min(rest, Int64(Self.silenceChunk)))
      let quiet = [UInt8](repeating: 0, count: frames * layout.nativeWidth * channels)
      try convert(quiet, frames: frames, &samples)
      rest -= Int64(frames)
    }
  }

  private func makeResampler() throws {
    guard let context else { return }
    // The source's channels have no names: if their number is that of the result, they are taken
    // for the same ones.
    let count = Int32(clamping: source.mChannelsPerFrame)
    var from = AVChannelLayout()
    if count == channels { from = context.pointee.ch_layout } else { av_channel_layout_default(&from, count) }
    let made = try AudioResampler.make(
      from: ResamplerFormat(format: layout.format, rate: Int32(clamping: source.mSampleRate), layout: from),
      to: ResamplerFormat(
        format: context.pointee.sample_fmt, rate: sampleRate, layout: context.pointee.ch_layout),
      AudioResampler.Options(
        filterSize: request.filterSize, channelMap: request.channelMap, isNormalized: request.isNormalized))
    swr_free(&resampler)
    resampler = made
  }

  /// Encodes PCM. Gaps of more than a tenth of a second before it are filled with silence.
  /// - Parameters:
  ///   - bytes: The samples.
  ///   - source: Their format.
  ///   - time: The time of the first frame.
  /// - Returns: The packets that are complete.
  /// - Throws: `MediaFileError`.
  package func encode(_ bytes: [UInt8], source: AudioStreamBasicDescription, time: CMTime) throws
    -> [CMSampleBuffer]
  {
    if source != self.source {
      let layout = try Self.layout(of: source)
      try convert([], count: 0, [])
      (self.source, self.layout) = (source, layout)
      try makeResampler()
    }
    let frames = bytes.count / (layout.width * Int(source.mChannelsPerFrame))
    let bytes = layout.native(bytes)
    var samples: [CMSampleBuffer] = []
    if let anchor {
      let rate = CMTimeScale(clamping: source.mSampleRate)
      let expected = anchor + CMTime(value: framesIn, timescale: rate)
      let gap = CMTimeConvertScale(time - expected, timescale: rate, method: .default)
      guard gap.isNumeric else {
        throw MediaFileError(
          .badTiming, "the audio's time (\(time.seconds) s) is out of reach of what came before")
      }
      // Times may jitter; a difference of more than a tenth of a second is a gap.
      if gap.value > Int64(rate) / 10 { try bridge(gap.value, &samples) }
    } else {
      anchor = time
    }
    try convert(bytes, frames: frames, &samples)
    framesIn = framesIn.addingClamped(Int64(frames))
    return samples
  }

  /// Encodes the remaining frames, and returns the last packets.
  /// - Throws: `MediaFileError`.
  package func finish() throws -> [CMSampleBuffer] {
    guard let context else { return [] }
    try convert([], count: 0, [])
    var samples = try drainFifo(all: true)
    if avcodec_send_frame(context, nil) >= 0 { samples += try receive() }
    return samples
  }

  /// Converts frames of the source's format and encodes them, one second at a time: at a very low
  /// sample rate, a few frames are long.
  private func convert(_ bytes: [UInt8], frames: Int, _ samples: inout [CMSampleBuffer]) throws {
    let channels = Int(source.mChannelsPerFrame)
    let width = layout.nativeWidth
    let rate = Int(clamping: source.mSampleRate)
    let maximum = rate == Int(sampleRate) ? max(rate, 4096) : max(rate, 1)
    var done = 0
    while done < frames {
      let count = min(frames - done, maximum)
      let offsets =
        layout.isPlanar ? (0..<channels).map { ($0 * frames + done) * width } : [done * width * channels]
      try convert(offsets, count: count, bytes)
      samples += try drainFifo(all: false)
      done += count
    }
  }

  private func convert(_ offsets: [Int], count: Int, _ bytes: [UInt8]) throws {
    guard let resampler, let context, let fifo else { return }
    let capacity = swr_get_out_samples(resampler, Int32(clamping: count))
    guard capacity >= 0 else { throw MediaFileError.libav(capacity, "audio cannot be converted") }
    guard capacity > 0 else { return }
    var planes = [UnsafeMutablePointer<UInt8>?](repeating: nil, count: 8)
    var lineSize: Int32 = 0
    guard av_samples_alloc(&planes, &lineSize, channels, capacity, context.pointee.sample_fmt, 0) >= 0 else {
      throw MediaFileError(.outOfMemory, "no memory for audio")
    }
    defer { av_free(planes[0]) }
    let made: Int32 = bytes.withUnsafeBufferPointer { buffer in
      guard let base = buffer.baseAddress, count > 0 else {
        return planes.withUnsafeMutableBufferPointer {
          swr_convert(resampler, $0.baseAddress, capacity, nil, 0)
        }
      }
      var inputs: [UnsafePointer<UInt8>?] = offsets.map { base + $0 }
      while inputs.count < 8 { inputs.append(nil) }
      return planes.withUnsafeMutableBufferPointer { out in
        inputs.withUnsafeMutableBufferPointer {
          swr_convert(resampler, out.baseAddress, capacity, $0.baseAddress, Int32(count))
        }
      }
    }
    guard made >= 0 else { throw MediaFileError.libav(made, "audio cannot be converted") }
    guard made > 0 else { return }
    let written = planes.withUnsafeMutableBufferPointer { out in
      out.withMemoryRebound(to: UnsafeMutableRawPointer?.self) {
        av_audio_fifo_write(fifo, $0.baseAddress, made)
      }
    }
    guard written == made else { throw MediaFileError(.outOfMemory, "no memory for audio") }
  }

  private func drainFifo(all: Bool) throws -> [CMSampleBuffer] {
    guard let context, let fifo, let frame else { return [] }
    let size = context.pointee.frame_size > 0 ? context.pointee.frame_size : 4096
    var samples: [CMSampleBuffer] = []
    while av_audio_fifo_size(fifo) >= size || all && av_audio_fifo_size(fifo) > 0 {
      let count = min(size, av_audio_fifo_size(fifo))
      av_frame_unref(frame)
      frame.pointee.nb_samples = count
      frame.pointee.format = context.pointee.sample_fmt.rawValue
      frame.pointee.sample_rate = sampleRate
      av_channel_layout_copy(&frame.pointee.ch_layout, &context.pointee.ch_layout)
      guard av_frame_get_buffer(frame, 0) >= 0 else {
        throw MediaFileError(.outOfMemory, "no memory for audio")
      }
      let read = frame.pointee.extended_data.withMemoryRebound(to: UnsafeMutableRawPointer?.self, capacity: 8)
      {
        av_audio_fifo_read(fifo, $0, count)
      }
      guard read == count else { throw MediaFileError(.other, "the audio buffer failed") }
      frame.pointee.pts = framesOut
      framesOut += Int64(count)
      let code = avcodec_send_frame(context, frame)
      guard code >= 0 else { throw MediaFileError.libav(code, "audio cannot be encoded") }
      samples += try receive()
    }
    return samples
  }

  private func receive() throws -> [CMSampleBuffer] {
    guard let context, let packet else { return [] }
    var samples: [CMSampleBuffer] = []
    while true {
      let code = avcodec_receive_packet(context, packet)
      if code == ovt_averror(EAGAIN) || code == ovt_averror_eof() { return samples }
      guard code >= 0, let moved = av_packet_alloc() else {
        throw MediaFileError.libav(code, "audio cannot be encoded")
      }
      av_packet_move_ref(moved, packet)
      let made = MediaPacket(owning: moved)
      // FLAC's last packet has only a new header, in its side data.
      if !made.bytes.isEmpty { samples.append(try makeSample(made)) }
    }
  }

  private func makeSample(_ packet: MediaPacket) throws -> CMSampleBuffer {
    let bytes = packet.bytes
    let block = try CMBlockBuffer(buffer: bytes, deallocator: { _, _ in withExtendedLifetime(packet) {} })
    let time = (anchor ?? .zero) + CMTime(value: packet.pts ?? 0, timescale: sampleRate)
    var size = bytes.count
    var count = 1
    var timing = CMSampleTimingInfo(
      duration: CMTime(value: packet.duration, timescale: sampleRate), presentationTimeStamp: time,
      decodeTimeStamp: .invalid)
    if let pcm = request.pcm {
      size = pcm.bits / 8 * Int(channels)
      count = bytes.count / size
      timing.duration = CMTime(value: 1, timescale: sampleRate)
    }
    var made: CMSampleBuffer?
    let status = CMSampleBufferCreateReady(
      allocator: kCFAllocatorDefault, dataBuffer: block, formatDescription: description, sampleCount: count,
      sampleTimingEntryCount: 1, sampleTimingArray: &timing, sampleSizeEntryCount: 1, sampleSizeArray: &size,
      sampleBufferOut: &made)
    guard status == noErr, let made else {
      throw MediaFileError(.outOfMemory, "a sample buffer cannot be made (\(status))")
    }
    return made
  }
}
