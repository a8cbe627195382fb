// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import CoreVideo
import Foundation
import TestSupport
import Testing
import VideoToolbox

/// As `ExtremeArgumentTests`, for pixel buffers, sessions and what belongs to them.
@Suite(.serialized) struct ExtremeSessionArgumentTests {
  private static let formats: [OSType] = [
    0, 1, .max, kCVPixelFormatType_32BGRA, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange,
    kCVPixelFormatType_422YpCbCr8, kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange,
  ]

  @Test func pixelBuffersTakeExtremes() throws {
    for format in Self.formats {
      for width in Extremes.ints {
        // No more memory than a machine has: either side is small, or beyond all reason.
        for height in [Int.min, -1, 0, 1, 3, 1 << 40, .max]
        where width < 1 << 31 || width > 1 << 40 || height < 1 {
          var made: CVPixelBuffer?
          let status = CVPixelBufferCreate(nil, width, height, format, nil, &made)
          #expect((status == kCVReturnSuccess) == (made != nil))
          #expect(made == nil || width > 0 && height > 0)
        }
      }
      var made: CVPixelBuffer?
      CVPixelBufferCreate(nil, 32, 16, format, nil, &made)
      guard let made else { continue }
      for plane in Extremes.ints {
        _ = (CVPixelBufferGetWidthOfPlane(made, plane), CVPixelBufferGetHeightOfPlane(made, plane))
        let isOne = plane >= 0 && plane < CVPixelBufferGetPlaneCount(made)
        #expect(isOne || plane == 0 || CVPixelBufferGetBytesPerRowOfPlane(made, plane) == 0)
        CVPixelBufferLockBaseAddress(made, .readOnly)
        #expect(isOne || plane == 0 || CVPixelBufferGetBaseAddressOfPlane(made, plane) == nil)
        CVPixelBufferUnlockBaseAddress(made, .readOnly)
      }
      _ = CVPixelBufferUnlockBaseAddress(made, CVPixelBufferLockFlags(rawValue: .max))
    }
    let bytes = UnsafeMutableRawPointer.allocate(byteCount: 4096, alignment: 64)
    defer { bytes.deallocate() }
    for width in Extremes.ints {
      for row in Extremes.ints {
        var made: CVPixelBuffer?
        let status = CVPixelBufferCreateWithBytes(
          nil, width, 4, kCVPixelFormatType_32BGRA, bytes, row, nil, nil, nil, &made)
        #expect(status != kCVReturnSuccess || width > 0 && row >= 4 * width)
      }
    }
    for code in Extremes.int32s {
      _ = (
        CVYCbCrMatrixGetStringForIntegerCodePoint(code), CVColorPrimariesGetStringForIntegerCodePoint(code)
      )
      _ = CVTransferFunctionGetStringForIntegerCodePoint(code)
    }
  }

  /// Numbers of all kinds in the attributes of buffers and pools, and in attachments that say how a
  /// picture lies.
  @Test func attributesAndAttachmentsTakeExtremes() throws {
    for number in Extremes.doubles + Extremes.int64s.map({ Double($0) }) {
      let value = NSNumber(value: number)
      for key in [
        kCVPixelBufferWidthKey, kCVPixelBufferHeightKey, kCVPixelBufferPixelFormatTypeKey,
        kCVPixelBufferExtendedPixelsLeftKey, kCVPixelBufferExtendedPixelsRightKey,
        kCVPixelBufferExtendedPixelsTopKey, kCVPixelBufferExtendedPixelsBottomKey,
        kCVPixelBufferBytesPerRowAlignmentKey, kCVPixelBufferPlaneAlignmentKey,
      ] {
        let attributes = NSMutableDictionary()
        attributes[kCVPixelBufferWidthKey] = 16
        attributes[kCVPixelBufferHeightKey] = 16
        attributes[kCVPixelBufferPixelFormatTypeKey] = kCVPixelFormatType_32BGRA
        attributes[key] = value
        // Buffers of gigabytes are a program's own affair.
        guard number.isNaN || abs(number) < 1e6 || abs(number) > 1e12 else { continue }
        var made: CVPixelBuffer?
        _ = CVPixelBufferCreate(nil, 16, 16, kCVPixelFormatType_32BGRA, attributes, &made)
        var pool: CVPixelBufferPool?
        let minimum: NSDictionary = [
          kCVPixelBufferPoolMinimumBufferCountKey: value, kCVPixelBufferPoolMaximumBufferAgeKey: value,
        ]
        if CVPixelBufferPoolCreate(nil, abs(number) > 1e3 ? nil : minimum, attributes, &pool)
          == kCVReturnSuccess, let pool
        {
          made = nil
          _ = CVPixelBufferPoolCreatePixelBufferWithAuxAttributes(
            nil, pool, [kCVPixelBufferPoolAllocationThresholdKey: value] as NSDictionary, &made)
        }
      }
      var made: CVPixelBuffer?
      CVPixelBufferCreate(nil, 16, 16, kCVPixelFormatType_32BGRA, nil, &made)
      let buffer = try #require(made)
      CVBufferSetAttachment(
        buffer, kCVImageBufferCleanApertureKey,
        [
          kCVImageBufferCleanApertureWidthKey: value, kCVImageBufferCleanApertureHeightKey: value,
          kCVImageBufferCleanApertureHorizontalOffsetKey: value,
          kCVImageBufferCleanApertureVerticalOffsetKey: value,
        ] as NSDictionary, .shouldPropagate)
      CVBufferSetAttachment(
        buffer, kCVImageBufferPixelAspectRatioKey,
        [
          kCVImageBufferPixelAspectRatioHorizontalSpacingKey: value,
          kCVImageBufferPixelAspectRatioVerticalSpacingKey: value,
        ] as NSDictionary, .shouldPropagate)
      CVBufferSetAttachment(buffer, kCVImageBufferGammaLevelKey, value, .shouldPropagate)
      _ = (
        CVImageBufferGetCleanRect(buffer), CVImageBufferGetDisplaySize(buffer),
        CVImageBufferGetEncodedSize(buffer)
      )
      // A transfer looks at all of them.
      var session: VTPixelTransferSession?
      #expect(VTPixelTransferSessionCreate(allocator: nil, pixelTransferSessionOut: &session) == noErr)
      let transfer = try #require(session)
      for mode in [
        kVTScalingMode_Normal, kVTScalingMode_CropSourceToCleanAperture, kVTScalingMode_Letterbox,
        kVTScalingMode_Trim,
      ] {
        _ = VTSessionSetProperty(transfer, key: kVTPixelTransferPropertyKey_ScalingMode, value: mode)
        var target: CVPixelBuffer?
        CVPixelBufferCreate(nil, 20, 10, kCVPixelFormatType_32BGRA, nil, &target)
        _ = VTPixelTransferSessionTransferImage(transfer, from: buffer, to: try #require(target))
      }
      var format: CMVideoFormatDescription?
      _ = CMVideoFormatDescriptionCreateForImageBuffer(
        allocator: nil, imageBuffer: buffer, formatDescriptionOut: &format)
      var image: CGImage?
      #expect(VTCreateCGImageFromCVPixelBuffer(buffer, options: nil, imageOut: &image) == noErr)
    }
  }

  @Test func sessionsTakeExtremeSizes() throws {
    for codec in [kCMVideoCodecType_H264, kCMVideoCodecType_HEVC, 0, .max] as [CMVideoCodecType] {
      _ = VTIsHardwareDecodeSupported(codec)
      for width in Extremes.int32s {
        for height in Extremes.int32s {
          var session: VTCompressionSession?
          let status = VTCompressionSessionCreate(
            allocator: nil, width: width, height: height, codecType: codec, encoderSpecification: nil,
            imageBufferAttributes: nil, compressedDataAllocator: nil, outputCallback: nil, refcon: nil,
            compressionSessionOut: &session)
          #expect((status == noErr) == (session != nil))
          #expect(session == nil || width > 0 && height > 0)
          if let session { VTCompressionSessionInvalidate(session) }
          _ = VTCopySupportedPropertyDictionaryForEncoder(
            width: width, height: height, codecType: codec, encoderSpecification: nil, encoderIDOut: nil,
            supportedPropertiesOut: nil)
          var format: CMVideoFormatDescription?
          _ = CMVideoFormatDescriptionCreate(
            allocator: nil, codecType: codec, width: width, height: height, extensions: nil,
            formatDescriptionOut: &format)
          guard let format else { continue }
          var decoder: VTDecompressionSession?
          _ = VTDecompressionSessionCreate(
            allocator: nil, formatDescription: format, decoderSpecification: nil, imageBufferAttributes: nil,
            outputCallback: nil, decompressionSessionOut: &decoder)
          if let decoder {
            var black: CVPixelBuffer?
            if Int(width) * Int(height) < 1 << 24 {
              _ = VTDecompressionSessionCopyBlackPixelBuffer(decoder, pixelBufferOut: &black)
            }
            VTDecompressionSessionInvalidate(decoder)
          }
        }
      }
    }
  }

  @Test func sessionsAndStoragesTakeExtremeTimes() throws {
    let clip = TestClip(width: 64, height: 48)
    let session = try makeSession(width: 64, height: 48)
    _ = try encode(session, clip, count: 2)
    for time in Extremes.times {
      _ = VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: time)
    }
    // It continues.
    #expect(try encode(session, clip, count: 2, from: 2).count == 2)
    let some = Swift.stride(from: 0, to: Extremes.ranges.count, by: 7).map { Extremes.ranges[$0] }
    let sample = try #require(try encode(session, clip, count: 1, from: 4).first)
    for range in some {
      var silo: VTFrameSilo?
      let status = VTFrameSiloCreate(
        allocator: nil, fileURL: nil, timeRange: range, options: nil, frameSiloOut: &silo)
      #expect((status == noErr) == (silo != nil))
      if let silo {
        _ = VTFrameSiloAddSampleBuffer(silo, sampleBuffer: sample)
        for other in some.prefix(20) {
          _ = VTFrameSiloCallBlockForEachSampleBuffer(silo, in: other) { _ in noErr }
        }
        var ranges = [range, range]
        for count in [Int.min, -1, 0, 1, 2] {
          _ = VTFrameSiloSetTimeRangesForNextPass(silo, timeRangeCount: count, timeRangeArray: &ranges)
        }
        var progress: Float32 = 0
        _ = VTFrameSiloGetProgressOfCurrentPass(silo, progressOut: &progress)
        #expect(progress.isFinite)
      }
      var storage: VTMultiPassStorage?
      if VTMultiPassStorageCreate(
        allocator: nil, fileURL: nil, timeRange: range, options: nil, multiPassStorageOut: &storage) == noErr,
        let storage
      {
        #expect(VTMultiPassStorageClose(storage) == noErr)
      }
    }
    for flags in [UInt32.min, 1, 0xF0, .max] {
      _ = VTCompressionSessionBeginPass(session, flags: VTCompressionSessionOptionFlags(rawValue: flags), nil)
      _ = VTCompressionSessionEndPass(session, furtherPassesRequestedOut: nil, nil)
    }
    let decoder = try makeDecoder(try #require(sample.formatDescription))
    for flags in [UInt32.min, 0xF0, .max] {
      _ = VTDecompressionSessionDecodeFrame(
        decoder, sampleBuffer: sample, flags: VTDecodeFrameFlags(rawValue: flags), infoFlagsOut: nil
      ) { _, _, _, _, _ in }
    }
    #expect(VTDecompressionSessionWaitForAsynchronousFrames(decoder) == noErr)
  }
}
