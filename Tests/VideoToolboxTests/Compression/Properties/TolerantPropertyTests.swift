// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import TestSupport
import Testing
import VideoToolbox

/// Imprecise values that Apple's sessions accept, and those that they refuse all the
/// same.
@Suite(.serialized) struct TolerantPropertyTests {
  static func lowLatency() throws -> VTCompressionSession {
    try makeSession(specification: [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true])
  }

  static func set(_ session: VTCompressionSession, _ key: CFString, _ value: Any?) -> OSStatus {
    VTSessionSetProperty(session, key: key, value: value.map { $0 as AnyObject })
  }

  @Test func whatIsSoAlreadyCanBeSaid() throws {
    let session = try Self.lowLatency()
    for (key, so, other) in [
      (kVTCompressionPropertyKey_AllowFrameReordering, false, true),
      (kVTCompressionPropertyKey_AllowOpenGOP, false, true),
      (kVTCompressionPropertyKey_SuggestedLookAheadFrameCount, 0, 8),
      (kVTCompressionPropertyKey_FieldCount, 1, 2),
      (kVTCompressionPropertyKey_ProgressiveScan, true, false),
      (kVTCompressionPropertyKey_PreserveAlphaChannel, false, true),
      (kVTCompressionPropertyKey_HasLeftStereoEyeView, false, true),
    ] as [(CFString, Any, Any)] {
      #expect(Self.set(session, key, so) == noErr, "\(key)")
      #expect(Self.set(session, key, other) == kVTPropertyNotSupportedErr, "\(key)")
      // It is not a property for all that.
      #expect(Self.set(session, key, nil) == kVTPropertyNotSupportedErr, "\(key)")
      #expect(throws: SessionError.self) { _ = try property(session, key) }
    }
    #expect(try encode(session, TestClip(), count: 2).count == 2)
  }

  @Test func whatIsSoAlreadyCanBeSaidInMidStreamToo() throws {
    let session = try makeSession(properties: [kVTCompressionPropertyKey_AllowFrameReordering: false])
    _ = try encode(session, TestClip(), count: 2)
    #expect(Self.set(session, kVTCompressionPropertyKey_AllowFrameReordering, false) == noErr)
    #expect(Self.set(session, kVTCompressionPropertyKey_AllowFrameReordering, true) == kVTPropertyReadOnlyErr)
  }

  @Test func fractionsAreDropped() throws {
    let session = try makeSession()
    for (key, given, kept) in [
      (kVTCompressionPropertyKey_AverageBitRate, 1_234_567.8, 1_234_567),
      (kVTCompressionPropertyKey_MaxKeyFrameInterval, 59.94, 59),
      (kVTCompressionPropertyKey_MaxFrameDelayCount, 3.99, 3),
      (kVTCompressionPropertyKey_ReferenceBufferCount, 2.5, 2),
      (kVTCompressionPropertyKey_SpatialAdaptiveQPLevel, -1.5, -1),
      (kVTCompressionPropertyKey_SourceFrameCount, 0.9, 0),
    ] as [(CFString, Double, Int)] {
      #expect(Self.set(session, key, given) == noErr, "\(key)")
      #expect(try property(session, key) as? Int == kept, "\(key)")
    }
    // Fractional properties keep their fraction; a number out of range stays out.
    #expect(Self.set(session, kVTCompressionPropertyKey_ExpectedFrameRate, 59.94) == noErr)
    #expect(try property(session, kVTCompressionPropertyKey_ExpectedFrameRate) as? Double == 59.94)
    #expect(Self.set(session, kVTCompressionPropertyKey_ReferenceBufferCount, 0.5) == kVTParameterErr)
    #expect(Self.set(session, kVTCompressionPropertyKey_AverageBitRate, Double.nan) == kVTParameterErr)
    #expect(Self.set(session, kVTCompressionPropertyKey_AverageBitRate, CGFloat(1280) * 720 * 4) == noErr)
    #expect(try property(session, kVTCompressionPropertyKey_AverageBitRate) as? Int == 3_686_400)
  }

  @Test func unknownOptionsOfAFrameArePassedOver() throws {
    for session in [try makeSession(), try Self.lowLatency()] {
      let samples = try encode(session, TestClip(), count: 4) { index in
        ["Unheard": [1], "of": NSNull(), kVTEncodeFrameOptionKey_ForceKeyFrame: index == 2]
      }
      #expect(samples.count == 4)
      #expect(samples.map(\.isSync) == [true, false, true, false])
    }
  }

  @Test func keysOfWhatNobodyDoesAreRefused() throws {
    let session = try makeSession()
    for key in [
      kVTCompressionPropertyKey_MVHEVCVideoLayerIDs, kVTCompressionPropertyKey_MVHEVCViewIDs,
      kVTCompressionPropertyKey_MVHEVCLeftAndRightViewIDs, kVTCompressionPropertyKey_HeroEye,
      kVTCompressionPropertyKey_ProjectionKind, kVTCompressionPropertyKey_ViewPackingKind,
      kVTCompressionPropertyKey_StereoCameraBaseline, kVTCompressionPropertyKey_HorizontalFieldOfView,
      kVTCompressionPropertyKey_HorizontalDisparityAdjustment,
      kVTCompressionPropertyKey_CameraCalibrationDataLensCollection,
      kVTCompressionPropertyKey_AlphaChannelMode, kVTCompressionPropertyKey_TargetQualityForAlpha,
      kVTCompressionPropertyKey_GammaLevel, kVTCompressionPropertyKey_ICCProfile,
    ] {
      #expect(Self.set(session, key, [0, 1]) == kVTPropertyNotSupportedErr, "\(key)")
      #expect(throws: SessionError.self) { _ = try property(session, key) }
    }
    #expect(!VTIsStereoMVHEVCEncodeSupported() && !VTIsStereoMVHEVCDecodeSupported())
    #expect(
      Self.set(session, kVTCompressionPropertyKey_ProfileLevel, kVTProfileLevel_HEVC_Main42210_AutoLevel)
        == kVTParameterErr)
  }
}

/// `PixelTransferProperties` of a compression session, seen in the decoded pictures.
@Suite(.serialized) struct SourceTransferTests {
  /// A bright picture with a black clean border of its own.
  private func source(_ width: Int, _ height: Int, luma: UInt8 = 180) throws -> CVPixelBuffer {
    var made: CVPixelBuffer?
    try check(
      CVPixelBufferCreate(nil, width, height, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &made),
      "buffer")
    let buffer = try #require(made)
    CVPixelBufferLockBaseAddress(buffer, [])
    defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
    for (plane, value) in [(0, luma), (1, 128)] {
      memset(
        CVPixelBufferGetBaseAddressOfPlane(buffer, plane), Int32(value),
        CVPixelBufferGetBytesPerRowOfPlane(buffer, plane) * CVPixelBufferGetHeightOfPlane(buffer, plane))
    }
    return buffer
  }

  private func encode(_ session: VTCompressionSession, _ buffer: CVPixelBuffer) throws -> Data {
    let collector = Collector()
    try check(
      VTCompressionSessionEncodeFrame(
        session, imageBuffer: buffer, presentationTimeStamp: .zero, duration: CMTime(value: 1, timescale: 30),
        frameProperties: nil, infoFlagsOut: nil
      ) { status, flags, sample in collector.add(status, flags, sample) }, "encode")
    try check(VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid), "complete")
    #expect(collector.all.allSatisfy { $0.status == noErr })
    return annexB(collector.samples)
  }

  @Test(
    arguments: [kVTScalingMode_Normal, kVTScalingMode_Letterbox, kVTScalingMode_Trim].map { $0 as String })
  func aSourceIsScaledInTheModeThatWasSet(_ name: String) throws {
    let mode = name as CFString
    guard StreamProbe.isAvailable else { return }
    let session = try makeSession(
      width: 320, height: 320,
      properties: [
        kVTCompressionPropertyKey_PixelTransferProperties: [kVTPixelTransferPropertyKey_ScalingMode: mode],
        kVTCompressionPropertyKey_Quality: 0.9,
      ])
    // The same picture, but for a dark left and right end, which Trim cuts off.
    let wide = try source(640, 160)
    CVPixelBufferLockBaseAddress(wide, [])
    let luma = try #require(CVPixelBufferGetBaseAddressOfPlane(wide, 0))
    for row in 0..<160 {
      let line = luma + row * CVPixelBufferGetBytesPerRowOfPlane(wide, 0)
      memset(line, 60, 160)
      memset(line + 480, 60, 160)
    }
    CVPixelBufferUnlockBaseAddress(wide, [])
    let picture = try StreamProbe.decode(try encode(session, wide))
    #expect(picture.count == 320 * 320)
    // As full-range grey: 180 is 191, 60 is 51, black 0.
    func grey(_ x: Int, _ y: Int) -> Int { Int(picture[y * 320 + x]) }
    let (top, left, middle) = (grey(160, 20), grey(20, 160), grey(160, 160))
    #expect(abs(middle - 191) < 12 || abs(middle - 180) < 12)
    if mode == kVTScalingMode_Letterbox {
      #expect(top < 24 && left > 40 && left < 80)
    } else if mode == kVTScalingMode_Trim {
      #expect(top > 150 && left > 150)
    } else {
      #expect(top > 150 && left < 80)
    }
  }

  @Test func aSourceIsCroppedToItsCleanAperture() throws {
    guard StreamProbe.isAvailable else { return }
    let session = try makeSession(
      width: 320, height: 240,
      properties: [
        kVTCompressionPropertyKey_PixelTransferProperties: [
          kVTPixelTransferPropertyKey_ScalingMode: kVTScalingMode_CropSourceToCleanAperture
        ], kVTCompressionPropertyKey_Quality: 0.9,
      ])
    // Of the session's size: without the property it would go in as it is.
    let buffer = try source(320, 240, luma: 40)
    CVPixelBufferLockBaseAddress(buffer, [])
    let luma = try #require(CVPixelBufferGetBaseAddressOfPlane(buffer, 0))
    for row in 60..<180 { memset(luma + row * CVPixelBufferGetBytesPerRowOfPlane(buffer, 0) + 80, 200, 160) }
    CVPixelBufferUnlockBaseAddress(buffer, [])
    CVBufferSetAttachment(
      buffer, kCVImageBufferCleanApertureKey,
      [
        kCVImageBufferCleanApertureWidthKey: 160, kCVImageBufferCleanApertureHeightKey: 120,
        kCVImageBufferCleanApertureHorizontalOffsetKey: 0, kCVImageBufferCleanApertureVerticalOffsetKey: 0,
      ] as CFDictionary, .shouldPropagate)
    let picture = try StreamProbe.decode(try encode(session, buffer))
    #expect(picture[10 * 320 + 10] > 170 && picture[230 * 320 + 310] > 170)
  }

  @Test func aSourceIsConvertedToTheColoursThatWereSet() throws {
    guard StreamProbe.isAvailable else { return }
    let wanted: [CFString: Any] = [
      kVTPixelTransferPropertyKey_DestinationColorPrimaries: kCVImageBufferColorPrimaries_ITU_R_2020,
      kVTPixelTransferPropertyKey_DestinationTransferFunction: kCVImageBufferTransferFunction_Linear,
      kVTPixelTransferPropertyKey_DestinationYCbCrMatrix: kCVImageBufferYCbCrMatrix_ITU_R_2020,
    ]
    let session = try makeSession(properties: [
      kVTCompressionPropertyKey_PixelTransferProperties: wanted, kVTCompressionPropertyKey_Quality: 0.9,
    ])
    let buffer = try source(320, 240)
    for (key, value) in [
      (kCVImageBufferColorPrimariesKey, kCVImageBufferColorPrimaries_ITU_R_709_2),
      (kCVImageBufferTransferFunctionKey, kCVImageBufferTransferFunction_ITU_R_709_2),
      (kCVImageBufferYCbCrMatrixKey, kCVImageBufferYCbCrMatrix_ITU_R_709_2),
    ] { CVBufferSetAttachment(buffer, key, value, .shouldPropagate) }
    let stream = try encode(session, buffer)
    let probe = try StreamProbe(stream)
    #expect(probe.text("color_primaries") == "bt2020" && probe.text("color_space") == "bt2020nc")
    #expect(probe.text("color_transfer") == "linear")
    let plain = try StreamProbe.decode(try encode(try makeSession(), buffer))
    let converted = try StreamProbe.decode(stream)
    #expect(abs(Int(plain[0]) - Int(converted[0])) > 8, "linear light has another curve")
  }

  @Test func valuesAreCheckedAndKept() throws {
    let session = try makeSession()
    let key = kVTCompressionPropertyKey_PixelTransferProperties
    let good = [kVTPixelTransferPropertyKey_ScalingMode: kVTScalingMode_Trim] as CFDictionary
    #expect(VTSessionSetProperty(session, key: key, value: good) == noErr)
    #expect((try property(session, key) as? NSDictionary) == good)
    for bad in [
      [kVTPixelTransferPropertyKey_ScalingMode: "Stretch"], ["NoSuchKey": 1], [1, 2], "Trim",
    ] as [Any] {
      #expect(VTSessionSetProperty(session, key: key, value: bad as AnyObject) == kVTParameterErr)
    }
    #expect((try property(session, key) as? NSDictionary) == good)
    var all: CFDictionary?
    #expect(VTSessionCopySerializableProperties(session, allocator: nil, dictionaryOut: &all) == noErr)
    let other = try makeSession()
    #expect(VTSessionSetProperties(other, propertyDictionary: try #require(all)) == noErr)
    #expect((try property(other, key) as? NSDictionary) == good)
    #expect(VTSessionSetProperty(session, key: key, value: nil) == noErr)
    #expect(try property(session, key) == nil)
  }
}
