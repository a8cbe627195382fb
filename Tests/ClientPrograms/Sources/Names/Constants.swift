// SPDX-License-Identifier: Apache-2.0
import CoreVideo
import Foundation
import VideoToolbox

func errorsAndKeys() {
  let errors: [OSStatus: OSStatus] = [
    kVTPropertyNotSupportedErr: -12900, kVTPropertyReadOnlyErr: -12901, kVTParameterErr: -12902,
    kVTInvalidSessionErr: -12903, kVTAllocationFailedErr: -12904, kVTPixelTransferNotSupportedErr: -12905,
    kVTCouldNotFindVideoDecoderErr: -12906, kVTCouldNotCreateInstanceErr: -12907,
    kVTCouldNotFindVideoEncoderErr: -12908, kVTVideoDecoderBadDataErr: -12909,
    kVTVideoDecoderUnsupportedDataFormatErr: -12910, kVTVideoDecoderMalfunctionErr: -12911,
    kVTVideoEncoderMalfunctionErr: -12912, kVTVideoDecoderNotAvailableNowErr: -12913,
    kVTPixelRotationNotSupportedErr: -12914, kVTVideoEncoderNotAvailableNowErr: -12915,
    kVTFormatDescriptionChangeNotSupportedErr: -12916, kVTInsufficientSourceColorDataErr: -12917,
    kVTCouldNotCreateColorCorrectionDataErr: -12918, kVTColorSyncTransformConvertFailedErr: -12919,
    kVTVideoDecoderAuthorizationErr: -12210, kVTVideoEncoderAuthorizationErr: -12211,
    kVTColorCorrectionPixelTransferFailedErr: -12212, kVTMultiPassStorageIdentifierMismatchErr: -12213,
    kVTMultiPassStorageInvalidErr: -12214, kVTFrameSiloInvalidTimeStampErr: -12215,
    kVTFrameSiloInvalidTimeRangeErr: -12216, kVTCouldNotFindTemporalFilterErr: -12217,
    kVTPixelTransferNotPermittedErr: -12218, kVTColorCorrectionImageRotationFailedErr: -12219,
    kVTVideoDecoderRemovedErr: -17690, kVTSessionMalfunctionErr: -17691,
    kVTVideoDecoderNeedsRosettaErr: -17692, kVTVideoEncoderNeedsRosettaErr: -17693,
    kVTVideoDecoderReferenceMissingErr: -17694, kVTVideoDecoderCallbackMessagingErr: -17695,
    kVTVideoDecoderUnknownErr: -17696, kVTExtensionDisabledErr: -17697,
    kVTVideoEncoderMVHEVCVideoLayerIDsMismatchErr: -17698, kVTCouldNotOutputTaggedBufferGroupErr: -17699,
  ]
  for (error, value) in errors { check(error == value, "\(error) is not \(value)") }

  var session: VTCompressionSession?
  let status = VTCompressionSessionCreate(
    allocator: kCFAllocatorDefault, width: 320, height: 240, codecType: kCMVideoCodecType_H264,
    encoderSpecification: nil, imageBufferAttributes: nil, compressedDataAllocator: nil, outputCallback: nil,
    refcon: nil, compressionSessionOut: &session)
  guard status == noErr, let session else { return check(false, "no session: \(status)") }
  defer { VTCompressionSessionInvalidate(session) }
  // A property that no encoder has returns the error of its key.
  let unknown: [(CFString, CFTypeRef)] = [
    (kVTCompressionPropertyKey_PreserveAlphaChannel, kCFBooleanTrue),
    (kVTCompressionPropertyKey_MVHEVCVideoLayerIDs, [0, 1] as CFArray),
    (kVTCompressionPropertyKey_MVHEVCViewIDs, [0, 1] as CFArray),
    (kVTCompressionPropertyKey_MVHEVCLeftAndRightViewIDs, [0, 1] as CFArray),
    (kVTCompressionPropertyKey_HeroEye, kVTHeroEye_Left),
    (kVTCompressionPropertyKey_StereoCameraBaseline, 19_240 as CFNumber),
    (kVTCompressionPropertyKey_HorizontalDisparityAdjustment, 200 as CFNumber),
    (kVTCompressionPropertyKey_ProjectionKind, kVTProjectionKind_Rectilinear),
  ]
  for (key, value) in unknown {
    check(VTSessionSetProperty(session, key: key, value: value) == kVTPropertyNotSupportedErr, "\(key)")
  }
  // Integers with fractions.
  for (key, value) in [
    (kVTCompressionPropertyKey_AverageBitRate, 1_234_567.8),
    (kVTCompressionPropertyKey_MaxKeyFrameInterval, 59.94),
  ] {
    check(VTSessionSetProperty(session, key: key, value: value as CFNumber) == noErr, "\(key)")
    var found: CFTypeRef?
    withUnsafeMutablePointer(to: &found) {
      _ = VTSessionCopyProperty(session, key: key, allocator: nil, valueOut: UnsafeMutableRawPointer($0))
    }
    check((found as? NSNumber)?.intValue == Int(value), "\(key) is \(String(describing: found))")
  }
}

func pixelFormats() {
  let made: [OSType] = [
    kCVPixelFormatType_32BGRA, kCVPixelFormatType_32ARGB, kCVPixelFormatType_24RGB,
    kCVPixelFormatType_422YpCbCr8,
    kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange,
    kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange, kCVPixelFormatType_422YpCbCr10BiPlanarVideoRange,
    kCVPixelFormatType_444YpCbCr16BiPlanarVideoRange, kCVPixelFormatType_64RGBAHalf,
    kCVPixelFormatType_OneComponent8, kCVPixelFormatType_DepthFloat32,
  ]
  let refused: [OSType] = [
    kCVPixelFormatType_Lossless_32BGRA, kCVPixelFormatType_Lossless_420YpCbCr8BiPlanarVideoRange,
    kCVPixelFormatType_Lossless_420YpCbCr10PackedBiPlanarVideoRange, kCVPixelFormatType_Lossy_32BGRA,
    kCVPixelFormatType_Lossy_420YpCbCr8BiPlanarFullRange,
  ]
  for format in made + refused {
    var buffer: CVPixelBuffer?
    let status = CVPixelBufferCreate(
      kCFAllocatorDefault, 64, 48, format, [kCVPixelBufferIOSurfacePropertiesKey: [:]] as CFDictionary,
      &buffer)
    if refused.contains(format) {
      check(status == kCVReturnInvalidPixelFormat && buffer == nil, "\(format): \(status)")
      check(!CVIsCompressedPixelFormatAvailable(format), "\(format)")
    } else {
      check(status == kCVReturnSuccess && buffer != nil, "\(format): \(status)")
    }
  }
}
