// SPDX-License-Identifier: Apache-2.0
import AudioToolbox
import FFmpegMedia
import Foundation

/// The settings of a conversion.
struct ConverterSetup {
  let source: AVAudioFormat
  let target: AVAudioFormat
  /// Nil if the map is determined by the channel layouts.
  var channelMap: [Int]?
  var mixes = false
  var isDithered = false
  var quality = AVAudioQuality.medium.rawValue
  var algorithm: String?
  var primeMethod = AVAudioConverterPrimeMethod.normal
  var primeInfo: AVAudioConverterPrimeInfo?
  var bitRate: Int?
  var strategy: String?
  /// The configuration for a decoder.
  var cookie: Data?

  init(_ source: AVAudioFormat, _ target: AVAudioFormat) { (self.source, self.target) = (source, target) }

  /// The number of taps of the filter for the sample rate conversion.
  private var filterSize: Int {
    algorithm == AVSampleRateConverterAlgorithm_Mastering
      ? AudioEncoder.Request.filterSize(AVAudioQuality.max.rawValue)
      : AudioEncoder.Request.filterSize(quality)
  }

  /// The input channel for each output channel if no map has been set, or -1 for silence. If both
  /// formats have a channel layout, it is the channel with the same label, otherwise the channel
  /// with the same index. A mono input is used for all channels.
  var impliedMap: [Int] {
    let (inputs, outputs) = (Int(source.channelCount), Int(target.channelCount))
    if inputs == 1 { return Array(repeating: 0, count: outputs) }
    if let from = labels(of: source), let to = labels(of: target), from.count == inputs, to.count == outputs {
      let found = to.map { from.firstIndex(of: $0) ?? -1 }
      if found.contains(where: { $0 >= 0 }) { return found }
    }
    return (0..<outputs).map { $0 < inputs ? $0 : -1 }
  }

  private func labels(of format: AVAudioFormat) -> [AudioChannelLabel]? {
    // Decoders and encoders have a channel order of their own, whatever the order in the packets.
    guard format.isPCM else { return nativeChannelLabels(Int(format.channelCount)) }
    guard let layout = format.channelLayout else {
      return format.channelCount == 2 ? nativeChannelLabels(2) : nil
    }
    return layout.managed.channelLabels
  }

  /// The input channel for each channel of a file, whose order is FFmpeg's; nil if the format's
  /// layout does not contain the same channels.
  static func map(_ format: AVAudioFormat) -> [Int]? {
    guard let labels = format.channelLayout?.managed.channelLabels, labels.count == Int(format.channelCount),
      let native = nativeChannelLabels(labels.count)
    else { return nil }
    let found = native.map { labels.firstIndex(of: $0) ?? -1 }
    return found.contains(-1) ? nil : found
  }

  /// Nil if channels are mixed.
  private var map: [Int]? { channelMap ?? (mixes ? nil : impliedMap) }

  func make() throws -> any AudioConversion {
    switch (source.isPCM, target.isPCM) {
    case (true, true): return try makePCM(source.basic)
    case (true, false): return try EncodingConversion(source, request())
    case (false, true): return try DecodingConversion(source, cookie: cookie, makePCM)
    case (false, false):
      throw MediaFileError(.unsupportedFormat, "packets cannot become packets of another format at once")
    }
  }

  private func makePCM(_ from: AudioStreamBasicDescription) throws -> PCMConversion {
    var options = PCMConverter.Options()
    options.filterSize = filterSize
    options.channelMap = map
    options.isDithered = isDithered
    return try PCMConversion(
      from, target.basic, options, primeMethod, leadingFrames: primeInfo?.leadingFrames)
  }

  private func request() throws -> AudioEncoder.Request {
    guard let codec = AudioCodec(target.basic.mFormatID), codec.isAvailable,
      (1...UInt32(codec.maxChannels)).contains(target.channelCount),
      (1...768_000).contains(target.sampleRate)
    else { throw MediaFileError(.unsupportedFormat, "there is no encoder for this format") }
    var request = AudioEncoder.Request()
    request.codec = codec
    request.sampleRate = Int(target.sampleRate)
    request.channels = Int(target.channelCount)
    request.filterSize = filterSize
    request.channelMap = map
    request.isNormalized = true
    request.bitRate = bitRate
    if codec == .opus, target.basic.mFramesPerPacket > 0 {
      // The request has the number of frames at the stream's rate of 48000 Hz.
      request.framesPerPacket = Int(Double(target.basic.mFramesPerPacket) * 48_000 / target.sampleRate)
    }
    if codec == .aac, strategy == AVAudioBitRateStrategy_Variable {
      request.quality = Double(AVAudioQuality.medium.rawValue) / Double(AVAudioQuality.max.rawValue)
    }
    return request
  }
}
