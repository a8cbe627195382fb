// SPDX-License-Identifier: Apache-2.0
import AVFAudio
import AudioToolbox
import CoreAudio
import CoreAudioTypes
import CoreMedia
import Foundation
import MobileCoreServices
import Testing

@Suite struct ThinModuleTests {
  @Test("The older names of uniform types conform as those of UniformTypeIdentifiers do")
  func uniformTypes() {
    #expect(UTTypeConformsTo(kUTTypeQuickTimeMovie, kUTTypeMovie))
    #expect(UTTypeConformsTo(kUTTypeMPEG4, kUTTypeAudiovisualContent))
    #expect(!UTTypeConformsTo(kUTTypeMP3, kUTTypeMovie))
    #expect(UTTypeEqual(kUTTypeMovie, "public.movie") && !UTTypeEqual(kUTTypeMovie, kUTTypeVideo))
    let type = UTTypeCreatePreferredIdentifierForTag(kUTTagClassFilenameExtension, "mov", kUTTypeMovie)
    #expect(type?.takeRetainedValue() == kUTTypeQuickTimeMovie)
    #expect(UTTypeCreatePreferredIdentifierForTag(kUTTagClassFilenameExtension, "mov", kUTTypeImage) == nil)
    #expect(UTTypeCreatePreferredIdentifierForTag(kUTTagClassMIMEType, "x/unknown", nil) == nil)
    let tag = UTTypeCopyPreferredTagWithClass(kUTTypeMPEG4, kUTTagClassMIMEType)
    #expect(tag?.takeRetainedValue() as String? == "video/mp4")
  }

  @Test("Constants have Apple's values")
  func values() {
    #expect(kAudioChannelLayoutTag_MPEG_5_1_A == 7_929_862)
    #expect(AudioChannelLayoutTag_GetNumberOfChannels(kAudioChannelLayoutTag_AAC_7_1) == 8)
    #expect(kAudioConverterErr_FormatNotSupported == 1_718_449_215)
    #expect(kAudioFileUnsupportedFileTypeError == 1_954_115_647)
    #expect(kAudioFileUnspecifiedError == 2_003_334_207)
    #expect(kAudioFileInvalidFileError == 1_685_348_671)
    #expect(MemoryLayout<SMPTETime>.size == 24 && MemoryLayout<AudioTimeStamp>.size == 64)
  }

  @Test("Audio formats can be named in a program that imports Core Media and Core Audio's types")
  func formatsAreNotAmbiguous() {
    #expect(kAudioFormatAppleIMA4 == 0x696D_6134)
    #expect(kAudioFormatiLBC == 0x696C_6263)
    #expect(kAudioFormatAMR == 0x7361_6D72)
    #expect(kAudioFormatMPEGLayer2 == 0x2E6D_7032)
  }
}
