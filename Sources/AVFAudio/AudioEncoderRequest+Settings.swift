// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// A key of the settings with an invalid value.
package struct InvalidAudioSetting: Error {
  package let key: String
}

extension AudioEncoder.Request {
  /// Reads the encoder settings, except for the bit rate of all channels.
  /// - Throws: `InvalidAudioSetting` for an invalid value.
  package mutating func take(encoding settings: [String: Any]) throws {
    if let value = settings[AVEncoderBitRatePerChannelKey] {
      guard let rate = (value as? NSNumber)?.doubleValue, (4000...500_000).contains(rate) else {
        throw InvalidAudioSetting(key: AVEncoderBitRatePerChannelKey)
      }
      bitRatePerChannel = Int(rate)
    }
    if let value = try Self.quality(settings, AVEncoderAudioQualityKey) {
      isFast = value <= AVAudioQuality.low.rawValue
    }
    let variable = try Self.quality(settings, AVEncoderAudioQualityForVBRKey)
    switch settings[AVEncoderBitRateStrategyKey].map({ $0 as? String ?? "" }) {
    case nil, AVAudioBitRateStrategy_Constant, AVAudioBitRateStrategy_LongTermAverage,
      AVAudioBitRateStrategy_VariableConstrained:
      break
    case AVAudioBitRateStrategy_Variable:
      quality = Double(variable ?? AVAudioQuality.medium.rawValue) / Double(AVAudioQuality.max.rawValue)
    default: throw InvalidAudioSetting(key: AVEncoderBitRateStrategyKey)
    }
    try Self.number(settings, AVEncoderBitDepthHintKey, in: 8...32)
  }

  /// Reads the settings of the sample rate conversion.
  /// - Throws: `InvalidAudioSetting` for an invalid value.
  package mutating func take(conversion settings: [String: Any]) throws {
    switch settings[AVSampleRateConverterAlgorithmKey].map({ $0 as? String ?? "" }) {
    case nil, AVSampleRateConverterAlgorithm_Normal: break
    case AVSampleRateConverterAlgorithm_Mastering: filterSize = Self.filterSize(AVAudioQuality.max.rawValue)
    default: throw InvalidAudioSetting(key: AVSampleRateConverterAlgorithmKey)
    }
    if let value = try Self.quality(settings, AVSampleRateConverterAudioQualityKey) {
      filterSize = Self.filterSize(value)
    }
    try Self.number(settings, AVAudioFileTypeKey, in: 0...Double(UInt32.max))
  }

  /// The number of taps of the resampling filter (the option `filter_size` of libswresample) for a
  /// quality of sample rate conversion from 0 to 127.
  package static func filterSize(_ quality: Int) -> Int {
    switch quality {
    case ..<AVAudioQuality.low.rawValue: 8
    case ..<AVAudioQuality.medium.rawValue: 16
    case ..<AVAudioQuality.high.rawValue: 32
    case ..<AVAudioQuality.max.rawValue: 48
    default: 64
    }
  }

  private static func quality(_ settings: [String: Any], _ key: String) throws -> Int? {
    if let quality = settings[key] as? AVAudioQuality { return quality.rawValue }
    return try number(settings, key, in: 0...127).map { Int($0) }
  }

  @discardableResult
  private static func number(
    _ settings: [String: Any], _ key: String, in range: ClosedRange<Double>
  ) throws -> Double? {
    guard let value = settings[key] else { return nil }
    guard let number = (value as? NSNumber)?.doubleValue, range.contains(number) else {
      throw InvalidAudioSetting(key: key)
    }
    return number
  }
}
