// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing
import TestSupport
import VideoToolbox

/// Each property of the two general encoders does what it says, seen in what comes out.
@Suite(.serialized) struct PropertyEffectTests {
  static let codecs = [kCMVideoCodecType_H264, kCMVideoCodecType_HEVC]
  static let clip = TestClip(noise: 8)

  /// The stream of a session for a clip with these properties.
  static func samples(
    _ codec: CMVideoCodecType, _ properties: [CFString: Any], clip: TestClip = clip, count: Int = 40,
    before: (Int) -> [CFString: Any]? = { _ in nil }
  ) throws -> [CMSampleBuffer] {
    var all: [CFString: Any] = [kVTCompressionPropertyKey_PrioritizeEncodingSpeedOverQuality: true]
    all.merge(properties) { $1 }
    let session = try makeSession(codec, width: clip.width, height: clip.height, properties: all)
    return try encode(session, clip, count: count, before: before)
  }

  static func probe(_ samples: [CMSampleBuffer], _ codec: CMVideoCodecType) throws -> StreamProbe {
    let probe = try StreamProbe(annexB(samples), hevc: codec == kCMVideoCodecType_HEVC)
    #expect(probe.errors.isEmpty, "\(probe.errors)")
    return probe
  }

  static func bytes(_ samples: [CMSampleBuffer]) -> Int {
    samples.reduce(0) { $0 + CMSampleBufferGetTotalSampleSize($1) }
  }

  // MARK: - The stream

  @Test(
    arguments: [
      (kVTProfileLevel_H264_Baseline_3_1 as String, "Constrained Baseline", 31),
      (kVTProfileLevel_H264_ConstrainedBaseline_AutoLevel as String, "Constrained Baseline", 0),
      (kVTProfileLevel_H264_Main_4_0 as String, "Main", 40),
      (kVTProfileLevel_H264_High_5_2 as String, "High", 52),
      (kVTProfileLevel_H264_High_AutoLevel as String, "High", 0),
      (kVTProfileLevel_H264_ConstrainedHigh_AutoLevel as String, "Constrained High", 0),
      (kVTProfileLevel_HEVC_Main_AutoLevel as String, "Main", 0),
      (kVTProfileLevel_HEVC_Main10_AutoLevel as String, "Main 10", 0),
    ] as [(String, String, Int)])
  func theStreamHasTheProfileAndLevelThatWereSet(_ name: String, _ seen: String, _ level: Int) throws {
    let codec =
      name.hasPrefix("HEVC") ? kCMVideoCodecType_HEVC : kCMVideoCodecType_H264
    let samples = try Self.samples(
      codec, [kVTCompressionPropertyKey_ProfileLevel: name as CFString], count: 10)
    let probe = try Self.probe(samples, codec)
    let isConstrained = seen.hasPrefix("Constrained") && seen.hasSuffix("High")
    #expect(probe.text("profile") == (isConstrained ? "High" : seen))
    if isConstrained { #expect(!probe.pictureTypes.contains("B")) }
    if level > 0 { #expect(probe.number("level") == level) }
    if seen == "Main 10" { #expect(probe.text("pix_fmt") == "yuv420p10le") }
  }

  @Test func theStreamHasTheEntropyModeThatWasSet() throws {
    for (mode, flag) in [(kVTH264EntropyMode_CAVLC, UInt8(0)), (kVTH264EntropyMode_CABAC, 1)] {
      let samples = try Self.samples(
        kCMVideoCodecType_H264, [kVTCompressionPropertyKey_H264EntropyMode: mode], count: 5)
      // The first picture parameter set: two numbers of one bit each, both 0, then the flag.
      let pps = try #require(samples.first?.parameterSets.first { $0[0] & 31 == 8 })
      #expect(pps[1] >> 6 == 3)
      #expect(pps[1] >> 5 & 1 == flag)
    }
  }

  @Test(arguments: codecs) func keyFramesComeAtTheirIntervals(_ codec: CMVideoCodecType) throws {
    for (key, value) in [
      (kVTCompressionPropertyKey_MaxKeyFrameInterval, 10),
      (kVTCompressionPropertyKey_MaxKeyFrameIntervalDuration, 1.0 / 3),
    ] as [(CFString, Any)] {
      let samples = try Self.samples(codec, [key: value])
      let keys = samples.filter(\.isSync).map { Int(($0.presentationTimeStamp.seconds * 30).rounded()) }
      #expect(keys == [0, 10, 20, 30], "\(key)")
    }
    let intra = try Self.samples(codec, [kVTCompressionPropertyKey_AllowTemporalCompression: false], count: 8)
    #expect(intra.count == 8 && intra.allSatisfy(\.isSync))
    #expect(Set(try Self.probe(intra, codec).pictureTypes) == ["I"])
  }

  @Test(arguments: codecs) func framesKeepTheirOrderWithoutReordering(_ codec: CMVideoCodecType) throws {
    let samples = try Self.samples(codec, [kVTCompressionPropertyKey_AllowFrameReordering: false])
    let times = samples.map(\.presentationTimeStamp)
    #expect(times == times.sorted())
    #expect(!(try Self.probe(samples, codec).pictureTypes.contains("B")))
  }

  /// Open groups begin with a key frame that is not an IDR picture; closed ones do not.
  @Test(arguments: codecs) func openGroupsBeginWithKeyFramesThatAreNoIDRPictures(_ codec: CMVideoCodecType)
    throws
  {
    for allowed in [false, true] {
      let samples = try Self.samples(
        codec,
        [
          kVTCompressionPropertyKey_AllowOpenGOP: allowed, kVTCompressionPropertyKey_MaxKeyFrameInterval: 12,
          kVTCompressionPropertyKey_PrioritizeEncodingSpeedOverQuality: false,
        ])
      // HEVC has a type of its own for such pictures, 21.
      let isOpen =
        codec == kCMVideoCodecType_H264
        ? samples.contains { $0.flag(kCMSampleAttachmentKey_PartialSync) == true }
        : samples.flatMap(\.nalUnits).contains { $0[0] >> 1 & 63 == 21 }
      #expect(isOpen == allowed)
      #expect(try Self.probe(samples, codec).frames.count == 40)
    }
  }

  @Test func theStreamHasTheReferencesThatWereSet() throws {
    for count in [1, 4] {
      let samples = try Self.samples(
        kCMVideoCodecType_H264,
        [
          kVTCompressionPropertyKey_ReferenceBufferCount: count,
          kVTCompressionPropertyKey_AllowFrameReordering: false,
        ])
      #expect(try Self.probe(samples, kCMVideoCodecType_H264).number("refs") == count)
    }
  }

  @Test(arguments: [400, 1200]) func slicesKeepToTheirLimit(_ limit: Int) throws {
    let samples = try Self.samples(
      kCMVideoCodecType_H264,
      [
        kVTCompressionPropertyKey_MaxH264SliceBytes: limit,
        kVTCompressionPropertyKey_AverageBitRate: 1_000_000,
      ], count: 20)
    let units = samples.flatMap(\.nalUnits)
    #expect(units.count > 30)
    #expect(units.allSatisfy { $0.count <= limit })
    #expect(try Self.probe(samples, kCMVideoCodecType_H264).frames.count == 20)
  }

  @Test func collectionsComeBackAsTheyWereSet() throws {
    let session = try makeSession(kCMVideoCodecType_H264, width: 320, height: 240)
    for (key, value) in [
      (kVTCompressionPropertyKey_DataRateLimits, [100_000, 1.5] as NSArray),
      (kVTCompressionPropertyKey_CleanAperture, ["Width": 300, "Height": 200] as NSDictionary),
    ] as [(CFString, NSObject)] {
      #expect(VTSessionSetProperty(session, key: key, value: value) == noErr)
      var copy: CFTypeRef?
      let status = withUnsafeMutablePointer(to: &copy) {
        VTSessionCopyProperty(session, key: key, allocator: nil, valueOut: $0)
      }
      #expect(status == noErr)
      #expect((copy as? NSObject)?.isEqual(value) == true, "\(String(describing: copy))")
    }
  }

  /// As a format description's clean aperture may have it.
  @Test func rationalAperturesAreTaken() throws {
    let session = try makeSession(kCMVideoCodecType_H264, width: 320, height: 240)
    func set(_ value: NSDictionary) -> OSStatus {
      VTSessionSetProperty(session, key: kVTCompressionPropertyKey_CleanAperture, value: value)
    }
    #expect(
      set(["Width": 300, "Height": 200, "WidthRational": [300, 1], "HeightRational": [200, 1]]) == noErr)
    #expect(set(["WidthRational": [600, 2], "HeightRational": [200, 1]]) == noErr)
    var copy: CFTypeRef?
    #expect(
      VTSessionCopyProperty(
        session, key: kVTCompressionPropertyKey_CleanAperture, allocator: nil, valueOut: &copy) == noErr)
    #expect((copy as? NSDictionary) == ["Width": 300, "Height": 200])
    for wrong in [[300, 0], [300], [300, 1, 1], [Double.nan, 1]] as [[Double]] {
      #expect(set(["Width": 300, "Height": 200, "WidthRational": wrong]) == kVTParameterErr)
    }
    #expect(set(["WidthRational": [600, 2]]) == kVTParameterErr)
  }

  /// RGB becomes what the stream says that it is, also when the property changes.
  @Test func theMatrixOfTheStreamIsThatOfTheConversion() throws {
    let session = try makeSession(
      width: 320, height: 240,
      properties: [
        kVTCompressionPropertyKey_YCbCrMatrix: kCVImageBufferYCbCrMatrix_ITU_R_709_2,
        kVTCompressionPropertyKey_Quality: 0.9, kVTCompressionPropertyKey_RealTime: true,
      ])
    var buffer: CVPixelBuffer?
    CVPixelBufferCreate(nil, 320, 240, kCVPixelFormatType_32BGRA, nil, &buffer)
    let green = try #require(buffer)
    CVPixelBufferLockBaseAddress(green, [])
    let rows = CVPixelBufferGetBytesPerRow(green) * 240
    let base = try #require(CVPixelBufferGetBaseAddress(green)).assumingMemoryBound(to: UInt8.self)
    for index in 0..<rows { base[index] = index % 4 == 1 || index % 4 == 3 ? 200 : 0 }
    CVPixelBufferUnlockBaseAddress(green, [])
    let collector = Collector()
    for n in 0..<6 {
      if n == 3 {
        #expect(
          VTSessionSetProperty(
            session, key: kVTCompressionPropertyKey_YCbCrMatrix, value: kCVImageBufferYCbCrMatrix_ITU_R_601_4)
            == noErr)
      }
      let options = n == 3 ? [kVTEncodeFrameOptionKey_ForceKeyFrame: true] as CFDictionary : nil
      try check(
        VTCompressionSessionEncodeFrame(
          session, imageBuffer: green, presentationTimeStamp: CMTime(value: CMTimeValue(n), timescale: 30),
          duration: .invalid, frameProperties: options, infoFlagsOut: nil
        ) { collector.add($0, $1, $2) }, "encode")
    }
    try check(VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid), "complete")
    let samples = collector.samples
    try #require(samples.count == 6)
    for (part, space, luma) in [
      // In the full range, as the probe has it: 0.7152 and 0.587 of 200.
      (samples[..<3], "bt709", 143), (samples[3...], "smpte170m", 117),
    ] {
      #expect(try Self.probe(Array(part), kCMVideoCodecType_H264).text("color_space") == space)
      let picture = try StreamProbe.decode(annexB(Array(part)))
      #expect(abs(Int(picture[100 * 320 + 100]) - luma) <= 2, "\(picture[100 * 320 + 100])")
    }
  }

  @Test(arguments: codecs) func theStreamHasTheColoursAndShapeThatWereSet(_ codec: CMVideoCodecType) throws {
    let samples = try Self.samples(
      codec,
      [
        kVTCompressionPropertyKey_ColorPrimaries: kCVImageBufferColorPrimaries_ITU_R_2020,
        kVTCompressionPropertyKey_TransferFunction: kCVImageBufferTransferFunction_ITU_R_2100_HLG,
        kVTCompressionPropertyKey_YCbCrMatrix: kCVImageBufferYCbCrMatrix_ITU_R_2020,
        kVTCompressionPropertyKey_PixelAspectRatio: ["HorizontalSpacing": 4, "VerticalSpacing": 3],
        kVTCompressionPropertyKey_CleanAperture: ["Width": 300, "Height": 200],
      ], count: 5)
    let probe = try Self.probe(samples, codec)
    #expect(probe.text("color_primaries") == "bt2020")
    #expect(probe.text("color_transfer") == "arib-std-b67")
    #expect(probe.text("color_space") == "bt2020nc")
    #expect(probe.text("sample_aspect_ratio") == "4:3")
    let format = try #require(samples.first?.formatDescription)
    let aperture = CMVideoFormatDescriptionGetCleanAperture(format, originIsAtTopLeft: true)
    #expect(
      aperture.width == 300 && aperture.height == 200,
      "\(aperture) \(CMFormatDescriptionGetExtensions(format) as Any)")
    let extensions = CMFormatDescriptionGetExtensions(format) as NSDictionary?
    #expect(extensions?[kCMFormatDescriptionExtension_PixelAspectRatio] != nil)
  }

  // MARK: - Effort

  /// The same frames give the same bits, whatever the memory held before.
  @Test(arguments: codecs) func theSameFramesGiveTheSameBits(_ codec: CMVideoCodecType) throws {
    // A width with which libx264's AVX-512 code reads what was never written.
    let clip = TestClip()
    let properties: [CFString: Any] = [
      kVTCompressionPropertyKey_Quality: 0.5, kOVTCompressionPropertyKey_ThreadCount: 1,
    ]
    var streams: Set<[[UInt8]]> = []
    for _ in 0..<4 {
      let session = try makeSession(codec, width: clip.width, height: clip.height, properties: properties)
      streams.insert(try encode(session, clip, count: 20).map(\.bytes))
    }
    #expect(streams.count == 1)
  }

  /// The bits of one quality at each effort, made comparable: six steps of the quantiser halve the
  /// bits and make the squared error two and a half times as large.
  @Test(arguments: codecs) func effortDecidesOnWhatAQualityTakes(_ codec: CMVideoCodecType) throws {
    let clip = TestClip(width: 480, height: 272, noise: 3)
    func run(
      realTime: Bool? = nil, speed: Bool? = nil, power: Bool? = nil
    ) throws -> (samples: [CMSampleBuffer], cost: Double) {
      var properties: [CFString: Any] = [
        kVTCompressionPropertyKey_Quality: 0.5, kOVTCompressionPropertyKey_ThreadCount: 1,
        kVTCompressionPropertyKey_CalculateMeanSquaredError: true,
      ]
      properties[kVTCompressionPropertyKey_RealTime] = realTime
      properties[kVTCompressionPropertyKey_PrioritizeEncodingSpeedOverQuality] = speed
      properties[kVTCompressionPropertyKey_MaximizePowerEfficiency] = power
      let session = try makeSession(codec, width: clip.width, height: clip.height, properties: properties)
      let samples = try encode(session, clip, count: 30)
      let error = try samples.map(Self.lumaError).reduce(0, +) / Double(samples.count)
      #expect(error > 0.5 && error < 100)
      return (samples, Double(Self.bytes(samples)) * pow(error, 0.75))
    }
    let baseline = try run()
    let fastest = try run(realTime: true, speed: true, power: true)
    let faster = try run(realTime: true, speed: true)
    let fast = try run(speed: true)
    let saving = try run(power: true)
    let best = try run(speed: false)
    // The fastest efforts of H.264 differ in time; in bits little, on noise.
    #expect(fastest.cost > (codec == kCMVideoCodecType_H264 ? 0.98 : 1.03) * faster.cost)
    #expect(fastest.cost > 1.03 * baseline.cost)
    #expect(faster.cost > 1.03 * baseline.cost)
    // All differ. Real time alone has the same effort as the request for speed, but no look-ahead.
    let streams = [baseline, fastest, faster, fast, saving, best].map { $0.samples.map(\.bytes) }
    #expect(Set(streams).count == streams.count)
    #expect(try run(realTime: true).cost > fast.cost)
    // More effort looks at more reference frames. (The package's own encoder says so in each
    // slice.)
    guard codec == kCMVideoCodecType_H264, usesX264 else { return }
    let references = try [faster, fast, baseline, best].map {
      Self.references(inPPS: try #require($0.samples.first?.parameterSets.last))
    }
    #expect(references == [1, 2, 3, 5])
  }

  /// Reference frames of list 0, as a picture parameter set of H.264 says.
  private static func references(inPPS pps: [UInt8]) -> Int {
    let bits = pps.dropFirst().flatMap { byte in (0..<8).map { Int(byte >> (7 - $0) & 1) } }
    // Two numbers of one bit each, two flags, and the number of slice groups: one bit.
    let rest = bits.dropFirst(5)
    let zeros = rest.prefix { $0 == 0 }.count
    return rest.dropFirst(zeros).prefix(zeros + 1).reduce(0) { $0 << 1 | $1 }
  }

  private static func lumaError(_ sample: CMSampleBuffer) throws -> Double {
    let metrics = try #require(
      sample.firstAttachments[kVTSampleAttachmentKey_QualityMetrics] as? NSDictionary)
    return try #require(
      metrics[kVTSampleAttachmentQualityMetricsKey_LumaMeanSquaredError] as? NSNumber
    ).doubleValue
  }

  /// The reported error is the one that FFmpeg's decoder finds.
  @Test(arguments: codecs) func theMeanSquaredErrorIsThatOfTheDecodedPictures(_ codec: CMVideoCodecType)
    throws
  {
    let clip = TestClip(noise: 6)
    let session = try makeSession(
      codec,
      properties: [
        kVTCompressionPropertyKey_Quality: 0.3, kVTCompressionPropertyKey_AllowFrameReordering: false,
        kVTCompressionPropertyKey_CalculateMeanSquaredError: true,
      ])
    let samples = try encode(session, clip, count: 6)
    let decoded = [UInt8](
      try StreamProbe.decode(
        annexB(samples), hevc: codec == kCMVideoCodecType_HEVC, pixelFormat: "yuv420p"))
    let size = clip.width * clip.height
    try #require(decoded.count == samples.count * size * 3 / 2)
    for index in samples.indices {
      let source = clip.buffer(index)
      CVPixelBufferLockBaseAddress(source, .readOnly)
      defer { CVPixelBufferUnlockBaseAddress(source, .readOnly) }
      let base = try #require(CVPixelBufferGetBaseAddressOfPlane(source, 0))
      let stride = CVPixelBufferGetBytesPerRowOfPlane(source, 0)
      var sum = 0
      for y in 0..<clip.height {
        for x in 0..<clip.width {
          let value = (base + y * stride + x).load(as: UInt8.self)
          let difference = Int(value) - Int(decoded[index * size * 3 / 2 + y * clip.width + x])
          sum += difference * difference
        }
      }
      let error = Double(sum) / Double(size)
      let reported = try Self.lumaError(samples[index])
      #expect(abs(reported / error - 1) < 0.001, "\(reported) \(error)")
    }
  }

  @Test(arguments: codecs, [0, 3, 10]) func noMoreFramesWaitThanTheLimitAllows(
    _ codec: CMVideoCodecType, _ limit: Int
  ) throws {
    let clip = Self.clip
    let session = try makeSession(
      codec,
      properties: [
        kVTCompressionPropertyKey_MaxFrameDelayCount: limit,
        kVTCompressionPropertyKey_PrioritizeEncodingSpeedOverQuality: true,
      ])
    let collector = Collector()
    _ = try encode(session, clip, count: 30, complete: false, into: collector)
    // Frames come of themselves, without being completed.
    blockUntil { collector.samples.count >= 30 - limit }
    #expect(collector.samples.count >= 30 - limit)
    let pending = try #require(
      try property(session, kVTCompressionPropertyKey_NumberOfPendingFrames) as? NSNumber)
    #expect(pending.intValue == 30 - collector.samples.count)
    try check(VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid), "complete")
    #expect(collector.samples.count == 30)
    #expect(try Self.probe(collector.samples, codec).frames.count == 30)
  }

  @Test(arguments: codecs) func presetsCanBeAppliedAndDiffer(_ codec: CMVideoCodecType) throws {
    let clip = Self.clip
    let session = try makeSession(codec)
    let presets = try #require(
      try property(session, kVTCompressionPropertyKey_SupportedPresetDictionaries) as? NSDictionary)
    var sizes: Set<Int> = []
    for name in [
      kVTCompressionPreset_Balanced, kVTCompressionPreset_HighQuality, kVTCompressionPreset_HighSpeed,
    ] {
      let preset = try #require(presets[name] as? NSDictionary, "\(name)")
      let session = try makeSession(codec, properties: [kVTCompressionPropertyKey_Quality: 0.5])
      try check(VTSessionSetProperties(session, propertyDictionary: preset as CFDictionary), "\(name)")
      sizes.insert(Self.bytes(try encode(session, clip, count: 15)))
    }
    #expect(sizes.count == 3)
    #expect(presets[kVTCompressionPreset_VideoConferencing] == nil)
    let id = try #require(try property(session, kVTCompressionPropertyKey_EncoderID) as? NSString)
    #expect(
      codec == kCMVideoCodecType_HEVC
        ? id.contains("x265") : id as String == namedEncoderID ?? "org.openvideotoolbox.videoencoder.h264")
    let isHardware = try property(session, kVTCompressionPropertyKey_UsingHardwareAcceleratedVideoEncoder)
    #expect((isHardware as? NSNumber)?.boolValue == false)
  }

  // MARK: - Refusals

  /// For every property that can be set: a value of a wrong type is refused, and leaves what was
  /// set before.
  @Test(arguments: codecs) func valuesOfWrongTypesAreRefused(_ codec: CMVideoCodecType) throws {
    let session = try makeSession(codec)
    var supported: CFDictionary?
    try check(
      VTSessionCopySupportedPropertyDictionary(session, supportedPropertyDictionaryOut: &supported), "copy")
    let properties = try #require(supported as NSDictionary?)
    #expect(properties.count > 30)
    for (key, value) in properties {
      let key = try #require(key as? NSString)
      let properties = try #require(value as? NSDictionary)
      let status = properties[kVTPropertyReadWriteStatusKey] as? NSString
      let wrong = NSArray(array: [NSString(string: "x")])
      let answer = VTSessionSetProperty(session, key: key, value: wrong)
      if status == kVTPropertyReadWriteStatus_ReadOnly {
        #expect(answer == kVTPropertyReadOnlyErr, "\(key)")
      } else {
        #expect(answer == kVTParameterErr, "\(key)")
      }
    }
    #expect(
      VTSessionSetProperty(session, key: "NoSuchProperty" as CFString, value: 1 as NSNumber)
        == kVTPropertyNotSupportedErr)
    if codec == kCMVideoCodecType_HEVC {
      for key in [kVTCompressionPropertyKey_H264EntropyMode, kVTCompressionPropertyKey_MaxH264SliceBytes] {
        #expect(
          VTSessionSetProperty(session, key: key, value: 1000 as NSNumber) == kVTPropertyNotSupportedErr)
      }
    }
  }

  @Test(arguments: codecs) func valuesOutOfRangeAreRefused(_ codec: CMVideoCodecType) throws {
    let session = try makeSession(codec)
    for (key, value) in [
      (kVTCompressionPropertyKey_AverageBitRate, -1), (kVTCompressionPropertyKey_Quality, 1.5),
      (kVTCompressionPropertyKey_ConstantBitRate, 0), (kVTCompressionPropertyKey_ExpectedFrameRate, -30),
      (kVTCompressionPropertyKey_DataRateLimits, [1000]),
      (kVTCompressionPropertyKey_DataRateLimits, [1000, 0]),
      (kVTCompressionPropertyKey_DataRateLimits, [-5, 1.0]),
      (kVTCompressionPropertyKey_MinAllowedFrameQP, 52),
      (kVTCompressionPropertyKey_MaxAllowedFrameQP, -1), (kVTCompressionPropertyKey_ReferenceBufferCount, 17),
      (kVTCompressionPropertyKey_MaxFrameDelayCount, -2),
      (kVTCompressionPropertyKey_ProfileLevel, "H264_Higher"),
      (kVTCompressionPropertyKey_VBVInitialDelayPercentage, 101),
      (kVTCompressionPropertyKey_VBVBufferDuration, 0), (kVTCompressionPropertyKey_MaxKeyFrameInterval, -1),
      (kVTCompressionPropertyKey_CleanAperture, ["Width": 5000, "Height": 100]),
      (kVTCompressionPropertyKey_PixelAspectRatio, ["HorizontalSpacing": 1]),
      (kVTCompressionPropertyKey_ColorPrimaries, "purple"),
    ] as [(CFString, Any)] {
      let status = VTSessionSetProperty(session, key: key, value: value as AnyObject)
      #expect(status == kVTParameterErr, "\(key) \(value): \(status)")
    }
    // A rate of both kinds cannot be.
    try check(
      VTSessionSetProperty(
        session, key: kVTCompressionPropertyKey_AverageBitRate, value: 500_000 as NSNumber), "average")
    #expect(
      VTSessionSetProperty(
        session, key: kVTCompressionPropertyKey_ConstantBitRate, value: 500_000 as NSNumber)
        != noErr)
    let clip = Self.clip
    for options in [
      [kVTEncodeFrameOptionKey_BaseFrameQP: 60], [kVTEncodeFrameOptionKey_ForceKeyFrame: "x"],
    ] as [[CFString: Any]] {
      let status = VTCompressionSessionEncodeFrame(
        session, imageBuffer: clip.buffer(0), presentationTimeStamp: clip.time(0),
        duration: clip.frameDuration,
        frameProperties: options as CFDictionary, infoFlagsOut: nil
      ) { _, _, _ in }
      #expect(status == kVTParameterErr)
    }
  }
}
