// SPDX-License-Identifier: Apache-2.0
import CoreMedia

// Flags of Apple Lossless, which state the bit depth of the encoded samples.

public let kAppleLosslessFormatFlag_16BitSourceData: AudioFormatFlags = 1
public let kAppleLosslessFormatFlag_20BitSourceData: AudioFormatFlags = 2
public let kAppleLosslessFormatFlag_24BitSourceData: AudioFormatFlags = 3
public let kAppleLosslessFormatFlag_32BitSourceData: AudioFormatFlags = 4

/// Audio object types (ISO/IEC 14496-3, table 1.17), which the format flags of
/// `kAudioFormatMPEG4AAC` contain.
public enum MPEG4ObjectID: Int, Sendable {
  case AAC_Main = 1
  case aac_LC = 2
  case AAC_SSR = 3
  case AAC_LTP = 4
  case AAC_SBR = 5
  case aac_Scalable = 6
  case twinVQ = 7
  case CELP = 8
  case HVXC = 9
}

/// The flag that states that all other flags are clear. It is used because 0 means unspecified
/// flags.
public let kAudioFormatFlagsAreAllClear: AudioFormatFlags = 0x8000_0000

// Error codes that are common to all of Core Audio.

public let kAudio_UnimplementedError: OSStatus = -4
public let kAudio_FileNotFoundError: OSStatus = -43
public let kAudio_FilePermissionError: OSStatus = -54
public let kAudio_TooManyFilesOpenError: OSStatus = -42
public let kAudio_BadFilePathError: OSStatus = 0x2170_7468  // '!pth'
public let kAudio_ParamError: OSStatus = -50
public let kAudio_MemFullError: OSStatus = -108
