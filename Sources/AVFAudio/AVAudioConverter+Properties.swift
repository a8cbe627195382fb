// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import FFmpegMedia
import Foundation

extension AVAudioConverter {
  /// The index of an input channel for each channel of the output, starting at 0; a negative number
  /// produces silence. Arrays whose length is not the number of output channels are ignored.
  public var channelMap: [NSNumber] {
    get { (setup.channelMap ?? setup.impliedMap).map { NSNumber(value: $0) } }
    set {
      guard newValue.count == Int(outputFormat.channelCount) else { return }
      change { $0.channelMap = newValue.map { max(-1, $0.intValue) } }
    }
  }

  /// Whether channels are mixed if the input and the output have different numbers of channels. If
  /// false, which is the default, channels are dropped or added as silence. A channel map takes
  /// precedence.
  public var downmix: Bool {
    get { setup.mixes }
    set { change { $0.mixes = newValue } }
  }

  /// Whether noise is added before samples are rounded to integers with fewer bits, so that the
  /// rounding errors do not correlate with the signal.
  public var dither: Bool {
    get { setup.isDithered }
    set { change { $0.isDithered = newValue } }
  }

  /// The quality of the sample rate conversion, an `AVAudioQuality` from 0 to 127. Higher qualities
  /// use a longer filter. Other values are ignored.
  public var sampleRateConverterQuality: Int {
    get { setup.quality }
    set { if (0...127).contains(newValue) { change { $0.quality = newValue } } }
  }

  /// `AVSampleRateConverterAlgorithm_Normal` or `AVSampleRateConverterAlgorithm_Mastering`, which
  /// uses the longest filter. Other values are ignored.
  public var sampleRateConverterAlgorithm: String? {
    get { setup.algorithm ?? AVSampleRateConverterAlgorithm_Normal }
    set {
      let known = [AVSampleRateConverterAlgorithm_Normal, AVSampleRateConverterAlgorithm_Mastering]
      if newValue.map({ known.contains($0) }) ?? true { change { $0.algorithm = newValue } }
    }
  }

  /// How the beginning and the end of the input are handled if the sample rate of linear PCM
  /// changes. The default is `normal`.
  public var primeMethod: AVAudioConverterPrimeMethod {
    get { setup.primeMethod }
    set { change { $0.primeMethod = newValue } }
  }

  /// The number of frames that a conversion needs in addition to those of the output. For a sample
  /// rate conversion these are input frames before and after an output frame that the filter
  /// depends on. For an encoder they are the leading frames that the decoder produces and that have
  /// to be discarded. A value that is set determines how many leading frames the prime method `pre`
  /// discards.
  public var primeInfo: AVAudioConverterPrimeInfo {
    get {
      if let set = setup.primeInfo { return set }
      switch try? current() {
      case let conversion as PCMConversion:
        let latency = AVAudioFrameCount(clamping: conversion.latency)
        return AVAudioConverterPrimeInfo(leadingFrames: latency, trailingFrames: latency)
      case let conversion as EncodingConversion:
        return AVAudioConverterPrimeInfo(
          leadingFrames: AVAudioFrameCount(clamping: conversion.primingFrames), trailingFrames: 0)
      default: return AVAudioConverterPrimeInfo()
      }
    }
    set { change { $0.primeInfo = newValue } }
  }

  /// The decoder configuration of the encoded output or, if the input is decoded, the configuration
  /// that its decoder gets; nil if there is none.
  public var magicCookie: Data? {
    get {
      outputFormat.isPCM
        ? setup.cookie ?? inputFormat.magicCookie
        : (try? current() as? EncodingConversion)?.description.magicCookie
    }
    set { if outputFormat.isPCM { change { $0.cookie = newValue } } }
  }

  // MARK: - Encoding

  private var codec: AudioCodec? { outputFormat.isPCM ? nil : AudioCodec(outputFormat.basic.mFormatID) }

  /// The bit rate of AAC and Opus, for all channels, in bits per second; 0 for other formats.
  /// Values below 1 are ignored.
  public var bitRate: Int {
    get {
      guard let codec, !codec.isLossless else { return 0 }
      return setup.bitRate ?? 64_000 * Int(outputFormat.channelCount)
    }
    set {
      guard let codec, !codec.isLossless, newValue > 0 else { return }
      let rate = min(newValue, 10_000_000)
      change { $0.bitRate = rate }
      (try? current() as? EncodingConversion)?.change(bitRate: rate)
    }
  }

  /// For AAC, the bit rate strategy. With `AVAudioBitRateStrategy_Variable` a medium quality
  /// determines the sizes of the packets; with other strategies `bitRate` does. Nil for other
  /// formats.
  public var bitRateStrategy: String? {
    get { codec == .aac ? setup.strategy ?? AVAudioBitRateStrategy_LongTermAverage : nil }
    set {
      let known = [
        AVAudioBitRateStrategy_Constant, AVAudioBitRateStrategy_LongTermAverage,
        AVAudioBitRateStrategy_VariableConstrained, AVAudioBitRateStrategy_Variable,
      ]
      guard codec == .aac, newValue.map({ known.contains($0) }) ?? true else { return }
      change { $0.strategy = newValue }
    }
  }

  /// The largest size in bytes of a packet, or of a frame of linear PCM.
  public var maximumOutputPacketSize: Int {
    let basic = outputFormat.basic
    let channels = Int(basic.mChannelsPerFrame)
    guard let codec else { return Int(basic.mBytesPerFrame) }
    switch codec {
    // 6144 bits for each channel (ISO/IEC 14496-3, clause 4.5.3.1), and room for a header.
    case .aac: return 768 * channels + 64
    // The buffer size that the documentation of libopus recommends.
    case .opus: return 4000
    case .appleLossless, .flac:
      let description = (try? current() as? EncodingConversion)?.description
      let frames = description?.audioStreamBasicDescription?.mFramesPerPacket ?? 4608
      return Int(max(frames, 4096)) * channels * 5 + 1024
    }
  }

  private static let bitRates = [
    8000, 12_000, 16_000, 20_000, 24_000, 28_000, 32_000, 40_000, 48_000, 56_000, 64_000, 72_000, 80_000,
    96_000,
    112_000, 128_000, 144_000, 160_000, 192_000, 224_000, 256_000, 288_000, 320_000, 384_000, 448_000,
    512_000,
  ]

  /// The bit rates that the encoder supports, in bits per second; nil if the output is not encoded,
  /// or losslessly.
  public var availableEncodeBitRates: [NSNumber]? {
    guard let codec, !codec.isLossless else { return nil }
    return Self.bitRates.map { NSNumber(value: $0) }
  }

  /// The bit rates of `availableEncodeBitRates` that are possible with the output's sample rate and
  /// channels.
  public var applicableEncodeBitRates: [NSNumber]? {
    guard let codec, !codec.isLossless else { return nil }
    // AAC has at most 6144 bits per channel for 1024 frames.
    let maximumRate =
      codec == .aac ? Int(outputFormat.sampleRate) * 6 * Int(outputFormat.channelCount) : 510_000
    return Self.bitRates.filter { $0 <= maximumRate }.map { NSNumber(value: $0) }
  }

  /// The sample rates that the encoder supports; nil if the output is not encoded, or if any sample
  /// rate is supported.
  public var availableEncodeSampleRates: [NSNumber]? {
    codec?.sampleRates.map { $0.map { NSNumber(value: $0) } }
  }

  /// The sample rates that the encoder supports at the bit rate that has been set.
  public var applicableEncodeSampleRates: [NSNumber]? {
    guard let rates = codec?.sampleRates else { return nil }
    guard codec == .aac, let bitRate = setup.bitRate else { return rates.map { NSNumber(value: $0) } }
    return rates.filter { $0 * 6 * Int(outputFormat.channelCount) >= bitRate }.map { NSNumber(value: $0) }
  }

  /// The channel layouts that the encoder supports; nil if the output is not encoded.
  public var availableEncodeChannelLayoutTags: [NSNumber]? {
    let monoAndStereo = [kAudioChannelLayoutTag_Mono, kAudioChannelLayoutTag_Stereo]
    let multichannel = [
      kAudioChannelLayoutTag_AAC_3_0, kAudioChannelLayoutTag_AAC_4_0, kAudioChannelLayoutTag_AAC_5_0,
      kAudioChannelLayoutTag_AAC_5_1,
    ]
    return codec.map {
      ($0 == .aac ? monoAndStereo + multichannel : monoAndStereo).map { NSNumber(value: $0) }
    }
  }
}
