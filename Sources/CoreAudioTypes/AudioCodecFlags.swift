// SPDX-License-Identifier: Apache-2.0
import CoreMedia

// Apple Lossless: the bits of the samples that were encoded.

public let kAppleLosslessFormatFlag_16BitSourceData: AudioFormatFlags = 1
public let kAppleLosslessFormatFlag_20BitSourceData: AudioFormatFlags = 2
public let kAppleLosslessFormatFlag_24BitSourceData: AudioFormatFlags = 3
public let kAppleLosslessFormatFlag_32BitSourceData: AudioFormatFlags = 4

/// Kinds of AAC (ISO/IEC 14496-3, table 1.17), as the format flags of `kAudioFormatMPEG4AAC` say them.
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

/// All format flags that say how integers and floats are stored.
public let kAudioFormatFlagsAreAllClear: AudioFormatFlags = 0x8000_0000

// Errors that all of Core Audio shares.

public let kAudio_UnimplementedError: OSStatus = -4
public let kAudio_FileNotFoundError: OSStatus = -43
public let kAudio_FilePermissionError: OSStatus = -54
public let kAudio_TooManyFilesOpenError: OSStatus = -42
public let kAudio_BadFilePathError: OSStatus = 0x2170_7468  // '!pth'
public let kAudio_ParamError: OSStatus = -50
public let kAudio_MemFullError: OSStatus = -108
