// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia

/// Codecs to which audio can be encoded.
package enum AudioCodec: Sendable, CaseIterable {
  case aac, appleLossless, flac, opus

  /// The codec of a format; nil for formats that cannot be encoded.
  /// - Parameter format: Core Audio's identifier of the format.
  package init?(_ format: AudioFormatID) {
    guard let codec = Self.allCases.first(where: { $0.format == format }) else { return nil }
    self = codec
  }

  /// Core Audio's identifier of the codec.
  package var format: AudioFormatID {
    switch self {
    case .aac: kAudioFormatMPEG4AAC
    case .appleLossless: kAudioFormatAppleLossless
    case .flac: kAudioFormatFLAC
    case .opus: kAudioFormatOpus
    }
  }

  var identifier: AVCodecID {
    switch self {
    case .aac: AV_CODEC_ID_AAC
    case .appleLossless: AV_CODEC_ID_ALAC
    case .flac: AV_CODEC_ID_FLAC
    case .opus: AV_CODEC_ID_OPUS
    }
  }

  /// The encoder; nil if libavcodec was built without it. For Opus it is libopus, because
  /// libavcodec's own encoder is experimental.
  var encoder: UnsafePointer<AVCodec>? {
    self == .opus ? avcodec_find_encoder_by_name("libopus") : avcodec_find_encoder(identifier)
  }

  /// Whether the loaded libavcodec has the encoder.
  package var isAvailable: Bool { encoder != nil }

  /// Whether decoding restores all samples exactly.
  package var isLossless: Bool { self == .appleLossless || self == .flac }

  /// Sample rates in hertz that the encoder accepts; nil: any.
  package var sampleRates: [Int]? {
    guard let rates = encoder?.pointee.supported_samplerates else { return nil }
    var found: [Int] = []
    while rates[found.count] != 0 { found.append(Int(rates[found.count])) }
    return found.sorted()
  }

  /// The largest number of channels that the encoder accepts.
  package var maxChannels: Int { self == .opus ? 2 : 8 }

  /// Sets an encoder's sample format, bit rate and packet length. The caller sets its sample rate
  /// and channels.
  /// - Parameters:
  ///   - context: The encoder's context.
  ///   - codec: The encoder.
  ///   - bits: Bits per sample of the source.
  ///   - request: What to encode.
  func set(
    up context: UnsafeMutablePointer<AVCodecContext>, _ codec: UnsafePointer<AVCodec>, bits: Int,
    _ request: AudioEncoder.Request
  ) {
    var formats: [AVSampleFormat] = []
    if let list = codec.pointee.sample_fmts {
      while list[formats.count] != AV_SAMPLE_FMT_NONE { formats.append(list[formats.count]) }
    }
    func isWide(_ format: AVSampleFormat) -> Bool { av_get_bytes_per_sample(format) == 4 }
    context.pointee.sample_fmt =
      formats.first { isWide($0) == (bits > 16) } ?? formats.first ?? AV_SAMPLE_FMT_S16
    if isLossless {
      // Above 16 bits, both lossless encoders support 24 bits only.
      if isWide(context.pointee.sample_fmt) { context.pointee.bits_per_raw_sample = 24 }
    } else {
      let channels = Int(context.pointee.ch_layout.nb_channels)
      context.pointee.bit_rate = Int64(request.bitRate ?? (request.bitRatePerChannel ?? 64_000) * channels)
    }
    if self == .opus, let frames = request.framesPerPacket {
      av_opt_set_double(context.pointee.priv_data, "frame_duration", Double(frames) / 48, 0)
    }
  }

  /// Completes the description of an encoder's packets.
  /// - Parameters:
  ///   - context: The open encoder.
  ///   - basic: The description with the sample rate and the channels.
  func describe(
    _ context: UnsafeMutablePointer<AVCodecContext>, _ basic: AudioStreamBasicDescription
  ) -> AudioStreamBasicDescription {
    var basic = basic
    basic.mFormatID = format
    basic.mFramesPerPacket = UInt32(max(0, context.pointee.frame_size))
    if isLossless {
      // The flags are the bit depth of the source: 1 for 16 bits, 3 for 24
      // (`kAppleLosslessFormatFlag_16BitSourceData` and so on).
      basic.mFormatFlags = av_get_bytes_per_sample(context.pointee.sample_fmt) == 4 ? 3 : 1
    }
    return basic
  }
}
