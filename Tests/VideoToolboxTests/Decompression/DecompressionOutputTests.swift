// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import FFmpegMedia
import Foundation
import Testing
import VideoToolbox

private let plain = ["-c:v", "libx264", "-bf", "0", "-g", "12"]
private let reordering = ["-c:v", "libx264", "-bf", "2", "-g", "12"]

private func attachment(_ buffer: CVBuffer, _ key: CFString) -> NSObject? {
  CVBufferCopyAttachment(buffer, key, nil) as? NSObject
}

private func property<T>(_ session: VTSession, _ key: CFString, as type: T.Type = T.self) throws -> T? {
  var value: CFTypeRef?
  try check(VTSessionCopyProperty(session, key: key, allocator: nil, valueOut: &value), key as String)
  // Not `value as? T`: docs/architecture.md, faults of the compiler.
  return value.flatMap { $0 as? T }
}

private func lumaPSNR(_ a: [UInt8], _ b: [UInt8], _ count: Int) -> Double {
  let sum = zip(a.prefix(count), b.prefix(count)).reduce(0.0) {
    let d = Double($1.0) - Double($1.1)
    return $0 + d * d
  }
  return sum == 0 ? .infinity : 10 * log10(65025 * Double(count) / sum)
}

@Suite(.enabled(if: SampleMovie.isAvailable)) struct DecompressionOutputTests {
  // MARK: Pixel formats and sizes

  @Test func planarOutputIsTheDecodersOwn() throws {
    let movie = try SampleMovie(reordering, seconds: 0.4)
    let session = try makeDecoder(
      movie.format, attributes: [kCVPixelBufferPixelFormatTypeKey: kCVPixelFormatType_420YpCbCr8Planar])
    let collector = try decode(session, movie.samples)
    for (place, index) in movie.presentationOrder.enumerated() {
      let image = collector.images[index]
      #expect(CVPixelBufferGetPixelFormatType(image) == kCVPixelFormatType_420YpCbCr8Planar)
      let isSame = planar(image) == movie.reference[place]
      #expect(isSame)
    }
    #expect(try property(session, kVTDecompressionPropertyKey_PixelBufferPoolIsShared) == true)
    #expect(collector.all.allSatisfy { !$0.flags.contains(.imageBufferModifiable) })
  }

  /// The requested format is output, by conversion if needed; of several formats the one that needs
  /// none.
  @Test func imagesComeInThePixelFormatAskedFor() throws {
    let movie = try SampleMovie(plain, seconds: 0.2)
    for format in [
      kCVPixelFormatType_32BGRA, kCVPixelFormatType_32ARGB, kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange,
      kCVPixelFormatType_420YpCbCr8BiPlanarFullRange, kCVPixelFormatType_422YpCbCr8, kCVPixelFormatType_24RGB,
    ] {
      let session = try makeDecoder(movie.format, attributes: [kCVPixelBufferPixelFormatTypeKey: format])
      let collector = try decode(session, movie.samples)
      #expect(collector.images.count == movie.samples.count)
      #expect(collector.images.allSatisfy { CVPixelBufferGetPixelFormatType($0) == format })
      #expect(collector.all.allSatisfy { $0.flags.contains(.imageBufferModifiable) })
      #expect(try property(session, kVTDecompressionPropertyKey_PixelBufferPoolIsShared) == false)
      // Back to what it was.
      let back = try #require(makeBuffer(movie.width, movie.height, kCVPixelFormatType_420YpCbCr8Planar))
      try PixelConverter().convert(collector.images[0], to: back)
      #expect(lumaPSNR(planar(back), movie.reference[0], movie.width * movie.height) > 38)
    }
    let session = try makeDecoder(
      movie.format,
      attributes: [
        kCVPixelBufferPixelFormatTypeKey: [
          kCVPixelFormatType_32BGRA, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange,
        ]
      ])
    let images = try decode(session, movie.samples).images
    #expect(CVPixelBufferGetPixelFormatType(images[0]) == kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
  }

  @Test func imagesComeInTheSizeAskedFor() throws {
    let movie = try SampleMovie(plain, seconds: 0.2, reference: false)
    let scaled = try makeDecoder(
      movie.format, attributes: [kCVPixelBufferWidthKey: 176, kCVPixelBufferHeightKey: 144])
    let small = try #require(try decode(scaled, movie.samples).images.first)
    #expect(CVPixelBufferGetWidth(small) == 176 && CVPixelBufferGetHeight(small) == 144)
    let reduced = try makeDecoder(
      movie.format,
      properties: [
        kVTDecompressionPropertyKey_ReducedResolutionDecode: [
          kVTDecompressionResolutionKey_Width: 88, kVTDecompressionResolutionKey_Height: 72,
        ]
      ])
    let tiny = try #require(try decode(reduced, movie.samples).images.first)
    #expect(CVPixelBufferGetWidth(tiny) == 88 && CVPixelBufferGetHeight(tiny) == 72)
  }

  @Test func otherAttributesReachThePool() throws {
    let movie = try SampleMovie(plain, seconds: 0.2, reference: false)
    let session = try makeDecoder(
      movie.format,
      attributes: [
        kCVPixelBufferBytesPerRowAlignmentKey: 512,
        kCVPixelBufferIOSurfacePropertiesKey: NSDictionary(),
      ])
    let image = try #require(try decode(session, movie.samples).images.first)
    #expect(CVPixelBufferGetBytesPerRowOfPlane(image, 0) % 512 == 0)
    let pool: CVPixelBufferPool = try #require(
      try property(session, kVTDecompressionPropertyKey_PixelBufferPool))
    let attributes = CVPixelBufferPoolGetPixelBufferAttributes(pool)
    #expect(attributes?[kCVPixelBufferIOSurfacePropertiesKey] != nil)
  }

  @Test func badAttributesAreRefused() throws {
    let movie = try SampleMovie(plain, seconds: 0.1, reference: false)
    for (attributes, expected) in [
      ([kCVPixelBufferPixelFormatTypeKey: "420v"] as [CFString: Any], kVTParameterErr),
      ([kCVPixelBufferPixelFormatTypeKey: kCVPixelFormatType_14Bayer_GRBG], kVTPixelTransferNotSupportedErr),
      ([kCVPixelBufferWidthKey: -5], kVTParameterErr),
      ([kCVPixelBufferBytesPerRowAlignmentKey: 3], kVTParameterErr),
    ] {
      var session: VTDecompressionSession?
      let status = VTDecompressionSessionCreate(
        allocator: nil, formatDescription: movie.format, decoderSpecification: nil,
        imageBufferAttributes: attributes as CFDictionary, outputCallback: nil,
        decompressionSessionOut: &session)
      #expect(status == expected)
      #expect(session == nil)
    }
  }

  // MARK: What is attached

  @Test func imagesHaveTheColoursOfTheStream() throws {
    let movie = try SampleMovie(
      [
        "-vf", "setsar=4/3", "-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace",
        "bt2020nc",
        "-color_range", "pc", "-chroma_sample_location", "topleft",
      ] + reordering, seconds: 0.3, reference: false)
    for image in try decode(try makeDecoder(movie.format), movie.samples).images {
      #expect(CVPixelBufferGetPixelFormatType(image) == kCVPixelFormatType_420YpCbCr8BiPlanarFullRange)
      #expect(attachment(image, kCVImageBufferColorPrimariesKey) == kCVImageBufferColorPrimaries_ITU_R_2020)
      #expect(
        attachment(image, kCVImageBufferTransferFunctionKey)
          == kCVImageBufferTransferFunction_SMPTE_ST_2084_PQ)
      #expect(attachment(image, kCVImageBufferYCbCrMatrixKey) == kCVImageBufferYCbCrMatrix_ITU_R_2020)
      #expect(
        attachment(image, kCVImageBufferChromaLocationTopFieldKey) == kCVImageBufferChromaLocation_TopLeft)
      let aspect = attachment(image, kCVImageBufferPixelAspectRatioKey) as? [CFString: Int]
      #expect(
        aspect == [
          kCVImageBufferPixelAspectRatioHorizontalSpacingKey: 4,
          kCVImageBufferPixelAspectRatioVerticalSpacingKey: 3,
        ])
    }
  }

  /// The properties of the file have precedence over those of the stream.
  @Test func theFormatDescriptionsColoursComeFirst() throws {
    let movie = try SampleMovie(["-colorspace", "bt709"] + plain, seconds: 0.2, reference: false)
    let atoms = CMFormatDescriptionGetExtension(
      movie.format, extensionKey: kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms)
    let aperture: NSDictionary = [
      kCVImageBufferCleanApertureWidthKey: 320, kCVImageBufferCleanApertureHeightKey: 240,
      kCVImageBufferCleanApertureHorizontalOffsetKey: 0, kCVImageBufferCleanApertureVerticalOffsetKey: 0,
    ]
    var format: CMVideoFormatDescription?
    try check(
      CMVideoFormatDescriptionCreate(
        allocator: nil, codecType: kCMVideoCodecType_H264, width: 352, height: 288,
        extensions: [
          kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms: try #require(atoms),
          kCMFormatDescriptionExtension_YCbCrMatrix: kCMFormatDescriptionYCbCrMatrix_ITU_R_601_4,
          kCMFormatDescriptionExtension_CleanAperture: aperture,
        ] as NSDictionary, formatDescriptionOut: &format), "format")
    let described = try #require(format)
    let bytes = try #require(movie.samples[0].dataBuffer).dataBytes()
    let sample = try SampleMovie.sample(bytes, described, time: .zero, isSync: true)
    let image = try #require(try decode(try makeDecoder(described), [sample]).images.first)
    #expect(attachment(image, kCVImageBufferYCbCrMatrixKey) == kCVImageBufferYCbCrMatrix_ITU_R_601_4)
    #expect(attachment(image, kCVImageBufferCleanApertureKey) == aperture)
    #expect(CVImageBufferGetCleanRect(image).width == 320)
  }

  @Test(arguments: [
    (kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, [UInt8(16), 128]),
    (kCVPixelFormatType_32BGRA, [0, 0, 0, 255]),
  ]) func theBlackImageIsBlackInEveryFormat(format: OSType, expected: [UInt8]) throws {
    let movie = try SampleMovie(plain, seconds: 0.1, reference: false)
    let session = try makeDecoder(movie.format, attributes: [kCVPixelBufferPixelFormatTypeKey: format])
    var made: CVPixelBuffer?
    try check(VTDecompressionSessionCopyBlackPixelBuffer(session, pixelBufferOut: &made), "black")
    let black = try #require(made)
    #expect(CVPixelBufferGetWidth(black) == 352 && CVPixelBufferGetHeight(black) == 288)
    #expect(CVPixelBufferGetPixelFormatType(black) == format)
    CVPixelBufferLockBaseAddress(black, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(black, .readOnly) }
    if CVPixelBufferIsPlanar(black) {
      let samples = Set(planar(black).prefix(352 * 288))
      #expect(samples == [expected[0]])
      #expect(Set(planar(black).dropFirst(352 * 288)) == [expected[1]])
    } else {
      let base = try #require(CVPixelBufferGetBaseAddress(black))
      let row = UnsafeRawBufferPointer(start: base + 100 * CVPixelBufferGetBytesPerRow(black), count: 4 * 352)
      for (index, byte) in row.enumerated() { #expect(byte == expected[index % 4]) }
    }
  }

  // MARK: Properties

  @Test func onlyTheFramesThatWereChosenCome() throws {
    let movie = try SampleMovie(
      ["-c:v", "libx264", "-bf", "2", "-x264-params", "keyint=12:b-pyramid=none"], seconds: 2,
      reference: false)
    var counts: [Int] = []
    for value in [
      kVTDecompressionProperty_OnlyTheseFrames_AllFrames,
      kVTDecompressionProperty_OnlyTheseFrames_NonDroppableFrames,
      kVTDecompressionProperty_OnlyTheseFrames_IFrames, kVTDecompressionProperty_OnlyTheseFrames_KeyFrames,
    ] {
      let session = try makeDecoder(
        movie.format, properties: [kVTDecompressionPropertyKey_OnlyTheseFrames: value])
      let collector = try decode(session, movie.samples)
      #expect(collector.count == movie.samples.count)
      #expect(
        collector.all.allSatisfy {
          ($0.image == nil) == $0.flags.contains(.frameDropped) && $0.status == noErr
        })
      counts.append(collector.images.count)
    }
    let syncs = movie.samples.filter { $0.sampleAttachments[0][.notSync] as? Bool != true }.count
    #expect(counts[0] == movie.samples.count && counts[1] < counts[0] && counts[1] > syncs)
    #expect(counts[2] == syncs && counts[3] == syncs)
  }

  @Test func everySupportedPropertyIsReadAndRefusesNonsense() throws {
    let movie = try SampleMovie(plain, seconds: 0.2, reference: false)
    let session = try makeDecoder(movie.format)
    var dictionary: CFDictionary?
    try check(
      VTSessionCopySupportedPropertyDictionary(session, supportedPropertyDictionaryOut: &dictionary),
      "supported")
    let supported = try #require(dictionary)
    for key in supported.allKeys {
      let key = try #require(key as? NSString)
      var value: CFTypeRef?
      #expect(VTSessionCopyProperty(session, key: key, allocator: nil, valueOut: &value) == noErr, "\(key)")
      let entry = try #require(supported[key] as? NSDictionary)
      let status = VTSessionSetProperty(session, key: key, value: NSDate())
      let isReadOnly =
        entry[kVTPropertyReadWriteStatusKey] as? NSString == kVTPropertyReadWriteStatus_ReadOnly
      #expect(status == (isReadOnly ? kVTPropertyReadOnlyErr : kVTParameterErr), "\(key)")
    }
    #expect(supported[kVTDecompressionProperty_TemporalLevelLimit] == nil)
    #expect(
      VTSessionSetProperty(session, key: kVTDecompressionProperty_TemporalLevelLimit, value: 1 as CFNumber)
        == kVTPropertyNotSupportedErr)
    #expect(
      VTSessionSetProperty(
        session, key: kVTDecompressionPropertyKey_ReducedFrameDelivery, value: 1 as CFNumber)
        == kVTPropertyNotSupportedErr)
    #expect(
      VTSessionSetProperty(session, key: kVTDecompressionPropertyKey_ThreadCount, value: 65 as CFNumber)
        == kVTParameterErr)
    #expect(try property(session, kVTDecompressionPropertyKey_ContentHasInterframeDependencies) == true)
    #expect(try property(session, kVTDecompressionPropertyKey_UsingHardwareAcceleratedVideoDecoder) == false)
    #expect(try property(session, kVTDecompressionPropertyKey_NumberOfFramesBeingDecoded) == 0)
    #expect(
      try property(session, kVTDecompressionPropertyKey_MinOutputPresentationTimeStampOfFramesBeingDecoded)
        as NSDictionary? == nil)
    let formats: [OSType] = try #require(
      try property(session, kVTDecompressionPropertyKey_SupportedPixelFormatsOrderedByQuality))
    #expect(formats.first == kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
    #expect(formats.contains(kCVPixelFormatType_32BGRA))
    try check(
      VTSessionSetProperty(session, key: kVTDecompressionPropertyKey_ThreadCount, value: 2 as CFNumber),
      "threads")
    var serialized: CFDictionary?
    try check(
      VTSessionCopySerializableProperties(session, allocator: nil, dictionaryOut: &serialized), "serialize")
    #expect(serialized == ["ThreadCount": 2] as NSDictionary)
  }

  @Test func timeStampsOfFramesUnderWayAreReported() throws {
    let movie = try SampleMovie(reordering, seconds: 1, reference: false)
    let session = try makeDecoder(movie.format, properties: [kVTDecompressionPropertyKey_ThreadCount: 3])
    let collector = try decode(session, Array(movie.samples.prefix(10)), ._EnableTemporalProcessing)
    let held = Set(movie.samples.prefix(10).map(\.presentationTimeStamp)).subtracting(collector.times)
    #expect(!held.isEmpty)
    let minimum: NSDictionary? = try property(
      session, kVTDecompressionPropertyKey_MinOutputPresentationTimeStampOfFramesBeingDecoded)
    let maximum: NSDictionary? = try property(
      session, kVTDecompressionPropertyKey_MaxOutputPresentationTimeStampOfFramesBeingDecoded)
    #expect(CMTimeMakeFromDictionary(minimum) == held.min())
    #expect(CMTimeMakeFromDictionary(maximum) == held.max())
    #expect(try property(session, kVTDecompressionPropertyKey_NumberOfFramesBeingDecoded) == held.count)
    try check(VTDecompressionSessionFinishDelayedFrames(session), "finish")
    #expect(collector.count == 10)
  }

  @Test func fieldsAreDecodedInTheModeAskedFor() throws {
    // Black and white lines: one field is white, the other black.
    let movie = try SampleMovie(
      [
        "-vf", "geq=lum='if(mod(Y,2),16,235)':cb=128:cr=128,setfield=tff", "-c:v", "libx264", "-bf", "0",
        "-qp", "1",
      ]
        + ["-flags", "+ildct+ilme", "-x264-params", "tff=1"], seconds: 0.2)
    func luma(_ mode: CFString) throws -> [UInt8] {
      let session = try makeDecoder(movie.format, properties: [kVTDecompressionPropertyKey_FieldMode: mode])
      let image = try #require(try decode(session, movie.samples).images.first)
      return Array(planar(image)[352 * 20..<352 * 260])
    }
    #expect(try luma(kVTDecompressionProperty_FieldMode_TopFieldOnly).allSatisfy { $0 > 220 })
    #expect(try luma(kVTDecompressionProperty_FieldMode_BottomFieldOnly).allSatisfy { $0 < 30 })
    #expect(try luma(kVTDecompressionProperty_FieldMode_SingleField).allSatisfy { $0 > 220 })
    #expect(
      try luma(kVTDecompressionProperty_FieldMode_DeinterlaceFields).allSatisfy { (115...135).contains($0) })
    let both = try luma(kVTDecompressionProperty_FieldMode_BothFields)
    #expect(both.contains { $0 > 220 } && both.contains { $0 < 30 })
  }

  @Test func temporalLevelsAboveTheLimitAreLeftOut() throws {
    let movie = try SampleMovie(
      [
        "-c:v", "libx265", "-x265-params", "log-level=none:temporal-layers=1:bframes=3:keyint=12", "-tag:v",
        "hvc1",
      ],
      codec: kCMVideoCodecType_HEVC, seconds: 2)
    let session = try makeDecoder(movie.format, properties: [kVTDecompressionProperty_TemporalLevelLimit: 0])
    let collector = try decode(session, movie.samples)
    let dropped = collector.all.filter { $0.flags.contains(.frameDropped) }.count
    #expect(dropped > 0 && dropped + collector.images.count == movie.samples.count)
    for (place, index) in movie.presentationOrder.enumerated() {
      guard let image = collector.all[index].image else { continue }
      let isSame = planar(image) == movie.reference[place]
      #expect(isSame, "frame \(place)")
    }
  }

  @Test func imagesAreScaledInTheModeAskedFor() throws {
    let movie = try SampleMovie(plain, seconds: 0.1, reference: false)
    let session = try makeDecoder(
      movie.format, attributes: [kCVPixelBufferWidthKey: 400, kCVPixelBufferHeightKey: 200],
      properties: [
        kVTDecompressionPropertyKey_PixelTransferProperties: [
          kVTPixelTransferPropertyKey_ScalingMode: kVTScalingMode_Letterbox
        ]
      ])
    let image = try #require(try decode(session, movie.samples).images.first)
    let samples = planar(image)
    // 352 to 288 in 200 rows leaves 78 black columns at each side.
    for y in [0, 100, 199] {
      #expect(samples[y * 400..<y * 400 + 76].allSatisfy { $0 == 16 })
      #expect(samples[y * 400 + 324..<y * 400 + 400].allSatisfy { $0 == 16 })
    }
    #expect(
      VTSessionSetProperty(
        session, key: kVTDecompressionPropertyKey_PixelTransferProperties,
        value: ["ScalingMode": "Sideways"] as NSDictionary)
        == kVTParameterErr)
  }

  /// A picture that has the right format and size is still to have the shape that was asked for.
  @Test func aPictureThatFitsGetsTheShapeAskedFor() throws {
    let movie = try SampleMovie(plain, seconds: 0.1, reference: false)
    for format in [kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, kCVPixelFormatType_32BGRA] {
      let session = try makeDecoder(
        movie.format, attributes: [kCVPixelBufferPixelFormatTypeKey: format],
        properties: [
          kVTDecompressionPropertyKey_PixelTransferProperties: [
            kVTPixelTransferPropertyKey_ScalingMode: kVTScalingMode_Letterbox,
            kVTPixelTransferPropertyKey_DestinationPixelAspectRatio: [
              kCVImageBufferPixelAspectRatioHorizontalSpacingKey: 2,
              kCVImageBufferPixelAspectRatioVerticalSpacingKey: 1,
            ],
          ]
        ])
      let image = try #require(try decode(session, movie.samples).images.first)
      let aspect = CVBufferCopyAttachment(image, kCVImageBufferPixelAspectRatioKey, nil) as? NSDictionary
      #expect(aspect?[kCVImageBufferPixelAspectRatioHorizontalSpacingKey] as? Int == 2)
      // Half of the width is black.
      CVPixelBufferLockBaseAddress(image, .readOnly)
      defer { CVPixelBufferUnlockBaseAddress(image, .readOnly) }
      let isPlanar = CVPixelBufferIsPlanar(image)
      let base = try #require(
        isPlanar ? CVPixelBufferGetBaseAddressOfPlane(image, 0) : CVPixelBufferGetBaseAddress(image))
      let stride =
        isPlanar ? CVPixelBufferGetBytesPerRowOfPlane(image, 0) : CVPixelBufferGetBytesPerRow(image)
      for x in [4, 80, 270, 348] {
        let value = base.load(fromByteOffset: 100 * stride + x * (isPlanar ? 1 : 4), as: UInt8.self)
        #expect(value == (isPlanar ? 16 : 0), "\(x)")
      }
    }
  }

  // MARK: Formats and damage

  @Test func compatibleFormatDescriptionsAreAccepted() throws {
    let movie = try SampleMovie(plain, seconds: 0.4)
    let samePictures = try SampleMovie(
      ["-c:v", "libx264", "-bf", "2", "-g", "5", "-x264-params", "cabac=0:ref=4"], seconds: 0.4)
    let larger = try SampleMovie(plain, size: "640x360", seconds: 0.2, reference: false)
    let hevc = try SampleMovie(
      ["-c:v", "libx265", "-x265-params", "log-level=none", "-tag:v", "hvc1"], codec: kCMVideoCodecType_HEVC,
      seconds: 0.2, reference: false)
    for flags in [VTDecodeFrameFlags(), ._EnableAsynchronousDecompression, ._EnableTemporalProcessing] {
      let session = try makeDecoder(movie.format)
      #expect(VTDecompressionSessionCanAcceptFormatDescription(session, formatDescription: movie.format))
      #expect(
        VTDecompressionSessionCanAcceptFormatDescription(session, formatDescription: samePictures.format))
      #expect(!VTDecompressionSessionCanAcceptFormatDescription(session, formatDescription: larger.format))
      #expect(!VTDecompressionSessionCanAcceptFormatDescription(session, formatDescription: hevc.format))
      // From one parameter set to another and back.
      let first = try decode(session, movie.samples, flags)
      try check(VTDecompressionSessionWaitForAsynchronousFrames(session), "wait")
      let second = try decode(session, samePictures.samples, flags)
      try check(VTDecompressionSessionWaitForAsynchronousFrames(session), "wait")
      let third = try decode(session, movie.samples, flags)
      try check(VTDecompressionSessionWaitForAsynchronousFrames(session), "wait")
      for (collector, movie) in [(first, movie), (second, samePictures), (third, movie)] {
        for (place, entry) in collector.all.sorted(by: { $0.time < $1.time }).enumerated() {
          let isSame = entry.image.map { planar($0) == movie.reference[place] } ?? false
          #expect(isSame)
        }
      }
      #expect(
        VTDecompressionSessionDecodeFrame(
          session, sampleBuffer: larger.samples[0], flags: [], infoFlagsOut: nil,
          outputHandler: { _, _, _, _, _ in })
          == kVTFormatDescriptionChangeNotSupportedErr)
    }
    let session = try makeDecoder(
      movie.format,
      properties: [kVTDecompressionPropertyKey_AllowBitstreamToChangeFrameDimensions: kCFBooleanTrue as Any])
    #expect(VTDecompressionSessionCanAcceptFormatDescription(session, formatDescription: larger.format))
    #expect(CVPixelBufferGetWidth(try decode(session, movie.samples).images[0]) == 352)
    #expect(CVPixelBufferGetWidth(try decode(session, larger.samples).images[0]) == 640)
  }

  @Test func decodersThatAreNotThereMakeNoSession() throws {
    let movie = try SampleMovie(plain, seconds: 0.1, reference: false)
    func status(_ format: CMVideoFormatDescription, _ specification: [CFString: Any]? = nil) -> OSStatus {
      var session: VTDecompressionSession?
      return VTDecompressionSessionCreate(
        allocator: nil, formatDescription: format, decoderSpecification: specification as CFDictionary?,
        imageBufferAttributes: nil, outputCallback: nil, decompressionSessionOut: &session)
    }
    let unknown = try SampleMovie.describe(0x3F3F_3F3F, 64, 64, [:])
    #expect(status(unknown) == kVTCouldNotFindVideoDecoderErr)
    #expect(
      status(movie.format, [kVTVideoDecoderSpecification_RequireHardwareAcceleratedVideoDecoder: true])
        == kVTCouldNotFindVideoDecoderErr)
    #expect(
      status(movie.format, [kVTVideoDecoderSpecification_EnableHardwareAcceleratedVideoDecoder: true])
        == noErr)
    let broken = try SampleMovie.describe(
      kCMVideoCodecType_H264, 64, 64, ["avcC": Data([1, 2, 3, 4, 5, 6, 7, 8])])
    #expect(status(broken) == kVTVideoDecoderBadDataErr)
    #expect(!VTIsHardwareDecodeSupported(kCMVideoCodecType_H264))
  }

  /// Every damaged frame comes back with an error or as dropped, and with the next key frame all is
  /// well.
  @Test(arguments: [VTDecodeFrameFlags(), ._EnableAsynchronousDecompression, ._EnableTemporalProcessing])
  func damagedFramesComeBackWithErrors(flags: VTDecodeFrameFlags) throws {
    for codec in [kCMVideoCodecType_H264, kCMVideoCodecType_HEVC] {
      let movie = try SampleMovie(
        codec == kCMVideoCodecType_H264
          ? reordering
          : ["-c:v", "libx265", "-x265-params", "log-level=none:keyint=12:open-gop=0", "-tag:v", "hvc1"],
        codec: codec, seconds: 3)
      var state: UInt64 = 99
      func random(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % limit
      }
      var samples = movie.samples
      for index in [3, 8, 15, 21, 27, 30] {
        let block = try #require(samples[index].dataBuffer)
        var bytes = Data(count: CMBlockBufferGetDataLength(block))
        let length = bytes.count
        try bytes.withUnsafeMutableBytes {
          try check(
            CMBlockBufferCopyDataBytes(
              block, atOffset: 0, dataLength: length, destination: try #require($0.baseAddress)), "copy")
        }
        switch index % 3 {
        case 0: for _ in 0..<12 { bytes[5 + random(length - 5)] = UInt8(random(256)) }
        case 1: bytes = bytes.prefix(max(6, length / 3))
        default: bytes = Data((0..<length).map { _ in UInt8(random(256)) })
        }
        samples[index] = try SampleMovie.sample(
          bytes, movie.format, time: samples[index].presentationTimeStamp,
          isSync: samples[index].sampleAttachments[0][.notSync] as? Bool != true)
      }
      let session = try makeDecoder(movie.format)
      let collector = try decode(session, samples, flags)
      try check(VTDecompressionSessionWaitForAsynchronousFrames(session), "wait")
      #expect(collector.count == samples.count)
      let faults = collector.all.filter { $0.image == nil }
      #expect(!faults.isEmpty)
      #expect(
        faults.allSatisfy { $0.status == kVTVideoDecoderBadDataErr || $0.flags.contains(.frameDropped) })
      let key = try #require(
        samples.indices.first { $0 > 30 && samples[$0].sampleAttachments[0][.notSync] as? Bool != true })
      for (place, entry) in collector.all.sorted(by: { $0.time < $1.time }).enumerated()
      where entry.time >= samples[key].presentationTimeStamp {
        let isSame = entry.image.map { planar($0) == movie.reference[place] } ?? false
        #expect(isSame, "frame \(place)")
      }
    }
  }

  /// Frames that are lost on the way, and a stream that does not begin with a key frame.
  @Test func framesAfterLostOnesAreReported() throws {
    let movie = try SampleMovie(plain, seconds: 1.6)
    let session = try makeDecoder(movie.format)
    let early = try decode(session, Array(movie.samples[5..<12]))
    #expect(
      early.all.allSatisfy { $0.image == nil && ($0.status != noErr || $0.flags.contains(.frameDropped)) })
    let whole = try decode(session, Array(movie.samples[12..<20]))
    for (index, entry) in whole.all.enumerated() {
      let isSame = entry.image.map { planar($0) == movie.reference[12 + index] } ?? false
      #expect(isSame)
    }
    // Two frames lost: the frames up to the next key frame have their outcome, those after are
    // whole.
    let rest = try decode(session, Array(movie.samples[22...]))
    #expect(rest.count == movie.samples.count - 22)
    for (index, entry) in rest.all.enumerated() where index >= 2 {
      let isSame = entry.image.map { planar($0) == movie.reference[22 + index] } ?? false
      #expect(isSame)
    }
  }

  @Test func samplesWithoutDataAreErrors() throws {
    let movie = try SampleMovie(plain, seconds: 0.1, reference: false)
    let session = try makeDecoder(movie.format)
    let collector = ImageCollector()
    let garbage = try SampleMovie.sample(Data([0, 0, 0, 9, 1]), movie.format, time: .zero, isSync: true)
    try decode(session, [garbage], into: collector)
    #expect(collector.all[0].status == kVTVideoDecoderBadDataErr)
    var empty: CMSampleBuffer?
    try check(
      CMSampleBufferCreateReady(
        allocator: nil, dataBuffer: nil, formatDescription: movie.format, sampleCount: 0,
        sampleTimingEntryCount: 0,
        sampleTimingArray: nil, sampleSizeEntryCount: 0, sampleSizeArray: nil, sampleBufferOut: &empty),
      "empty")
    #expect(
      VTDecompressionSessionDecodeFrame(
        session, sampleBuffer: try #require(empty), flags: [], infoFlagsOut: nil, outputHandler: collector.add
      )
        == kVTParameterErr)
    #expect(collector.count == 1)
  }
}

func makeBuffer(_ width: Int, _ height: Int, _ format: OSType) -> CVPixelBuffer? {
  var buffer: CVPixelBuffer?
  guard CVPixelBufferCreate(nil, width, height, format, nil, &buffer) == kCVReturnSuccess else { return nil }
  return buffer
}
