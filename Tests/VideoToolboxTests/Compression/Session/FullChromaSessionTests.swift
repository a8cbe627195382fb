// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing
import VideoToolbox

/// Sessions that code 4:4:4, High 4:4:4 Predictive of H.264.
@Suite(.enabled(if: StreamProbe.isAvailable)) struct FullChromaSessionTests {
  private static var profile: [CFString: Any] {
    [
      kVTCompressionPropertyKey_ProfileLevel: kOVTProfileLevel_H264_High444Predictive_AutoLevel,
      kVTCompressionPropertyKey_ExpectedFrameRate: 30,
    ]
  }
  /// The specifications of the usual and of the low-latency encoder.
  private static var encoders: [[CFString: Any]] {
    [
      [kVTVideoEncoderSpecification_EncoderID: "org.openvideotoolbox.videoencoder.h264"],
      [
        kVTVideoEncoderSpecification_EncoderID: "org.openvideotoolbox.videoencoder.h264.lowlatency",
        kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true,
      ],
    ]
  }

  private static func session(
    _ specification: [CFString: Any], _ width: Int, _ height: Int, _ properties: [CFString: Any]
  ) throws -> VTCompressionSession {
    try makeSession(
      kCMVideoCodecType_H264, width: width, height: height, specification: specification,
      properties: properties)
  }

  private static func encode(_ session: VTCompressionSession, _ pictures: [CVPixelBuffer]) throws
    -> [CMSampleBuffer]
  {
    let collector = Collector()
    for (n, picture) in pictures.enumerated() {
      try check(
        VTCompressionSessionEncodeFrame(
          session, imageBuffer: picture, presentationTimeStamp: CMTime(value: CMTimeValue(n), timescale: 30),
          duration: CMTime(value: 1, timescale: 30), frameProperties: nil, infoFlagsOut: nil
        ) { collector.add($0, $1, $2) }, "frame \(n)")
    }
    try check(VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid), "complete")
    for entry in collector.all { try check(entry.status, "result") }
    return collector.samples
  }

  /// A picture of two planes of 4:4:4 whose colours change from sample to sample.
  private static func picture(_ n: Int, _ width: Int, _ height: Int, _ format: OSType) throws -> CVPixelBuffer
  {
    var made: CVPixelBuffer?
    CVPixelBufferCreate(nil, width, height, format, nil, &made)
    let buffer = try #require(made)
    CVPixelBufferLockBaseAddress(buffer, [])
    defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
    for plane in 0..<2 {
      let base = try #require(CVPixelBufferGetBaseAddressOfPlane(buffer, plane))
      let row = CVPixelBufferGetBytesPerRowOfPlane(buffer, plane)
      for y in 0..<height {
        for x in 0..<width {
          let isStroke = (x + n) % 7 < 2 || y % 9 == 0
          let bytes: [UInt8] = plane == 0 ? [isStroke ? 90 : 180] : isStroke ? [80, 200] : [128, 120]
          for (i, byte) in bytes.enumerated() {
            base.storeBytes(of: byte, toByteOffset: y * row + x * bytes.count + i, as: UInt8.self)
          }
        }
      }
    }
    return buffer
  }

  /// The planes of a picture of two planes of 4:4:4, one after the other without padding.
  private static func planes(_ buffer: CVPixelBuffer) throws -> [UInt8] {
    CVPixelBufferLockBaseAddress(buffer, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
    let (width, height) = (CVPixelBufferGetWidth(buffer), CVPixelBufferGetHeight(buffer))
    var result: [UInt8] = []
    for component in 0..<3 {
      let plane = min(component, 1)
      let base = try #require(CVPixelBufferGetBaseAddressOfPlane(buffer, plane))
      let row = CVPixelBufferGetBytesPerRowOfPlane(buffer, plane)
      for y in 0..<height {
        for x in 0..<width {
          let offset = plane == 0 ? x : 2 * x + component - 1
          result.append(base.load(fromByteOffset: y * row + offset, as: UInt8.self))
        }
      }
    }
    return result
  }

  @Test(
    "Pictures of 444v and 444f become High 4:4:4 Predictive, and decode to what they were",
    arguments: [
      kCVPixelFormatType_444YpCbCr8BiPlanarVideoRange, kCVPixelFormatType_444YpCbCr8BiPlanarFullRange,
    ])
  func picturesOf444BecomeHigh444Predictive(format: OSType) throws {
    for encoder in Self.encoders {
      let session = try Self.session(
        encoder, 98, 66, Self.profile.merging([kVTCompressionPropertyKey_AverageBitRate: 3_000_000]) { $1 })
      defer { VTCompressionSessionInvalidate(session) }
      let pictures = try (0..<5).map { try Self.picture($0, 98, 66, format) }
      let samples = try Self.encode(session, pictures)
      #expect(samples.count == 5)

      let probe = try StreamProbe(annexB(samples))
      #expect(probe.text("profile") == "High 4:4:4 Predictive" && probe.errors.isEmpty)
      let isFull = format == kCVPixelFormatType_444YpCbCr8BiPlanarFullRange
      #expect(probe.text("pix_fmt") == (isFull ? "yuvj444p" : "yuv444p"))
      #expect(probe.number("width") == 98 && probe.number("height") == 66)

      let description = try #require(CMSampleBufferGetFormatDescription(samples[0]))
      let atoms =
        CMFormatDescriptionGetExtension(
          description, extensionKey: kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms)
        as? NSDictionary
      let record = [UInt8](try #require(atoms?["avcC"] as? Data))
      // ISO/IEC 14496-15, 5.3.3.1.2: the profile; chroma_format 3, two depths of 8 bits, no SPS
      // extension.
      #expect(record[1] == 244 && record.suffix(4) == [0xFF, 0xF8, 0xF8, 0])

      let decoder = try makeDecoder(description)
      defer { VTDecompressionSessionInvalidate(decoder) }
      let images = try decode(decoder, samples).images
      #expect(images.count == 5)
      for (n, image) in images.enumerated() {
        #expect(CVPixelBufferGetPixelFormatType(image) == format)
        let (a, b) = (try Self.planes(pictures[n]), try Self.planes(image))
        let error = zip(a, b).reduce(0.0) { $0 + pow(Double($1.0) - Double($1.1), 2) } / Double(a.count)
        #expect(error < 40, "frame \(n): mean squared error \(error)")
      }
    }
  }

  @Test("With a quality of 1 and no rate exactly the source comes back", arguments: [96, 75])
  func withAQualityOfOneExactlyTheSourceComesBack(width: Int) throws {
    let format = kCVPixelFormatType_444YpCbCr8BiPlanarVideoRange
    for encoder in Self.encoders {
      let session = try Self.session(
        encoder, width, 64, Self.profile.merging([kVTCompressionPropertyKey_Quality: 1]) { $1 })
      defer { VTCompressionSessionInvalidate(session) }
      let pictures = try (0..<4).map { try Self.picture($0, width, 64, format) }
      let samples = try Self.encode(session, pictures)
      let decoder = try makeDecoder(try #require(CMSampleBufferGetFormatDescription(samples[0])))
      defer { VTDecompressionSessionInvalidate(decoder) }
      let images = try decode(decoder, samples).images
      #expect(images.count == 4)
      for (n, image) in images.enumerated() {
        let source = try Self.planes(pictures[n])
        let shown = try Self.planes(image)
        // A stream of an odd size shows one column more, which repeats the last one.
        let row = CVPixelBufferGetWidth(image)
        let cropped = shown.enumerated().filter { $0.offset % row < width }.map(\.element)
        #expect(cropped == source, "frame \(n)")
      }
    }
  }

  /// Thin strokes in saturated colours on a dark ground, as text in a terminal has them.
  private static func colouredText() throws -> CVPixelBuffer {
    var made: CVPixelBuffer?
    CVPixelBufferCreate(nil, 160, 96, kCVPixelFormatType_32BGRA, nil, &made)
    let buffer = try #require(made)
    CVPixelBufferLockBaseAddress(buffer, [])
    defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
    let base = try #require(CVPixelBufferGetBaseAddress(buffer))
    let row = CVPixelBufferGetBytesPerRow(buffer)
    let colours: [(UInt8, UInt8, UInt8)] = [(240, 40, 40), (40, 220, 60), (60, 90, 255), (250, 200, 40)]
    for y in 0..<96 {
      for x in 0..<160 {
        let glyph = (x / 8 * 7 + y / 12 * 13) % 31
        let isStroke = x % 8 < 6 && y % 12 < 9 && (glyph >> (x % 8 / 2) & 1 == 1 ? x % 2 == 0 : y % 4 == 0)
        let (r, g, b) = isStroke ? colours[(x / 8 + y / 12) % 4] : (24, 24, 32)
        for (i, value) in [b, g, r, 255].enumerated() {
          base.storeBytes(of: value, toByteOffset: y * row + 4 * x + i, as: UInt8.self)
        }
      }
    }
    CVBufferSetAttachment(
      buffer, kCVImageBufferYCbCrMatrixKey, kCVImageBufferYCbCrMatrix_ITU_R_709_2, .shouldPropagate)
    return buffer
  }

  /// The PSNR in dB of a picture that was encoded and decoded, over red, green and blue.
  private static func quality(_ properties: [CFString: Any]) throws -> Double {
    let source = try colouredText()
    let session = try session(encoders[1], 160, 96, properties)
    defer { VTCompressionSessionInvalidate(session) }
    let samples = try encode(session, [source])
    let decoder = try makeDecoder(
      try #require(CMSampleBufferGetFormatDescription(samples[0])),
      attributes: [kCVPixelBufferPixelFormatTypeKey: kCVPixelFormatType_32BGRA])
    defer { VTDecompressionSessionInvalidate(decoder) }
    let image = try #require(try decode(decoder, samples).images.first)
    func colours(_ buffer: CVPixelBuffer) throws -> [UInt8] {
      CVPixelBufferLockBaseAddress(buffer, .readOnly)
      defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
      let base = try #require(CVPixelBufferGetBaseAddress(buffer))
      let row = CVPixelBufferGetBytesPerRow(buffer)
      return (0..<96).flatMap { y in
        (0..<640).filter { $0 % 4 < 3 }.map { base.load(fromByteOffset: y * row + $0, as: UInt8.self) }
      }
    }
    let (a, b) = (try colours(source), try colours(image))
    let error = zip(a, b).reduce(0.0) { $0 + pow(Double($1.0) - Double($1.1), 2) } / Double(a.count)
    return 10 * log10(255 * 255 / max(error, 1e-9))
  }

  @Test("Coloured text in BGRA stays sharp: more than 8 dB better than at 4:2:0")
  func colouredTextInBGRAStaysSharp() throws {
    let baseline: [CFString: Any] = [
      kVTCompressionPropertyKey_ProfileLevel: kVTProfileLevel_H264_High_AutoLevel,
      kVTCompressionPropertyKey_Quality: 0.9,
    ]
    let half = try Self.quality(baseline)
    let full = try Self.quality(Self.profile.merging([kVTCompressionPropertyKey_Quality: 0.9]) { $1 })
    #expect(full > half + 8, "\(half) dB at 4:2:0, \(full) dB at 4:4:4")
    let lossless = try Self.quality(Self.profile.merging([kVTCompressionPropertyKey_Quality: 1]) { $1 })
    #expect(lossless > 44, "\(lossless) dB without loss, but for the conversion")
  }

  @Test("A session changes to 4:4:4 and back")
  func aSessionChangesTo444AndBack() throws {
    let session = try Self.session(
      Self.encoders[1], 96, 64, [kVTCompressionPropertyKey_AverageBitRate: 2_000_000])
    defer { VTCompressionSessionInvalidate(session) }
    let format = kCVPixelFormatType_444YpCbCr8BiPlanarFullRange
    let collector = Collector()
    let levels = [
      kVTProfileLevel_H264_High_AutoLevel, kOVTProfileLevel_H264_High444Predictive_AutoLevel,
      kVTProfileLevel_H264_High_AutoLevel,
    ]
    for n in 0..<6 {
      if n % 2 == 0 {
        try check(
          VTSessionSetProperty(session, key: kVTCompressionPropertyKey_ProfileLevel, value: levels[n / 2]),
          "profile")
      }
      try check(
        VTCompressionSessionEncodeFrame(
          session, imageBuffer: try Self.picture(n, 96, 64, format),
          presentationTimeStamp: CMTime(value: CMTimeValue(n), timescale: 30), duration: .invalid,
          frameProperties: nil, infoFlagsOut: nil
        ) { collector.add($0, $1, $2) }, "frame \(n)")
    }
    try check(VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid), "complete")
    for entry in collector.all { try check(entry.status, "result") }
    let profiles = collector.samples.map { $0.parameterSets.first.map { $0[1] } }
    #expect(profiles == [100, 100, 244, 244, 100, 100])
    #expect(collector.samples.map(\.isSync) == [true, false, true, false, true, false])
  }

  @Test("What takes a look-ahead is refused")
  func whatTakesALookAheadIsRefused() throws {
    let session = try Self.session(
      Self.encoders[0], 96, 64,
      Self.profile.merging([kVTCompressionPropertyKey_ConstantBitRate: 2_000_000]) { $1 })
    defer { VTCompressionSessionInvalidate(session) }
    #expect(VTCompressionSessionPrepareToEncodeFrames(session) != noErr)
  }

  @Test("The pool has the format of the profile, also after the profile has changed")
  func thePoolFollowsTheProfile() throws {
    let session = try Self.session(Self.encoders[0], 64, 48, [:])
    func format() throws -> OSType {
      var made: CVPixelBuffer?
      let pool = try #require(VTCompressionSessionGetPixelBufferPool(session))
      CVPixelBufferPoolCreatePixelBuffer(nil, pool, &made)
      return CVPixelBufferGetPixelFormatType(try #require(made))
    }
    let baseline = try format()
    #expect(baseline != kCVPixelFormatType_444YpCbCr8BiPlanarVideoRange)
    for (key, value) in Self.profile {
      try check(VTSessionSetProperty(session, key: key as CFString, value: value as AnyObject), "\(key)")
    }
    #expect(try format() == kCVPixelFormatType_444YpCbCr8BiPlanarVideoRange)
    try check(
      VTSessionSetProperty(
        session, key: kVTCompressionPropertyKey_ProfileLevel, value: kVTProfileLevel_H264_High_AutoLevel),
      "High")
    #expect(try format() == baseline)
  }
}
