// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import CoreVideo
import Foundation

/// 640x368 cropped to 640x360, High profile, with colour.
let spsH264: [UInt8] = [
  0x67, 0x64, 0x00, 0x1e, 0xac, 0xd9, 0x40, 0xa0, 0x2f, 0xf9, 0x70, 0x16, 0xe0, 0x40, 0x40, 0xb4, 0xa0, 0x00,
  0x00,
  0x03, 0x00, 0x20, 0x00, 0x00, 0x07, 0x81, 0xe2, 0xc5, 0xb2, 0xc0,
]
let ppsH264: [UInt8] = [0x68, 0xeb, 0xec, 0xb2, 0x2c]

func formatDescriptions() throws {
  // The most nested form of the call.
  var formatDescription: CMFormatDescription?
  var status = spsH264.withUnsafeBufferPointer { sps in
    ppsH264.withUnsafeBufferPointer { pps in
      let pointers: [UnsafePointer<UInt8>] = [sps.baseAddress!, pps.baseAddress!]
      let sizes: [Int] = [sps.count, pps.count]
      return pointers.withUnsafeBufferPointer { pointers in
        sizes.withUnsafeBufferPointer { sizes in
          CMVideoFormatDescriptionCreateFromH264ParameterSets(
            allocator: kCFAllocatorDefault, parameterSetCount: 2,
            parameterSetPointers: pointers.baseAddress!, parameterSetSizes: sizes.baseAddress!,
            nalUnitHeaderLength: 4, formatDescriptionOut: &formatDescription)
        }
      }
    }
  }
  checkEqual(status, noErr)
  guard let format = formatDescription else { return check(false, "no format description") }
  let dimensions = CMVideoFormatDescriptionGetDimensions(format)
  check(dimensions.width == 640 && dimensions.height == 360, "\(dimensions)")
  checkEqual(CMFormatDescriptionGetMediaSubType(format), kCMVideoCodecType_H264)
  checkEqual(CMFormatDescriptionGetMediaType(format), kCMMediaType_Video)
  check(format.mediaType == .video && format.mediaSubType == .h264)
  checkEqual(format.dimensions.width, 640)
  let presentation = CMVideoFormatDescriptionGetPresentationDimensions(
    format, usePixelAspectRatio: true, useCleanAperture: true)
  checkEqual(presentation, CGSize(width: 640, height: 360))
  check(CMFormatDescriptionGetTypeID() == CFGetTypeID(format))

  // Data held elsewhere; pointers kept with withUnsafeBytes.
  let sets = [Data(spsH264), Data(ppsH264)]
  let again = try CMVideoFormatDescription(h264ParameterSets: sets)
  check(again == format && CMFormatDescriptionEqual(again, otherFormatDescription: format))
  checkEqual(again.parameterSets.map { Data($0) }, sets)
  checkEqual(again.nalUnitHeaderLength, 4)

  // Read them back.
  var count = 0
  var nalLength: Int32 = 0
  checkEqual(
    CMVideoFormatDescriptionGetH264ParameterSetAtIndex(
      format, parameterSetIndex: 0, parameterSetPointerOut: nil, parameterSetSizeOut: nil,
      parameterSetCountOut: &count, nalUnitHeaderLengthOut: &nalLength), noErr)
  check(count == 2 && nalLength == 4)
  for (index, set) in [spsH264, ppsH264].enumerated() {
    var pointer: UnsafePointer<UInt8>?
    var size = 0
    checkEqual(
      CMVideoFormatDescriptionGetH264ParameterSetAtIndex(
        format, parameterSetIndex: index, parameterSetPointerOut: &pointer, parameterSetSizeOut: &size,
        parameterSetCountOut: nil, nalUnitHeaderLengthOut: nil), noErr)
    check(Array(UnsafeBufferPointer(start: pointer!, count: size)) == set)
  }
  check(
    CMVideoFormatDescriptionGetH264ParameterSetAtIndex(
      format, parameterSetIndex: 2, parameterSetPointerOut: nil, parameterSetSizeOut: nil,
      parameterSetCountOut: nil,
      nalUnitHeaderLengthOut: nil) != noErr)
  var hevcCount = 0
  check(
    CMVideoFormatDescriptionGetHEVCParameterSetAtIndex(
      format, parameterSetIndex: 0, parameterSetPointerOut: nil, parameterSetSizeOut: nil,
      parameterSetCountOut: &hevcCount, nalUnitHeaderLengthOut: nil) != noErr)

  // avcC both ways.
  let atoms =
    CMFormatDescriptionGetExtension(
      format, extensionKey: kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms) as! CFDictionary
  let avcC = (atoms as NSDictionary)["avcC"] as! Data
  check(avcC[0] == 1 && avcC[1] == 0x64 && avcC[3] == 0x1e && avcC[4] & 3 == 3)
  let extensions = CMFormatDescriptionGetExtensions(format) as! [String: Any]
  check((extensions["SampleDescriptionExtensionAtoms"] as! [String: Any])["avcC"] as? Data == avcC)
  var fromRecord: CMVideoFormatDescription?
  checkEqual(
    CMVideoFormatDescriptionCreate(
      allocator: nil, codecType: kCMVideoCodecType_H264, width: 640, height: 360,
      extensions: [
        kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms: ["avcC": avcC as CFData]
          as CFDictionary
      ] as CFDictionary, formatDescriptionOut: &fromRecord), noErr)
  checkEqual(fromRecord!.parameterSets.count, 2)
  let swift = try CMFormatDescription(
    videoCodecType: .h264, width: 640, height: 360,
    extensions: .init(base: [
      kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms: ["avcC": avcC] as NSDictionary
    ]))
  checkEqual(swift.parameterSets.count, 2)
  check(swift.extensions[.sampleDescriptionExtensionAtoms] != nil)
  checkEqual(swift.mediaSubType.description, "avc1")

  // Colour, out of the SPS.
  let primaries = CMFormatDescriptionGetExtension(
    format, extensionKey: kCMFormatDescriptionExtension_ColorPrimaries)
  check(primaries == nil || primaries is CFString)
  check(format.extensions[.fieldCount]?.propertyListRepresentation as? Int != 2)

  // Errors.
  var none: CMFormatDescription?
  status = spsH264.withUnsafeBufferPointer {
    CMVideoFormatDescriptionCreateFromH264ParameterSets(
      allocator: nil, parameterSetCount: 1, parameterSetPointers: [$0.baseAddress!],
      parameterSetSizes: [spsH264.count], nalUnitHeaderLength: 4, formatDescriptionOut: &none)
  }
  check(status == kCMFormatDescriptionError_InvalidParameter && none == nil)
  checkThrows { _ = try CMVideoFormatDescription(h264ParameterSets: [Data([1, 2, 3]), Data([4])]) }
  checkThrows { _ = try CMVideoFormatDescription(hevcParameterSets: sets) }

  // From an image buffer, and whether it fits.
  var pixelBuffer: CVPixelBuffer?
  CVPixelBufferCreate(
    nil, 64, 48, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange,
    [kCVPixelBufferIOSurfacePropertiesKey: [:]] as CFDictionary, &pixelBuffer)
  var videoInfo: CMVideoFormatDescription?
  checkEqual(
    CMVideoFormatDescriptionCreateForImageBuffer(
      allocator: nil, imageBuffer: pixelBuffer!, formatDescriptionOut: &videoInfo), noErr)
  check(CMVideoFormatDescriptionMatchesImageBuffer(videoInfo!, imageBuffer: pixelBuffer!))
  checkEqual(CMFormatDescriptionGetMediaSubType(videoInfo!), kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
  CVBufferSetAttachment(
    pixelBuffer!, kCVImageBufferYCbCrMatrixKey, kCVImageBufferYCbCrMatrix_ITU_R_601_4, .shouldPropagate)
  check(!CMVideoFormatDescriptionMatchesImageBuffer(videoInfo!, imageBuffer: pixelBuffer!))
  let described = try CMVideoFormatDescription(imageBuffer: pixelBuffer!)
  check(described.extensions[.yCbCrMatrix]?.propertyListRepresentation as? String == "ITU_R_601_4")

  // Audio.
  var asbd = AudioStreamBasicDescription(
    mSampleRate: 44_100, mFormatID: kAudioFormatLinearPCM,
    mFormatFlags: kAudioFormatFlagIsSignedInteger | kAudioFormatFlagIsPacked, mBytesPerPacket: 4,
    mFramesPerPacket: 1, mBytesPerFrame: 4, mChannelsPerFrame: 2, mBitsPerChannel: 16, mReserved: 0)
  var audio: CMAudioFormatDescription?
  checkEqual(
    CMAudioFormatDescriptionCreate(
      allocator: kCFAllocatorDefault, asbd: &asbd, layoutSize: 0, layout: nil, magicCookieSize: 0,
      magicCookie: nil,
      extensions: nil, formatDescriptionOut: &audio), noErr)
  checkEqual(CMAudioFormatDescriptionGetStreamBasicDescription(audio!)!.pointee.mSampleRate, 44_100)
  checkEqual(audio!.audioStreamBasicDescription!.mChannelsPerFrame, 2)
}
