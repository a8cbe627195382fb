// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing
import VideoToolbox

/// The properties of pictures that a format description decides, and others.
@Suite(.enabled(if: SampleMovie.isAvailable)) struct FormatChangeTests {
  private static func described(
    _ format: CMVideoFormatDescription, primaries: CFString? = nil, width: Int32? = nil, height: Int32? = nil
  ) throws -> CMVideoFormatDescription {
    let extensions = NSMutableDictionary()
    for (key, value) in try #require(CMFormatDescriptionGetExtensions(format)) {
      extensions[key as! NSString] = value
    }
    extensions[kCMFormatDescriptionExtension_ColorPrimaries] = primaries
    let size = CMVideoFormatDescriptionGetDimensions(format)
    var made: CMVideoFormatDescription?
    try check(
      CMVideoFormatDescriptionCreate(
        allocator: nil, codecType: CMFormatDescriptionGetMediaSubType(format), width: width ?? size.width,
        height: height ?? size.height, extensions: extensions, formatDescriptionOut: &made), "description")
    return try #require(made)
  }

  @Test(
    arguments: [
      [], [._EnableAsynchronousDecompression], [._EnableTemporalProcessing],
      [._EnableAsynchronousDecompression, ._EnableTemporalProcessing],
    ] as [VTDecodeFrameFlags])
  func eachFrameHasTheAttachmentsOfItsOwnFormat(flags: VTDecodeFrameFlags) throws {
    let movie = try SampleMovie(["-c:v", "libx264", "-g", "10", "-bf", "2"], size: "64x48", reference: false)
    let before = try Self.described(movie.format, primaries: kCVImageBufferColorPrimaries_ITU_R_709_2)
    let after = try Self.described(movie.format, primaries: kCVImageBufferColorPrimaries_ITU_R_2020)
    // The second group of pictures is another format's.
    let change = try #require(movie.samples.indices.dropFirst().first { movie.samples[$0].isSync })
    let changeTime = movie.samples[change].presentationTimeStamp
    let decoder = try makeDecoder(before)
    let collector = ImageCollector()
    let samples = try movie.samples.enumerated().map { index, sample in
      try SampleMovie.sample(
        Data(sample.bytes), index < change ? before : after, time: sample.presentationTimeStamp,
        isSync: sample.isSync)
    }
    try decode(decoder, samples, flags, into: collector)
    VTDecompressionSessionFinishDelayedFrames(decoder)
    VTDecompressionSessionWaitForAsynchronousFrames(decoder)
    #expect(collector.images.count == samples.count)
    for entry in collector.all {
      let image = try #require(entry.image)
      let primaries = CVBufferCopyAttachment(image, kCVImageBufferColorPrimariesKey, nil) as? String
      let own =
        entry.time < changeTime
        ? kCVImageBufferColorPrimaries_ITU_R_709_2 : kCVImageBufferColorPrimaries_ITU_R_2020
      #expect(primaries == own as String, "at \(entry.time.seconds) s")
    }
    VTDecompressionSessionInvalidate(decoder)
  }

  /// The dimensions in a sample description are untrusted 16-bit numbers: 65,535 x 65,535 would
  /// need 6 GB for a picture.
  @Test func aDescriptionDoesNotEnlargePictures() throws {
    let movie = try SampleMovie(["-c:v", "libx264"], size: "64x48", seconds: 0.2, reference: false)
    for (width, height) in [(60_000, 60_000), (16_000, 16), (72, 48)] as [(Int32, Int32)] {
      let format = try Self.described(movie.format, width: width, height: height)
      let decoder = try makeDecoder(format)
      let samples = try movie.samples.map {
        try SampleMovie.sample(Data($0.bytes), format, time: $0.presentationTimeStamp, isSync: $0.isSync)
      }
      let images = try decode(decoder, samples).images
      #expect(images.count == samples.count)
      #expect(images.allSatisfy { CVPixelBufferGetWidth($0) == 64 && CVPixelBufferGetHeight($0) == 48 })
      VTDecompressionSessionInvalidate(decoder)
    }
    // The program gets the size that it asks for, and a smaller description holds.
    let decoder = try makeDecoder(
      movie.format,
      attributes: [kCVPixelBufferWidthKey: 640, kCVPixelBufferHeightKey: 480])
    #expect(try decode(decoder, movie.samples).images.allSatisfy { CVPixelBufferGetWidth($0) == 640 })
    VTDecompressionSessionInvalidate(decoder)
    let small = try Self.described(movie.format, width: 32, height: 24)
    let half = try makeDecoder(small)
    let samples = try movie.samples.map {
      try SampleMovie.sample(Data($0.bytes), small, time: $0.presentationTimeStamp, isSync: $0.isSync)
    }
    #expect(try decode(half, samples).images.allSatisfy { CVPixelBufferGetWidth($0) == 32 })
    VTDecompressionSessionInvalidate(half)
    // Where nothing else tells the size, the pictures do: PNG has no parameter sets.
    let loose = try SampleMovie.describe(0x706E_6720, 16_000, 16_000, [:])  // "png "
    let still = FileManager.default.temporaryDirectory.appendingPathComponent("ovt-\(UUID().uuidString).png")
    defer { try? FileManager.default.removeItem(at: still) }
    try SampleMovie.ffmpeg(["-f", "lavfi", "-i", "testsrc2=s=64x48", "-frames:v", "1", still.path])
    let png = try makeDecoder(loose)
    let results = try decode(
      png, [try SampleMovie.sample(try Data(contentsOf: still), loose, time: .zero, isSync: true)])
    let image = try #require(results.images.first, "\(results.all.map(\.status))")
    #expect(CVPixelBufferGetWidth(image) == 64 && CVPixelBufferGetHeight(image) == 48)
    VTDecompressionSessionInvalidate(png)
  }
}
