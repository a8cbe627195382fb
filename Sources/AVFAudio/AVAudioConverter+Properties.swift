// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import FFmpegMedia
import Foundation

extension AVAudioConverter {
  /// For each channel of the output the channel of the input that it is, from 0; below 0: silence. A list of another
  /// length than the output has channels is not taken.
  public var channelMap: [NSNumber] {
    get { (setup.channelMap ?? setup.impliedMap).map { NSNumber(value: $0) } }
    set {
      guard newValue.count == Int(outputFormat.channelCount) else { return }
      change { $0.channelMap = newValue.map { max(-1, $0.intValue) } }
    }
  }

  /// Where the numbers of channels differ: whether channels are mixed, instead of being left out or silent. false at
  /// first. A channel map that was set goes before.
  public var downmix: Bool {
    get { setup.mixes }
    set { change { $0.mixes = newValue } }
  }

  /// Whether noise is added before samples become integers of fewer bits, so that rounding is not heard as a tone.
  public var dither: Bool {
    get { setup.isDithered }
    set { change { $0.isDithered = newValue } }
  }

  /// An `AVAudioQuality`: the higher, the longer the filter for another sample rate. 0 to 127; others are not taken.
  public var sampleRateConverterQuality: Int {
    get { setup.quality }
    set { if (0...127).contains(newValue) { change { $0.quality = newValue } } }
  }

  /// `AVSampleRateConverterAlgorithm_Normal` or `AVSampleRateConverterAlgorithm_Mastering`, which has the longest filter.
  /// Others, which there are not, are not taken.
  public var sampleRateConverterAlgorithm: String? {
    get { setup.algorithm ?? AVSampleRateConverterAlgorithm_Normal }
    set {
      let known = [AVSampleRateConverterAlgorithm_Normal, AVSampleRateConverterAlgorithm_Mastering]
      if newValue.map({ known.contains($0) }) ?? true { change { $0.algorithm = newValue } }
    }
  }

  /// What comes before and after where the sample rate of linear PCM changes. `normal` at first.
  public var primeMethod: AVAudioConverterPrimeMethod {
    get { setup.primeMethod }
    set { change { $0.primeMethod = newValue } }
  }

  /// Frames that the filter, or an encoder, needs beside those that are wanted: of the input where the rate changes, and
  /// what a decoder makes of the packets too much where they are encoded. Set, it says what the method `pre` takes.
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

  /// What a decoder of the output needs, or what the decoder of the input is given; nil if there is nothing.
  public var magicCookie: Data? {
    get {
      outputFormat.isPCM
        ? setup.cookie ?? inputFormat.magicCookie
        : (try? current() as? EncodingConversion)?.description.magicCookie
    }
    set { if outputFormat.isPCM { change { $0.cookie = newValue } } }
  }

  // MARK: - Encoding

  private var codec: SoundCodec? { outputFormat.isPCM ? nil : SoundCodec(outputFormat.basic.mFormatID) }

  /// Bits per second of AAC and Opus, of all channels; 0 for what has none. Those below 1 are not taken.
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

  /// Of AAC: `AVAudioBitRateStrategy_Variable`, where a medium quality decides on the size of packets, or another, where
  /// `bitRate` does. nil for what has none.
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

  /// The most bytes of a packet, or of a frame of linear PCM.
  public var maximumOutputPacketSize: Int {
    let basic = outputFormat.basic
    let channels = Int(basic.mChannelsPerFrame)
    guard let codec else { return Int(basic.mBytesPerFrame) }
    switch codec {
    // 6144 bits of each channel (ISO/IEC 14496-3, 4.5.3.1), and a header's room.
    case .aac: return 768 * channels + 64
    // As much as libopus asks for.
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

  /// Bits per second that the encoder takes; nil where nothing is encoded, or without loss.
  public var availableEncodeBitRates: [NSNumber]? {
    guard let codec, !codec.isLossless else { return nil }
    return Self.bitRates.map { NSNumber(value: $0) }
  }

  /// Those that the output's rate and channels have room for.
  public var applicableEncodeBitRates: [NSNumber]? {
    guard let codec, !codec.isLossless else { return nil }
    // At most 6144 bits for 1024 frames of a channel.
    let most = codec == .aac ? Int(outputFormat.sampleRate) * 6 * Int(outputFormat.channelCount) : 510_000
    return Self.bitRates.filter { $0 <= most }.map { NSNumber(value: $0) }
  }

  /// Sample rates that the encoder takes; nil where nothing is encoded, or any is taken.
  public var availableEncodeSampleRates: [NSNumber]? {
    codec?.sampleRates.map { $0.map { NSNumber(value: $0) } }
  }

  /// Sample rates that the encoder takes at the bit rate that was set.
  public var applicableEncodeSampleRates: [NSNumber]? {
    guard let rates = codec?.sampleRates else { return nil }
    guard codec == .aac, let bitRate = setup.bitRate else { return rates.map { NSNumber(value: $0) } }
    return rates.filter { $0 * 6 * Int(outputFormat.channelCount) >= bitRate }.map { NSNumber(value: $0) }
  }

  /// Arrangements of channels that the encoder takes; nil where nothing is encoded.
  public var availableEncodeChannelLayoutTags: [NSNumber]? {
    let few = [kAudioChannelLayoutTag_Mono, kAudioChannelLayoutTag_Stereo]
    let more = [
      kAudioChannelLayoutTag_AAC_3_0, kAudioChannelLayoutTag_AAC_4_0, kAudioChannelLayoutTag_AAC_5_0,
      kAudioChannelLayoutTag_AAC_5_1,
    ]
    return codec.map { ($0 == .aac ? few + more : few).map { NSNumber(value: $0) } }
  }
}
