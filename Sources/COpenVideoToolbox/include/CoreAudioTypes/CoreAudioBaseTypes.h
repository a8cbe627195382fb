// SPDX-License-Identifier: Apache-2.0
// The audio types that Core Media's functions take.

#ifndef OVT_COREAUDIOTYPES_COREAUDIOBASETYPES_H
#define OVT_COREAUDIOTYPES_COREAUDIOBASETYPES_H

#include <MacTypes.h>
#include <TargetConditionals.h>

OVT_HEADER_BEGIN

typedef UInt32 AudioFormatID;
typedef UInt32 AudioFormatFlags;
typedef UInt32 AudioChannelLabel;
typedef UInt32 AudioChannelLayoutTag;
typedef UInt32 AudioChannelBitmap;
typedef UInt32 AudioChannelFlags;

/// An audio format.
typedef struct AudioStreamBasicDescription {
  Float64 mSampleRate;
  AudioFormatID mFormatID;
  AudioFormatFlags mFormatFlags;
  UInt32 mBytesPerPacket;
  UInt32 mFramesPerPacket;
  UInt32 mBytesPerFrame;
  UInt32 mChannelsPerFrame;
  UInt32 mBitsPerChannel;
  UInt32 mReserved;
} AudioStreamBasicDescription;

/// Where a packet is in a buffer, and how much it holds.
typedef struct AudioStreamPacketDescription {
  SInt64 mStartOffset;
  UInt32 mVariableFramesInPacket;
  UInt32 mDataByteSize;
} AudioStreamPacketDescription;

/// One buffer of audio.
typedef struct AudioBuffer {
  UInt32 mNumberChannels;
  UInt32 mDataByteSize;
  void *OVT_NULLABLE mData;
} AudioBuffer;

/// Buffers of audio; more than one follow in memory.
typedef struct AudioBufferList {
  UInt32 mNumberBuffers;
  AudioBuffer mBuffers[1];
} AudioBufferList;

/// The purpose of one channel.
typedef struct AudioChannelDescription {
  AudioChannelLabel mChannelLabel;
  AudioChannelFlags mChannelFlags;
  Float32 mCoordinates[3];
} AudioChannelDescription;

/// How the channels of audio are arranged. More descriptions than one follow in memory.
typedef struct AudioChannelLayout {
  AudioChannelLayoutTag mChannelLayoutTag;
  AudioChannelBitmap mChannelBitmap;
  UInt32 mNumberChannelDescriptions;
  AudioChannelDescription mChannelDescriptions[1];
} AudioChannelLayout;

/// An audio format with its layout.
typedef struct AudioFormatListItem {
  AudioStreamBasicDescription mASBD;
  AudioChannelLayoutTag mChannelLayoutTag;
} AudioFormatListItem;

#if TARGET_RT_BIG_ENDIAN
#define kAudioFormatFlagsNativeEndian kAudioFormatFlagIsBigEndian
#else
#define kAudioFormatFlagsNativeEndian 0
#endif
#define kAudioFormatFlagsNativeFloatPacked                                                                   \
  (kAudioFormatFlagIsFloat | kAudioFormatFlagsNativeEndian | kAudioFormatFlagIsPacked)

/// The arrangement of the channels is not known; their number is in the lower 16 bits.
#define kAudioChannelLayoutTag_Unknown 0xFFFF0000U

enum {
  /// The channels are described one by one.
  kAudioChannelLayoutTag_UseChannelDescriptions = 0,
  /// The channels are those of the bitmap.
  kAudioChannelLayoutTag_UseChannelBitmap = 65536,
  kAudioChannelLayoutTag_Mono = 6553601,
  kAudioChannelLayoutTag_Stereo = 6619138,
  /// AC-3 in the frames of IEC 60958.
  kAudioFormat60958AC3 = 0x63616333,  // 'cac3'
  /// Apple's IMA 4:1 ADPCM.
  kAudioFormatAppleIMA4 = 0x696D6134,  // 'ima4'
  /// MPEG-4 CELP.
  kAudioFormatMPEG4CELP = 0x63656C70,  // 'celp'
  /// MPEG-4 HVXC.
  kAudioFormatMPEG4HVXC = 0x68767863,  // 'hvxc'
  /// MPEG-4 TwinVQ.
  kAudioFormatMPEG4TwinVQ = 0x74777671,  // 'twvq'
  /// MACE 3:1.
  kAudioFormatMACE3 = 0x4D414333,  // 'MAC3'
  /// MACE 6:1.
  kAudioFormatMACE6 = 0x4D414336,  // 'MAC6'
  /// QDesign music.
  kAudioFormatQDesign = 0x51444D43,  // 'QDMC'
  /// QDesign music 2.
  kAudioFormatQDesign2 = 0x51444D32,  // 'QDM2'
  /// Qualcomm PureVoice.
  kAudioFormatQUALCOMM = 0x51636C70,  // 'Qclp'
  /// MPEG-1 or 2 layer 1.
  kAudioFormatMPEGLayer1 = 0x2E6D7031,  // '.mp1'
  /// MPEG-1 or 2 layer 2.
  kAudioFormatMPEGLayer2 = 0x2E6D7032,  // '.mp2'
  /// A time code.
  kAudioFormatTimeCode = 0x74696D65,  // 'time'
  /// MIDI packets.
  kAudioFormatMIDIStream = 0x6D696469,  // 'midi'
  /// Parameters that change with time.
  kAudioFormatParameterValueStream = 0x61707673,  // 'apvs'
  /// MPEG-4 AAC, low delay.
  kAudioFormatMPEG4AAC_LD = 0x6161636C,  // 'aacl'
  /// MPEG-4 AAC, enhanced low delay.
  kAudioFormatMPEG4AAC_ELD = 0x61616365,  // 'aace'
  /// The same with spectral band replication.
  kAudioFormatMPEG4AAC_ELD_SBR = 0x61616366,  // 'aacf'
  /// The same, version 2.
  kAudioFormatMPEG4AAC_ELD_V2 = 0x61616367,  // 'aacg'
  /// MPEG-4 spatial audio.
  kAudioFormatMPEG4AAC_Spatial = 0x61616373,  // 'aacs'
  /// MPEG-D unified speech and audio coding.
  kAudioFormatMPEGD_USAC = 0x75736163,  // 'usac'
  /// AMR, narrow band.
  kAudioFormatAMR = 0x73616D72,  // 'samr'
  /// AMR, wide band.
  kAudioFormatAMR_WB = 0x73617762,  // 'sawb'
  /// Audible's audio books.
  kAudioFormatAudible = 0x41554442,  // 'AUDB'
  /// iLBC.
  kAudioFormatiLBC = 0x696C6263,  // 'ilbc'
  /// AES3.
  kAudioFormatAES3 = 0x61657333,  // 'aes3'
  /// Apple's positional audio codec.
  kAudioFormatAPAC = 0x61706163,  // 'apac'
  /// Intel's and DVI's ADPCM, as WAVE files number it.
  kAudioFormatDVIIntelIMA = 0x6D730011,
  /// Microsoft's GSM 6.10, as WAVE files number it.
  kAudioFormatMicrosoftGSM = 0x6D730031,
  /// Uncompressed samples.
  kAudioFormatLinearPCM = 0x6C70636D,  // 'lpcm'
  /// AC-3.
  kAudioFormatAC3 = 0x61632D33,  // 'ac-3'
  /// MPEG-4 AAC, low complexity.
  kAudioFormatMPEG4AAC = 0x61616320,  // 'aac '
  /// MPEG-4 high-efficiency AAC.
  kAudioFormatMPEG4AAC_HE = 0x61616368,  // 'aach'
  /// MPEG-4 high-efficiency AAC, version 2.
  kAudioFormatMPEG4AAC_HE_V2 = 0x61616370,  // 'aacp'
  /// MPEG-1 or 2 layer 3.
  kAudioFormatMPEGLayer3 = 0x2E6D7033,  // '.mp3'
  /// Apple Lossless.
  kAudioFormatAppleLossless = 0x616C6163,  // 'alac'
  /// Enhanced AC-3.
  kAudioFormatEnhancedAC3 = 0x65632D33,  // 'ec-3'
  /// FLAC.
  kAudioFormatFLAC = 0x666C6163,  // 'flac'
  /// Opus.
  kAudioFormatOpus = 0x6F707573,  // 'opus'
  /// mu-law.
  kAudioFormatULaw = 0x756C6177,  // 'ulaw'
  /// A-law.
  kAudioFormatALaw = 0x616C6177,  // 'alaw'
  /// Samples are floating-point numbers, not integers.
  kAudioFormatFlagIsFloat = 1,
  /// Samples are big-endian.
  kAudioFormatFlagIsBigEndian = 2,
  /// Integers are signed.
  kAudioFormatFlagIsSignedInteger = 4,
  /// Samples fill all bits of their bytes.
  kAudioFormatFlagIsPacked = 8,
  /// Samples are in the high bits of their bytes.
  kAudioFormatFlagIsAlignedHigh = 16,
  /// Each channel is in a buffer of its own.
  kAudioFormatFlagIsNonInterleaved = 32,
  /// Samples are not mixable.
  kAudioFormatFlagIsNonMixable = 64,
  kLinearPCMFormatFlagIsFloat = kAudioFormatFlagIsFloat,
  kLinearPCMFormatFlagIsBigEndian = kAudioFormatFlagIsBigEndian,
  kLinearPCMFormatFlagIsSignedInteger = kAudioFormatFlagIsSignedInteger,
  kLinearPCMFormatFlagIsPacked = kAudioFormatFlagIsPacked,
  kLinearPCMFormatFlagIsAlignedHigh = kAudioFormatFlagIsAlignedHigh,
  kLinearPCMFormatFlagIsNonInterleaved = kAudioFormatFlagIsNonInterleaved
};

OVT_HEADER_END

#endif
