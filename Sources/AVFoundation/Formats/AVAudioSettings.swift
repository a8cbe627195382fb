// SPDX-License-Identifier: Apache-2.0
/// The format of sound: an `AudioFormatID`.
public let AVFormatIDKey: String = "AVFormatIDKey"
/// Hertz.
public let AVSampleRateKey: String = "AVSampleRateKey"
public let AVNumberOfChannelsKey: String = "AVNumberOfChannelsKey"
/// An `AudioChannelLayout` in `Data`.
public let AVChannelLayoutKey: String = "AVChannelLayoutKey"

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
