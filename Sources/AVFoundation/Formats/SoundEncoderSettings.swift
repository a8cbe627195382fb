// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

extension AudioEncoder.Request {
  /// What settings say of how AAC is encoded, beside its bit rate.
  /// - Throws: `AVError.unsupportedOutputSettings` for what is none of a key's values.
  mutating func adopt(encoding settings: [String: Any]) throws {
    if let value = settings[AVEncoderBitRatePerChannelKey] {
      guard let rate = (value as? NSNumber)?.doubleValue, (4000...500_000).contains(rate) else {
        throw Self.refusal(AVEncoderBitRatePerChannelKey)
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
    default: throw Self.refusal(AVEncoderBitRateStrategyKey)
    }
    try Self.number(settings, AVEncoderBitDepthHintKey, in: 8...32)
  }

  /// What settings say of the conversion to another sample rate.
  /// - Throws: `AVError.unsupportedOutputSettings` for what is none of a key's values.
  mutating func adopt(conversion settings: [String: Any]) throws {
    switch settings[AVSampleRateConverterAlgorithmKey].map({ $0 as? String ?? "" }) {
    case nil, AVSampleRateConverterAlgorithm_Normal: break
    case AVSampleRateConverterAlgorithm_Mastering: filterSize = 64
    default: throw Self.refusal(AVSampleRateConverterAlgorithmKey)
    }
    if let value = try Self.quality(settings, AVSampleRateConverterAudioQualityKey) {
      switch value {
      case ..<AVAudioQuality.low.rawValue: filterSize = 8
      case ..<AVAudioQuality.medium.rawValue: filterSize = 16
      case ..<AVAudioQuality.high.rawValue: filterSize = 32
      case ..<AVAudioQuality.max.rawValue: filterSize = 48
      default: filterSize = 64
      }
    }
    try Self.number(settings, AVAudioFileTypeKey, in: 0...Double(UInt32.max))
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
    guard let number = (value as? NSNumber)?.doubleValue, range.contains(number) else { throw refusal(key) }
    return number
  }

  private static func refusal(_ key: String) -> AVError {
    AVError(
      .unsupportedOutputSettings, reason: "The value of \(key) is not possible.",
      advice: "Remove the key, or give one of its values.")
  }
}
