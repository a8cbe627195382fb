// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import H264Codec
import TestSupport
import Testing
import VideoToolbox
import X264Codec
import X265Codec

/// Pictures of sizes that 4:2:0 or a macroblock does not divide: enlarged for the encoder, cropped
/// by the parameter sets.
@Suite(.enabled(if: StreamProbe.isAvailable)) struct PictureSizeTests {
  /// An encoder, by its id, and its codec.
  struct Encoder: Sendable, CustomTestStringConvertible {
    let id: String
    var isHEVC: Bool { id.contains(".hevc.") }
    var codec: CMVideoCodecType { isHEVC ? kCMVideoCodecType_HEVC : kCMVideoCodecType_H264 }
    var testDescription: String { id }

    static let own = Encoder(id: H264Codec.encoderID)
    static let ownInCalls = Encoder(id: H264Codec.lowLatencyEncoderID)
    static var libraries: [Encoder] {
      ([X264Codec.encoder].compactMap { $0 } + X265Codec.encoders).map { Encoder(id: $0.id) }
    }
    static var all: [Encoder] { [own, ownInCalls] + libraries }

    func session(_ width: Int, _ height: Int, _ properties: [CFString: Any] = [:]) throws
      -> VTCompressionSession
    {
      try makeSession(
        codec, width: width, height: height, specification: [kVTVideoEncoderSpecification_EncoderID: id],
        properties: properties)
    }
  }

  private static func annexB(_ samples: [CMSampleBuffer]) -> Data {
    var data = Data()
    for sample in samples {
      let sets = sample.isSync ? sample.parameterSets : []
      for unit in sets + sample.nalUnits { data += [0, 0, 0, 1] + unit }
    }
    return data
  }

  /// All pictures of a stream whose size changes, each in its own size, as planes of 4:2:0.
  private static func decode(_ data: Data, hevc: Bool) throws -> Data {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(
      "ovt-\(UUID().uuidString).\(hevc ? "265" : "264")")
    try data.write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    let result = try StreamProbe.run(
      "/usr/bin/ffmpeg",
      [
        "-v", "error", "-f", hevc ? "hevc" : "h264", "-i", url.path, "-autoscale", "0", "-vsync",
        "passthrough", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-",
      ])
    try #require(result.errors.isEmpty, "\(result.errors.prefix(2000))")
    return result.output
  }

  /// The planes of a picture in the even size that contains it, its last column and row repeated.
  private static func padded(_ buffer: CVPixelBuffer) -> [[UInt8]] {
    CVPixelBufferLockBaseAddress(buffer, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
    let (width, height) = (CVPixelBufferGetWidth(buffer), CVPixelBufferGetHeight(buffer))
    func plane(_ index: Int, _ share: Int, _ step: Int, _ offset: Int) -> [UInt8] {
      guard let base = CVPixelBufferGetBaseAddressOfPlane(buffer, index) else { return [] }
      let bytes = base.assumingMemoryBound(to: UInt8.self)
      let stride = CVPixelBufferGetBytesPerRowOfPlane(buffer, index)
      let last = (x: (width - 1) / share, y: (height - 1) / share)
      let size = (x: (width + 1) / 2 * 2 / share, y: (height + 1) / 2 * 2 / share)
      var result: [UInt8] = []
      for y in 0..<size.y {
        for x in 0..<size.x {
          result.append(bytes[min(y, last.y) * stride + min(x, last.x) * step + offset])
        }
      }
      return result
    }
    return [plane(0, 1, 1, 0), plane(1, 2, 2, 0), plane(1, 2, 2, 1)]
  }

  private func expectDecoded(_ encoder: Encoder, _ sizes: [(width: Int, height: Int)]) throws {
    var stream = Data()
    var sources: [(size: (width: Int, height: Int), planes: [UInt8])] = []
    for size in sizes {
      let session = try encoder.session(size.width, size.height, [kVTCompressionPropertyKey_Quality: 0.9])
      let clip = TestClip(width: size.width, height: size.height)
      let samples = try encode(session, clip, count: 1)
      stream += Self.annexB(samples)
      sources.append((size, Self.padded(clip.buffer(0)).flatMap { $0 }))
      VTCompressionSessionInvalidate(session)
    }
    let decoded = [UInt8](try Self.decode(stream, hevc: encoder.isHEVC))
    try #require(decoded.count == sources.reduce(0) { $0 + $1.planes.count }, "pictures of other sizes")
    var at = 0
    for source in sources {
      var sum = 0
      for (a, b) in zip(source.planes, decoded[at...]) { sum += (Int(a) - Int(b)) * (Int(a) - Int(b)) }
      at += source.planes.count
      let decibels = 10 * log10(255 * 255 * Double(source.planes.count) / Double(max(sum, 1)))
      #expect(decibels > 36, "\(encoder.id) \(source.size): \(decibels) dB")
    }
  }

  @Test("All sizes from 1x1 to 64x64 decode to their picture in the next even size")
  func allSizesTo64x64DecodeToTheirPicture() throws {
    // The largest comes first: libavcodec takes the size that its caller found first for that of
    // all pictures that are no smaller and have as many macroblocks.
    let sides = (1...64).reversed()
    try expectDecoded(.own, sides.flatMap { width in sides.map { (width, $0) } })
  }

  @Test(
    "Narrow, low and square sizes to 65 decode to their picture in the next even size, with every encoder",
    arguments: Encoder.all)
  func sizesTo65DecodeWithEveryEncoder(_ encoder: Encoder) throws {
    let sides = [1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 34, 47, 48, 49, 50, 63, 64, 65]
    try expectDecoded(encoder, sides.flatMap { [($0, $0), ($0, 1), (1, $0), ($0, 66 - $0)] })
  }

  @Test("A format description says which part of an odd size is meant", arguments: Encoder.all)
  func aFormatDescriptionSaysWhichPartOfAnOddSizeIsMeant(_ encoder: Encoder) throws {
    for (width, height) in [(193, 144), (192, 143), (15, 1)] {
      let session = try encoder.session(width, height)
      let samples = try encode(session, TestClip(width: width, height: height), count: 2)
      let format = try #require(samples.first?.formatDescription)
      let coded = CMVideoFormatDescriptionGetDimensions(format)
      #expect(Int(coded.width) == (width + 1) & ~1 && Int(coded.height) == (height + 1) & ~1)
      let part = CMVideoFormatDescriptionGetCleanAperture(format, originIsAtTopLeft: true)
      #expect(part == CGRect(x: 0, y: 0, width: width, height: height), "\(part)")
    }
  }

  @Test("A clean aperture that was asked for lies where it does in the picture")
  func aCleanApertureThatWasAskedForLiesWhereItDoesInThePicture() throws {
    let session = try Encoder.own.session(
      193, 144, [kVTCompressionPropertyKey_CleanAperture: ["Width": 101, "Height": 100]])
    let samples = try encode(session, TestClip(width: 193, height: 144), count: 1)
    let format = try #require(samples.first?.formatDescription)
    let part = CMVideoFormatDescriptionGetCleanAperture(format, originIsAtTopLeft: true)
    // In the middle: 46 samples to either side of 193.
    #expect(part == CGRect(x: 46, y: 22, width: 101, height: 100), "\(part)")
  }

  @Test("Even sizes have no clean aperture") func evenSizesHaveNoCleanAperture() throws {
    let samples = try encode(try Encoder.own.session(194, 144), TestClip(width: 194, height: 144), count: 1)
    let format = try #require(samples.first?.formatDescription)
    #expect(
      CMFormatDescriptionGetExtension(
        format, extensionKey: kCMFormatDescriptionExtension_CleanAperture) == nil)
  }

  @Test("Odd pictures in 10 bits, in planes and in RGB", arguments: Encoder.all)
  func oddPicturesIn10BitsPlanesAndRGBDecode(_ encoder: Encoder) throws {
    for format in [
      kCVPixelFormatType_420YpCbCr8Planar, kCVPixelFormatType_32BGRA,
      kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange,
    ] {
      let clip = TestClip(width: 193, height: 143, format: format)
      let samples = try encode(
        try encoder.session(193, 143, [kVTCompressionPropertyKey_Quality: 0.9]), clip, count: 2)
      let probe = try StreamProbe(Self.annexB(samples), hevc: encoder.isHEVC)
      #expect(probe.errors.isEmpty, "\(probe.errors)")
      #expect(probe.number("width") == 194 && probe.number("height") == 144 && probe.frames.count == 2)
    }
  }

  @Test("Two passes over pictures of an odd size") func twoPassesEncodePicturesOfAnOddSize() throws {
    var storage: VTMultiPassStorage?
    try check(
      VTMultiPassStorageCreate(
        allocator: nil, fileURL: nil, timeRange: .invalid, options: nil, multiPassStorageOut: &storage),
      "storage")
    let session = try Encoder.own.session(
      63, 35,
      [
        kVTCompressionPropertyKey_MultiPassStorage: try #require(storage),
        kVTCompressionPropertyKey_AverageBitRate: 100_000,
      ])
    var samples: [CMSampleBuffer] = []
    for isLast in [false, true] {
      try check(VTCompressionSessionBeginPass(session, flags: isLast ? .beginFinalPass : [], nil), "begin")
      samples = try encode(session, TestClip(width: 63, height: 35), count: 30)
      try check(VTCompressionSessionEndPass(session, furtherPassesRequestedOut: nil, nil), "end")
    }
    let probe = try StreamProbe(Self.annexB(samples))
    #expect(probe.frames.count == 30 && probe.number("width") == 64 && probe.number("height") == 36)
  }

  // MARK: - The largest

  @Test(
    "The longest sides that level 6.2 allows", arguments: [(16880, 32), (32, 16880), (16879, 15)])
  func theLongestSidesOfLevel62AreEncoded(width: Int, height: Int) throws {
    let session = try Encoder.own.session(width, height)
    var buffer: CVPixelBuffer?
    CVPixelBufferCreate(
      nil, width, height, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &buffer)
    let picture = try #require(buffer)
    CVPixelBufferLockBaseAddress(picture, [])
    for plane in 0..<2 {
      let base = try #require(CVPixelBufferGetBaseAddressOfPlane(picture, plane))
      let stride = CVPixelBufferGetBytesPerRowOfPlane(picture, plane)
      for row in 0..<CVPixelBufferGetHeightOfPlane(picture, plane) {
        // Slow waves along the picture: what is left out or repeated shows.
        for x in 0..<stride {
          let value = 128 + 90 * sin(Double(x + row) / 40)
          base.storeBytes(of: plane == 0 ? UInt8(value) : 128, toByteOffset: row * stride + x, as: UInt8.self)
        }
      }
    }
    CVPixelBufferUnlockBaseAddress(picture, [])
    let collector = Collector()
    for n in 0..<2 {
      try check(
        VTCompressionSessionEncodeFrame(
          session, imageBuffer: picture, presentationTimeStamp: CMTime(value: CMTimeValue(n), timescale: 30),
          duration: .invalid, frameProperties: nil, infoFlagsOut: nil
        ) { collector.add($0, $1, $2) }, "frame")
    }
    try check(VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid), "complete")
    let decoded = [UInt8](try Self.decode(Self.annexB(collector.samples), hevc: false))
    let planes = Self.padded(picture).flatMap { $0 }
    try #require(decoded.count == 2 * planes.count)
    var sum = 0
    for (a, b) in zip(planes + planes, decoded) { sum += (Int(a) - Int(b)) * (Int(a) - Int(b)) }
    #expect(10 * log10(255 * 255 * Double(decoded.count) / Double(max(sum, 1))) > 34)
  }

  @Test("Beyond that there is no encoder of the package's own")
  func beyondTheLevelsThereIsNoEncoderOfThePackagesOwn() throws {
    for (width, height) in [(16881, 16), (16, 16882), (8320, 4320), (8192, 4354), (Int(Int32.max), 2)] {
      for encoder in [Encoder.own, .ownInCalls] {
        do {
          _ = try encoder.session(width, height)
          Issue.record("\(width)x\(height) was taken")
        } catch let error as SessionError {
          #expect(error.status == kVTCouldNotFindVideoEncoderErr)
        }
      }
    }
    // 520 by 267 macroblocks.
    _ = try Encoder.own.session(8320, 4272)
  }

  @Test("The libraries' encoders say what they do not take", arguments: Encoder.libraries)
  func theLibrariesEncodersSayWhatTheyDoNotTake(_ encoder: Encoder) throws {
    do {
      _ = try encoder.session(16386, 32)
      Issue.record("16386x32 was taken")
    } catch let error as SessionError {
      #expect(error.status == kVTCouldNotFindVideoEncoderErr)
    }
  }
}
