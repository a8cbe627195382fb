// SPDX-License-Identifier: Apache-2.0
/// The format of sound: an `AudioFormatID`.
public let AVFormatIDKey: String = "AVFormatIDKey"
/// Hertz.
public let AVSampleRateKey: String = "AVSampleRateKey"
public let AVNumberOfChannelsKey: String = "AVNumberOfChannelsKey"
/// An `AudioChannelLayout` in `Data`.
public let AVChannelLayoutKey: String = "AVChannelLayoutKey"

/// Of a recorder's file: an `AudioFileTypeID`. A writer's file type is said when it is made: a number is passed over.
public let AVAudioFileTypeKey: String = "AVAudioFileTypeKey"

// MARK: - Linear PCM

/// 8, 16, 24 or 32 bits of a sample.
public let AVLinearPCMBitDepthKey: String = "AVLinearPCMBitDepthKey"
public let AVLinearPCMIsBigEndianKey: String = "AVLinearPCMIsBigEndianKey"
public let AVLinearPCMIsFloatKey: String = "AVLinearPCMIsFloatKey"
/// Each channel on its own.
public let AVLinearPCMIsNonInterleaved: String = "AVLinearPCMIsNonInterleaved"

// MARK: - Compression

/// Bits per second, of all channels.
public let AVEncoderBitRateKey: String = "AVEncoderBitRateKey"
/// Bits per second of each channel, where `AVEncoderBitRateKey` is not given.
public let AVEncoderBitRatePerChannelKey: String = "AVEncoderBitRatePerChannelKey"
/// How much time the encoder takes, an `AVAudioQuality`: up to `low` it searches less.
public let AVEncoderAudioQualityKey: String = "AVEncoderQualityKey"
/// An `AVAudioQuality`: with `AVAudioBitRateStrategy_Variable` the sound's quality decides on the bit rate.
public let AVEncoderAudioQualityForVBRKey: String = "AVEncoderQualityForVBRKey"
/// What the bit rate means: one of the values below.
public let AVEncoderBitRateStrategyKey: String = "AVEncoderBitRateStrategyKey"
/// 8 to 32. A hint for encoders without loss, of which there is none: a number is passed over.
public let AVEncoderBitDepthHintKey: String = "AVEncoderBitDepthHintKey"

/// The encoder keeps to the rate as it does to an average, by way of the bits that AAC may save up.
public let AVAudioBitRateStrategy_Constant: String = "AVAudioBitRateStrategy_Constant"
public let AVAudioBitRateStrategy_LongTermAverage: String = "AVAudioBitRateStrategy_LongTermAverage"
/// As the average.
public let AVAudioBitRateStrategy_VariableConstrained: String = "AVAudioBitRateStrategy_VariableConstrained"
/// By quality: see `AVEncoderAudioQualityForVBRKey`.
public let AVAudioBitRateStrategy_Variable: String = "AVAudioBitRateStrategy_Variable"

// MARK: - Another sample rate

/// One of the values below.
public let AVSampleRateConverterAlgorithmKey: String = "AVSampleRateConverterAlgorithmKey"
/// An `AVAudioQuality`: the better, the longer the filter.
public let AVSampleRateConverterAudioQualityKey: String = "AVSampleRateConverterQualityKey"

public let AVSampleRateConverterAlgorithm_Normal: String = "AVSampleRateConverterAlgorithm_Normal"
/// The longest filter, unless the quality says otherwise.
public let AVSampleRateConverterAlgorithm_Mastering: String = "AVSampleRateConverterAlgorithm_Mastering"
/// There is no such filter: settings with it are refused.
public let AVSampleRateConverterAlgorithm_MinimumPhase: String = "AVSampleRateConverterAlgorithm_MinimumPhase"

/// Qualities of encoders and of sample rate conversion.
public enum AVAudioQuality: Int, Sendable {
  case min = 0
  case low = 0x20
  case medium = 0x40
  case high = 0x60
  case max = 0x7F
}
