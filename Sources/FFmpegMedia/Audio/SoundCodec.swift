// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia

/// What sound can be encoded to, beside linear PCM.
package enum SoundCodec: Sendable, CaseIterable {
  case aac, appleLossless, flac, opus

  /// - Parameter format: Core Audio's name of the format; nil for others than these.
  package init?(_ format: AudioFormatID) {
    guard let codec = Self.allCases.first(where: { $0.format == format }) else { return nil }
    self = codec
  }

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

  /// libavcodec's encoder of Opus is an experiment: libopus's has a name of its own.
  var encoder: UnsafePointer<AVCodec>? {
    self == .opus ? avcodec_find_encoder_by_name("libopus") : avcodec_find_encoder(identifier)
  }

  /// Whether this build of libavcodec has the encoder.
  package var isAvailable: Bool { encoder != nil }

  /// Whether nothing is lost.
  package var isLossless: Bool { self == .appleLossless || self == .flac }

  /// Sample rates in hertz that the encoder takes; nil: any.
  package var sampleRates: [Int]? {
    guard let rates = encoder?.pointee.supported_samplerates else { return nil }
    var found: [Int] = []
    while rates[found.count] != 0 { found.append(Int(rates[found.count])) }
    return found.sorted()
  }

  /// The most channels that the encoder takes.
  package var mostChannels: Int { self == .opus ? 2 : 8 }

  /// Sets an encoder up, but for its rate and channels.
  /// - Parameter bits: That each sample of the source has.
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
      // Integers of 24 bits are what both have of more than 16.
      if isWide(context.pointee.sample_fmt) { context.pointee.bits_per_raw_sample = 24 }
    } else {
      let channels = Int(context.pointee.ch_layout.nb_channels)
      context.pointee.bit_rate = Int64(request.bitRate ?? (request.bitRatePerChannel ?? 64_000) * channels)
    }
    if self == .opus, let frames = request.framesPerPacket {
      av_opt_set_double(context.pointee.priv_data, "frame_duration", Double(frames) / 48, 0)
    }
  }

  /// What there is to say of an encoder's packets.
  func describe(
    _ context: UnsafeMutablePointer<AVCodecContext>, _ basic: AudioStreamBasicDescription
  ) -> AudioStreamBasicDescription {
    var basic = basic
    basic.mFormatID = format
    basic.mFramesPerPacket = UInt32(max(0, context.pointee.frame_size))
    if isLossless {
      // How many bits the source has: 1 stands for 16, 3 for 24.
      basic.mFormatFlags = av_get_bytes_per_sample(context.pointee.sample_fmt) == 4 ? 3 : 1
    }
    return basic
  }
}
