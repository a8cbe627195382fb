// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// The format of a stream of audio, a four-character code.
public typealias AudioFormatID = UInt32
/// Flags of a format, whose meaning depends on the format.
public typealias AudioFormatFlags = UInt32

/// Uncompressed samples.
public let kAudioFormatLinearPCM: AudioFormatID = 0x6C70636D  // 'lpcm'
/// AC-3.
public let kAudioFormatAC3: AudioFormatID = 0x61632D33  // 'ac-3'
/// MPEG-4 AAC, low complexity.
public let kAudioFormatMPEG4AAC: AudioFormatID = 0x61616320  // 'aac '
/// MPEG-4 high-efficiency AAC.
public let kAudioFormatMPEG4AAC_HE: AudioFormatID = 0x61616368  // 'aach'
/// MPEG-4 high-efficiency AAC, version 2.
public let kAudioFormatMPEG4AAC_HE_V2: AudioFormatID = 0x61616370  // 'aacp'
/// MPEG-1 or 2 layer 3.
public let kAudioFormatMPEGLayer3: AudioFormatID = 0x2E6D7033  // '.mp3'
/// Apple Lossless.
public let kAudioFormatAppleLossless: AudioFormatID = 0x616C6163  // 'alac'
/// Enhanced AC-3.
public let kAudioFormatEnhancedAC3: AudioFormatID = 0x65632D33  // 'ec-3'
/// FLAC.
public let kAudioFormatFLAC: AudioFormatID = 0x666C6163  // 'flac'
/// Opus.
public let kAudioFormatOpus: AudioFormatID = 0x6F707573  // 'opus'
/// mu-law.
public let kAudioFormatULaw: AudioFormatID = 0x756C6177  // 'ulaw'
/// A-law.
public let kAudioFormatALaw: AudioFormatID = 0x616C6177  // 'alaw'

/// Samples are floating-point numbers rather than integers.
public let kAudioFormatFlagIsFloat: AudioFormatFlags = 1 << 0
/// Samples are big-endian.
public let kAudioFormatFlagIsBigEndian: AudioFormatFlags = 1 << 1
/// Integers are signed.
public let kAudioFormatFlagIsSignedInteger: AudioFormatFlags = 1 << 2
/// Samples fill all bits of their bytes.
public let kAudioFormatFlagIsPacked: AudioFormatFlags = 1 << 3
/// Samples are in the high bits of their bytes.
public let kAudioFormatFlagIsAlignedHigh: AudioFormatFlags = 1 << 4
/// Each channel is in a separate buffer.
public let kAudioFormatFlagIsNonInterleaved: AudioFormatFlags = 1 << 5
/// Samples are not mixable.
public let kAudioFormatFlagIsNonMixable: AudioFormatFlags = 1 << 6
/// The flag for the byte order of the machine.
public let kAudioFormatFlagsNativeEndian: AudioFormatFlags =
  1.bigEndian == 1 ? kAudioFormatFlagIsBigEndian : 0
/// Packed floating-point numbers in the byte order of the machine.
public let kAudioFormatFlagsNativeFloatPacked: AudioFormatFlags =
  kAudioFormatFlagIsFloat | kAudioFormatFlagsNativeEndian | kAudioFormatFlagIsPacked
public let kLinearPCMFormatFlagIsFloat: AudioFormatFlags = kAudioFormatFlagIsFloat
public let kLinearPCMFormatFlagIsBigEndian: AudioFormatFlags = kAudioFormatFlagIsBigEndian
public let kLinearPCMFormatFlagIsSignedInteger: AudioFormatFlags = kAudioFormatFlagIsSignedInteger
public let kLinearPCMFormatFlagIsPacked: AudioFormatFlags = kAudioFormatFlagIsPacked
public let kLinearPCMFormatFlagIsAlignedHigh: AudioFormatFlags = kAudioFormatFlagIsAlignedHigh
public let kLinearPCMFormatFlagIsNonInterleaved: AudioFormatFlags = kAudioFormatFlagIsNonInterleaved

/// The format of a stream of audio.
public struct AudioStreamBasicDescription: Sendable, Hashable {
  /// The sample rate in frames per second.
  public var mSampleRate: Float64
  public var mFormatID: AudioFormatID
  public var mFormatFlags: AudioFormatFlags
  /// The size of a packet in bytes; 0 if packets differ in size.
  public var mBytesPerPacket: UInt32
  /// The number of frames in a packet; 1 for uncompressed audio, 0 if packets differ in duration.
  public var mFramesPerPacket: UInt32
  /// The size of a frame in bytes; 0 for compressed audio.
  public var mBytesPerFrame: UInt32
  public var mChannelsPerFrame: UInt32
  /// The number of bits of a sample; 0 for compressed audio.
  public var mBitsPerChannel: UInt32
  public var mReserved: UInt32

  public init() {
    self.init(
      mSampleRate: 0, mFormatID: 0, mFormatFlags: 0, mBytesPerPacket: 0, mFramesPerPacket: 0,
      mBytesPerFrame: 0, mChannelsPerFrame: 0, mBitsPerChannel: 0, mReserved: 0)
  }

  public init(
    mSampleRate: Float64, mFormatID: AudioFormatID, mFormatFlags: AudioFormatFlags, mBytesPerPacket: UInt32,
    mFramesPerPacket: UInt32, mBytesPerFrame: UInt32, mChannelsPerFrame: UInt32, mBitsPerChannel: UInt32,
    mReserved: UInt32
  ) {
    self.mSampleRate = mSampleRate
    self.mFormatID = mFormatID
    self.mFormatFlags = mFormatFlags
    self.mBytesPerPacket = mBytesPerPacket
    self.mFramesPerPacket = mFramesPerPacket
    self.mBytesPerFrame = mBytesPerFrame
    self.mChannelsPerFrame = mChannelsPerFrame
    self.mBitsPerChannel = mBitsPerChannel
    self.mReserved = mReserved
  }
}
