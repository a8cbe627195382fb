// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing
import VideoToolbox

/// The lists of encoders and decoders agree with what sessions do.
@Suite struct EncoderListTests {
  @Test(arguments: [kCMVideoCodecType_H264, kCMVideoCodecType_HEVC])
  func propertiesOfAnEncoderAreReportedWithoutASession(_ codec: CMVideoCodecType) throws {
    var id: CFString?
    var properties: CFDictionary?
    #expect(
      VTCopySupportedPropertyDictionaryForEncoder(
        width: 640, height: 360, codecType: codec, encoderSpecification: nil, encoderIDOut: &id,
        supportedPropertiesOut: &properties) == noErr)
    let listed = try #require(properties as? [String: Any])
    var list: CFArray?
    #expect(VTCopyVideoEncoderList(nil, &list) == noErr)
    let encoders = try #require(list as? [[CFString: Any]])
    let row = try #require(encoders.first { $0[kVTVideoEncoderList_EncoderID] as? String == id as String? })
    #expect(row[kVTVideoEncoderList_CodecType] as? CMVideoCodecType == codec)

    // A session with that encoder supports those properties, and takes what they allow.
    var made: VTCompressionSession?
    #expect(
      VTCompressionSessionCreate(
        allocator: nil, width: 640, height: 360, codecType: codec,
        encoderSpecification: [kVTVideoEncoderSpecification_EncoderID: id!] as CFDictionary,
        imageBufferAttributes: nil, compressedDataAllocator: nil, outputCallback: nil, refcon: nil,
        compressionSessionOut: &made) == noErr)
    let session = try #require(made)
    #expect(CFGetTypeID(session) == VTCompressionSessionGetTypeID())
    var supported: CFDictionary?
    #expect(
      VTSessionCopySupportedPropertyDictionary(session, supportedPropertyDictionaryOut: &supported) == noErr)
    #expect(Set(listed.keys) == Set(try #require(supported as? [String: Any]).keys))
    let rate = try #require(listed[kVTCompressionPropertyKey_AverageBitRate as String] as? [CFString: Any])
    #expect(rate[kVTPropertyTypeKey] as? String == kVTPropertyType_Number as String)
    #expect(rate[kVTPropertyReadWriteStatusKey] as? String == kVTPropertyReadWriteStatus_ReadWrite as String)
    #expect(
      VTSessionSetProperty(
        session, key: kVTCompressionPropertyKey_AverageBitRate, value: 1_000_000 as CFNumber) == noErr)
    VTCompressionSessionInvalidate(session)
  }

  @Test func reserveEncodersAndDecodersChangeNothing() {
    // There are none: nothing changes. Other tests register encoders of their own meanwhile.
    func encoders(_ options: CFDictionary?) -> [String] {
      var list: CFArray?
      VTCopyVideoEncoderList(options, &list)
      return (list as? [[CFString: Any]] ?? []).compactMap { $0[kVTVideoEncoderList_EncoderID] as? String }
        .filter { $0.hasPrefix("org.openvideotoolbox.") }
    }
    let before = encoders(nil)
    VTRegisterSupplementalVideoDecoderIfAvailable(kCMVideoCodecType_VP9)
    VTRegisterProfessionalVideoWorkflowVideoDecoders()
    VTRegisterProfessionalVideoWorkflowVideoEncoders()
    let option: NSDictionary = [
      kVTVideoEncoderListOption_IncludeStandardDefinitionDVEncoders: NSNumber(value: true)
    ]
    #expect(!before.isEmpty && encoders(option) == before && encoders(nil) == before)
    #expect(
      kVTVideoEncoderListOption_IncludeStandardDefinitionDVEncoders == "IncludeStandardDefinitionDVEncoders")
    #expect(kCMVideoCodecType_DolbyVisionHEVC == 1_685_481_521)
    #expect(encoders(nil).count == before.count)
  }

  @Test func missingEncodersAndBadSizesAreErrors() {
    var properties: CFDictionary? = [:] as CFDictionary
    #expect(
      VTCopySupportedPropertyDictionaryForEncoder(
        width: 640, height: 360, codecType: 0x3F3F_3F3F, encoderSpecification: nil, encoderIDOut: nil,
        supportedPropertiesOut: &properties) == kVTCouldNotFindVideoEncoderErr)
    #expect(properties == nil)
    #expect(
      VTCopySupportedPropertyDictionaryForEncoder(
        width: 0, height: 360, codecType: kCMVideoCodecType_H264, encoderSpecification: nil,
        encoderIDOut: nil,
        supportedPropertiesOut: nil) == kVTParameterErr)
    // Everything here is decoded in software.
    #expect(!VTIsHardwareDecodeSupported(kCMVideoCodecType_H264))
  }

  @Test func sessionsHaveTypesOfTheirOwn() throws {
    var transfer: VTPixelTransferSession?
    var rotation: VTPixelRotationSession?
    #expect(VTPixelTransferSessionCreate(allocator: nil, pixelTransferSessionOut: &transfer) == noErr)
    #expect(VTPixelRotationSessionCreate(nil, &rotation) == noErr)
    #expect(CFGetTypeID(transfer!) == VTPixelTransferSessionGetTypeID())
    #expect(CFGetTypeID(rotation!) == VTPixelRotationSessionGetTypeID())
    var buffers: [CVPixelBuffer] = []
    for _ in 0..<2 {
      var buffer: CVPixelBuffer?
      CVPixelBufferCreate(nil, 16, 16, kCVPixelFormatType_32BGRA, nil, &buffer)
      buffers.append(try #require(buffer))
    }
    #expect(VTPixelRotationSessionRotateImage(rotation!, buffers[0], buffers[1]) == noErr)
    VTPixelRotationSessionInvalidate(rotation!)
    #expect(VTPixelRotationSessionRotateImage(rotation!, buffers[0], buffers[1]) == kVTInvalidSessionErr)
  }
}
