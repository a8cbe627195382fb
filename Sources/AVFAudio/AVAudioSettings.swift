// SPDX-License-Identifier: Apache-2.0
/// The audio format, an `AudioFormatID`.
public let AVFormatIDKey: String = "AVFormatIDKey"
/// The sample rate in hertz.
public let AVSampleRateKey: String = "AVSampleRateKey"
public let AVNumberOfChannelsKey: String = "AVNumberOfChannelsKey"
/// The arrangement of the channels, an `AudioChannelLayout` in a `Data`.
public let AVChannelLayoutKey: String = "AVChannelLayoutKey"

/// The type of an `AVAudioFile` or a recorder's file, an `AudioFileTypeID`. Writers of AVFoundation
/// get the file type when they are created and ignore a number.
public let AVAudioFileTypeKey: String = "AVAudioFileTypeKey"

// MARK: - Linear PCM

/// The number of bits of a sample: 8, 16, 24 or 32.
public let AVLinearPCMBitDepthKey: String = "AVLinearPCMBitDepthKey"
public let AVLinearPCMIsBigEndianKey: String = "AVLinearPCMIsBigEndianKey"
public let AVLinearPCMIsFloatKey: String = "AVLinearPCMIsFloatKey"
/// Whether each channel has a buffer of its own.
public let AVLinearPCMIsNonInterleaved: String = "AVLinearPCMIsNonInterleaved"

// MARK: - Compression

/// The bit rate for all channels, in bits per second.
public let AVEncoderBitRateKey: String = "AVEncoderBitRateKey"
/// The bit rate for each channel, in bits per second. It is used if `AVEncoderBitRateKey` is
/// missing.
public let AVEncoderBitRatePerChannelKey: String = "AVEncoderBitRatePerChannelKey"
/// The time that the encoder spends, an `AVAudioQuality`. With qualities up to `low` it uses a
/// faster search.
public let AVEncoderAudioQualityKey: String = "AVEncoderQualityKey"
/// The quality that determines the bit rate with `AVAudioBitRateStrategy_Variable`, an
/// `AVAudioQuality`.
public let AVEncoderAudioQualityForVBRKey: String = "AVEncoderQualityForVBRKey"
/// The meaning of the bit rate: one of the strategies below.
public let AVEncoderBitRateStrategyKey: String = "AVEncoderBitRateStrategyKey"
/// The bit depth of lossless encoders, from 8 to 32. Other numbers are rejected; since the value is
/// a hint, those in the range have no effect.
public let AVEncoderBitDepthHintKey: String = "AVEncoderBitDepthHintKey"

/// The same as `AVAudioBitRateStrategy_LongTermAverage`.
public let AVAudioBitRateStrategy_Constant: String = "AVAudioBitRateStrategy_Constant"
/// The encoder keeps the average bit rate, with variations that the bit reservoir of AAC allows.
/// This is the default.
public let AVAudioBitRateStrategy_LongTermAverage: String = "AVAudioBitRateStrategy_LongTermAverage"
/// The same as `AVAudioBitRateStrategy_LongTermAverage`.
public let AVAudioBitRateStrategy_VariableConstrained: String = "AVAudioBitRateStrategy_VariableConstrained"
/// The quality determines the bit rate; see `AVEncoderAudioQualityForVBRKey`.
public let AVAudioBitRateStrategy_Variable: String = "AVAudioBitRateStrategy_Variable"

// MARK: - Sample rate conversion

/// The sample rate conversion's algorithm: one of the values below.
public let AVSampleRateConverterAlgorithmKey: String = "AVSampleRateConverterAlgorithmKey"
/// The quality of the sample rate conversion, an `AVAudioQuality`. Higher qualities use a longer
/// filter.
public let AVSampleRateConverterAudioQualityKey: String = "AVSampleRateConverterQualityKey"

public let AVSampleRateConverterAlgorithm_Normal: String = "AVSampleRateConverterAlgorithm_Normal"
/// Uses the longest filter, unless `AVSampleRateConverterAudioQualityKey` determines another one.
public let AVSampleRateConverterAlgorithm_Mastering: String = "AVSampleRateConverterAlgorithm_Mastering"
/// Not supported: settings with this value are rejected.
public let AVSampleRateConverterAlgorithm_MinimumPhase: String = "AVSampleRateConverterAlgorithm_MinimumPhase"

/// The qualities of encoders and of sample rate conversion.
public enum AVAudioQuality: Int, Sendable {
  case min = 0
  case low = 0x20
  case medium = 0x40
  case high = 0x60
  case max = 0x7F
}
