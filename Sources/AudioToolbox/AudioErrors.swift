// SPDX-License-Identifier: Apache-2.0
import CoreAudio

// Errors of conversions.

/// The formats cannot be converted into each other.
public let kAudioConverterErr_FormatNotSupported: OSStatus = 0x666D_743F  // 'fmt?'
/// The converter cannot do that.
public let kAudioConverterErr_OperationNotSupported: OSStatus = 0x6F70_3F3F  // 'op??'
/// There is no such property.
public let kAudioConverterErr_PropertyNotSupported: OSStatus = 0x7072_6F70  // 'prop'
/// The input is no whole number of frames or packets, or not what the format says.
public let kAudioConverterErr_InvalidInputSize: OSStatus = 0x696E_737A  // 'insz'
/// There is no room for the output.
public let kAudioConverterErr_InvalidOutputSize: OSStatus = 0x6F74_737A  // 'otsz'
/// Something else.
public let kAudioConverterErr_UnspecifiedError: OSStatus = 0x7768_6174  // 'what'
public let kAudioConverterErr_BadPropertySizeError: OSStatus = 0x2173_697A  // '!siz'
/// Packets of different sizes need descriptions.
public let kAudioConverterErr_RequiresPacketDescriptionsError: OSStatus = 0x2170_6B64  // '!pkd'
public let kAudioConverterErr_InputSampleRateOutOfRange: OSStatus = 0x2169_7372  // '!isr'
public let kAudioConverterErr_OutputSampleRateOutOfRange: OSStatus = 0x216F_7372  // '!osr'

// Errors of files.

public let kAudioFileUnspecifiedError: OSStatus = 0x7768_743F  // 'wht?'
/// The type of file is not known, or cannot be written.
public let kAudioFileUnsupportedFileTypeError: OSStatus = 0x7479_703F  // 'typ?'
/// The type of file cannot hold the format.
public let kAudioFileUnsupportedDataFormatError: OSStatus = 0x666D_743F  // 'fmt?'
public let kAudioFileUnsupportedPropertyError: OSStatus = 0x7074_793F  // 'pty?'
public let kAudioFileBadPropertySizeError: OSStatus = 0x2173_697A  // '!siz'
/// The operation is not permitted.
public let kAudioFilePermissionsError: OSStatus = 0x7072_6D3F  // 'prm?'
/// The file cannot be optimised.
public let kAudioFileNotOptimizedError: OSStatus = 0x6F70_746D  // 'optm'
/// The requested item does not exist in the file.
public let kAudioFileInvalidChunkError: OSStatus = 0x6368_6B3F  // 'chk?'
public let kAudioFileDoesNotAllow64BitDataSizeError: OSStatus = 0x6F66_663F  // 'off?'
public let kAudioFileInvalidPacketOffsetError: OSStatus = 0x7063_6B3F  // 'pck?'
/// The file is damaged.
public let kAudioFileInvalidFileError: OSStatus = 0x6474_613F  // 'dta?'
public let kAudioFileOperationNotSupportedError: OSStatus = 0x6F70_3F3F
/// The file is closed.
public let kAudioFileNotOpenError: OSStatus = -38
public let kAudioFileEndOfFileError: OSStatus = -39
/// There is no such position in the file.
public let kAudioFilePositionError: OSStatus = -40
public let kAudioFileFileNotFoundError: OSStatus = -43
