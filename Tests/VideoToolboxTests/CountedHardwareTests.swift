// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import Foundation
import Testing
import VideoToolbox

/// Programs that require hardware get the encoders and decoders that run on the processor, if that
/// is wanted. The setting is of the whole process: each test has one of its own.
@Suite struct CountedHardwareTests {
  private static func encoder(_ specification: [CFString: Any]) -> (OSStatus, VTCompressionSession?) {
    var made: VTCompressionSession?
    let status = VTCompressionSessionCreate(
      allocator: nil, width: 64, height: 48, codecType: kCMVideoCodecType_H264,
      encoderSpecification: specification as CFDictionary, imageBufferAttributes: nil,
      compressedDataAllocator: nil, outputCallback: nil, refcon: nil, compressionSessionOut: &made)
    return (status, made)
  }

  private static func decoder(_ specification: [CFString: Any]) throws -> (OSStatus, VTDecompressionSession?)
  {
    // Both come without parameter sets.
    let format = try CMFormatDescription(videoCodecType: .jpeg, width: 64, height: 48)
    var made: VTDecompressionSession?
    let status = VTDecompressionSessionCreate(
      allocator: nil, formatDescription: format, decoderSpecification: specification as CFDictionary,
      imageBufferAttributes: nil, outputCallback: nil, decompressionSessionOut: &made)
    return (status, made)
  }

  private static func isUsed(_ session: (any VTSession)?, _ key: CFString) -> Bool? {
    guard let session else { return nil }
    var value: CFTypeRef?
    guard VTSessionCopyProperty(session, key: key, allocator: nil, valueOut: &value) == noErr else {
      return nil
    }
    return (value as? NSNumber)?.boolValue
  }

  private static func listed() -> Set<Bool> {
    var list: CFArray?
    VTCopyVideoEncoderList(nil, &list)
    return Set(
      (list as? [[CFString: Any]] ?? []).compactMap { $0[kVTVideoEncoderList_IsHardwareAccelerated] as? Bool }
    )
  }

  private static var encoding: CFString { kVTCompressionPropertyKey_UsingHardwareAcceleratedVideoEncoder }
  private static var decoding: CFString { kVTDecompressionPropertyKey_UsingHardwareAcceleratedVideoDecoder }
  private static var requiredEncoder: CFString {
    kVTVideoEncoderSpecification_RequireHardwareAcceleratedVideoEncoder
  }
  private static var allowedEncoder: CFString {
    kVTVideoEncoderSpecification_EnableHardwareAcceleratedVideoEncoder
  }
  private static var requiredDecoder: CFString {
    kVTVideoDecoderSpecification_RequireHardwareAcceleratedVideoDecoder
  }
  private static var allowedDecoder: CFString {
    kVTVideoDecoderSpecification_EnableHardwareAcceleratedVideoDecoder
  }

  @Test func theSettingLetsWhoRequiresHardwareFindOurs() async {
    await #expect(processExitsWith: .success) {
      // Without it, nothing is hardware.
      #expect(!CodecRegistry.shared.countsAllAsHardware)
      #expect(Self.encoder([Self.requiredEncoder: true]).0 == kVTCouldNotFindVideoEncoderErr)
      #expect(try Self.decoder([Self.requiredDecoder: true]).0 == kVTCouldNotFindVideoDecoderErr)
      #expect(Self.listed() == [false] && !VTIsHardwareDecodeSupported(kCMVideoCodecType_H264))
      let before = Self.encoder([:]).1

      CodecRegistry.shared.countsAllAsHardware = true
      #expect(Self.listed() == [true] && VTIsHardwareDecodeSupported(kCMVideoCodecType_H264))
      for specification in [[Self.requiredEncoder: true], [Self.allowedEncoder: true], [:]] {
        let (status, session) = Self.encoder(specification)
        #expect(status == noErr && Self.isUsed(session, Self.encoding) == true)
      }
      for specification in [[Self.requiredDecoder: true], [Self.allowedDecoder: true], [:]] {
        let (status, session) = try Self.decoder(specification)
        #expect(status == noErr && Self.isUsed(session, Self.decoding) == true)
      }
      // The property is correct where hardware is ruled out, and what was there before stays as it
      // was.
      #expect(Self.isUsed(Self.encoder([Self.allowedEncoder: false]).1, Self.encoding) == false)
      #expect(Self.isUsed(try Self.decoder([Self.allowedDecoder: false]).1, Self.decoding) == false)
      #expect(Self.isUsed(before, Self.encoding) == false)

      CodecRegistry.shared.countsAllAsHardware = false
      #expect(Self.encoder([Self.requiredEncoder: true]).0 == kVTCouldNotFindVideoEncoderErr)
      #expect(Self.listed() == [false])
    }
  }

  @Test func theEnvironmentSaysItAtTheStart() async {
    await #expect(processExitsWith: .success) {
      // Before anything asks for the registry.
      setenv("OVT_COUNT_AS_HARDWARE", "1", 1)
      #expect(CodecRegistry.shared.countsAllAsHardware)
      #expect(Self.encoder([Self.requiredEncoder: true]).0 == noErr)
    }
    await #expect(processExitsWith: .success) {
      setenv("OVT_COUNT_AS_HARDWARE", "0", 1)
      #expect(Self.encoder([Self.requiredEncoder: true]).0 == kVTCouldNotFindVideoEncoderErr)
    }
  }
}
