// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// The area outside of a movie's clean aperture is not visible.
@Suite struct CleanApertureTests {
  /// 320 by 240, of which 300 by 220 are to be seen, ten pixels right of and six above the middle:
  /// blue, and red around it.
  private static func movie(_ scratch: Scratch, aspect: String? = nil, turn: Bool = false) throws
    -> AVURLAsset
  {
    let plain = scratch.file("plain.mov")
    var arguments = [
      "ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "color=blue:size=300x220:rate=25:duration=0.4",
      "-vf",
      "pad=320:240:20:4:red" + (aspect.map { ",setsar=\($0)" } ?? ""), "-pix_fmt", "yuv420p", "-c:v",
      "libx264", "-qp", "8", "-bf", "0",
      plain,
    ]
    try Tool.run(arguments)
    if turn {
      arguments = [
        "ffmpeg", "-v", "error", "-y", "-i", plain, "-c", "copy", "-metadata:s:v:0", "rotate=90",
        scratch.file("turned.mov"),
      ]
      try Tool.run(arguments)
    }
    var data = try Data(contentsOf: scratch.url(turn ? "turned.mov" : "plain.mov"))
    try MovieBytes.addToDescription(MovieBytes.cleanAperture(300, 220, x: 10, y: -6), in: &data)
    try data.write(to: scratch.url("clap.mov"))
    return AVURLAsset(url: scratch.url("clap.mov"))
  }

  /// The largest amount of red in a file's first picture, by ffmpeg.
  private static func maxRed(_ path: String, crop: String = "null") throws -> Int {
    let text = try Tool.run([
      "ffmpeg", "-v", "error", "-i", path, "-frames:v", "1", "-vf",
      "\(crop),format=gbrp,extractplanes=r,signalstats,metadata=print:file=-", "-f", "null", "-",
    ])
    let line = try #require(text.split(separator: "\n").first { $0.contains("YMAX") })
    return Int(line.split(separator: "=").last.map { Double($0) ?? 255 } ?? 255)
  }

  @Test func readersTellOfIt() throws {
    let scratch = Scratch()
    let asset = try Self.movie(scratch)
    let track = try #require(asset.tracks(withMediaType: .video).first)
    #expect(track.naturalSize == CGSize(width: 300, height: 220))
    let format = try #require(track.formatDescriptions.first as! CMFormatDescription?)
    #expect(
      CMVideoFormatDescriptionGetCleanAperture(format, originIsAtTopLeft: true)
        == CGRect(x: 20, y: 4, width: 300, height: 220))
    let first = try #require(ReaderTests.read(asset, settings: [:]).first?.imageBuffer)
    #expect(CVPixelBufferGetWidth(first) == 320)
    let aperture = CVBufferCopyAttachment(first, kCVImageBufferCleanApertureKey, nil) as? NSDictionary
    #expect(aperture?[kCVImageBufferCleanApertureWidthKey] as? Int == 300)
    #expect(aperture?[kCVImageBufferCleanApertureVerticalOffsetKey] as? Int == -6)
  }

  @Test func readersCropWhereTheyAreAskedTo() throws {
    let scratch = Scratch()
    let asset = try Self.movie(scratch)
    let planar = kCVPixelFormatType_420YpCbCr8Planar
    let wanted = try ReaderTests.frameMD5s(
      scratch.file("clap.mov"), ["-vf", "crop=300:220:20:4", "-pix_fmt", "yuv420p"])
    let samples = try ReaderTests.read(
      asset,
      settings: [kCVPixelBufferPixelFormatTypeKey as String: planar, OVTVideoCropsToCleanApertureKey: true])
    #expect(try samples.map { md5(ReaderTests.packed(try #require($0.imageBuffer))) } == wanted)
    #expect(
      samples.first?.imageBuffer.map { CVBufferHasAttachment($0, kCVImageBufferCleanApertureKey) } == false)
    let scaled = try ReaderTests.read(
      asset,
      settings: [
        kCVPixelBufferWidthKey as String: 150, kCVPixelBufferHeightKey as String: 110,
        OVTVideoCropsToCleanApertureKey: true, kCVPixelBufferPixelFormatTypeKey as String: planar,
      ])
    let small = try #require(scaled.first?.imageBuffer)
    #expect(CVPixelBufferGetWidth(small) == 150 && CVPixelBufferGetHeight(small) == 110)
    // Blue throughout: Y 41, Cb 240, Cr 110.
    let bytes = [UInt8](ReaderTests.packed(small))
    #expect(bytes.prefix(150 * 110).allSatisfy { abs(Int($0) - 41) <= 6 })
    #expect(bytes.suffix(75 * 55).allSatisfy { abs(Int($0) - 110) <= 10 })
    #expect(throws: AVError.self) {
      let track = try #require(asset.tracks(withMediaType: .video).first)
      let output = AVAssetReaderTrackOutput(
        track: track, outputSettings: [OVTVideoCropsToCleanApertureKey: "yes"])
      let reader = try AVAssetReader(asset: asset)
      reader.add(output)
      _ = reader.startReading()
      if let error = reader.error { throw error }
    }
  }

  /// Of pictures with two fields, fours of rows are cut off, and twos where the fields become one
  /// picture.
  @Test func fieldsAreNotPartedByACrop() throws {
    let scratch = Scratch()
    try Tool.run([
      "ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=50:duration=0.4", "-vf",
      "tinterlace=interleave_top,fieldorder=tff", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-flags",
      "+ilme+ildct", scratch.file("fields.mov"),
    ])
    var data = try Data(contentsOf: scratch.url("fields.mov"))
    try MovieBytes.addToDescription(MovieBytes.cleanAperture(300, 220, x: 0, y: 0), in: &data)
    try data.write(to: scratch.url("clap.mov"))
    let asset = AVURLAsset(url: scratch.url("clap.mov"))
    var settings: [String: Any] = [
      kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8Planar,
      OVTVideoCropsToCleanApertureKey: true,
    ]
    let woven = try ReaderTests.read(asset, settings: settings)
    let wanted = try ReaderTests.frameMD5s(
      scratch.file("fields.mov"), ["-vf", "crop=300:216:10:12:exact=1", "-pix_fmt", "yuv420p"])
    #expect(try woven.map { md5(ReaderTests.packed(try #require($0.imageBuffer))) } == wanted)
    settings[kVTDecompressionPropertyKey_FieldMode as String] =
      kVTDecompressionProperty_FieldMode_DeinterlaceFields as String
    settings[kVTDecompressionPropertyKey_DeinterlaceMode as String] =
      kVTDecompressionProperty_DeinterlaceMode_Temporal as String
    let whole = try #require(ReaderTests.read(asset, settings: settings).first?.imageBuffer)
    #expect(CVPixelBufferGetWidth(whole) == 300 && CVPixelBufferGetHeight(whole) == 220)
  }

  @Test(arguments: [false, true]) func generatedImagesHaveNoBorder(turn: Bool) throws {
    let scratch = Scratch()
    let generator = AVAssetImageGenerator(asset: try Self.movie(scratch, aspect: "2/1", turn: turn))
    generator.appliesPreferredTrackTransform = true
    let image = try generator.copyCGImage(at: .zero, actualTime: nil)
    // Pixels twice as wide as high.
    #expect((image.width, image.height) == (turn ? (220, 600) : (600, 220)))
    let bytes = [UInt8](try #require(image.dataProvider?.data as Data?))
    let reddest = stride(from: 2, to: bytes.count, by: 4).max { bytes[$0] < bytes[$1] } ?? 2
    #expect(
      // The border is pure red; of its chroma a little reaches over the edge.
      bytes[reddest] < 80,
      "\(bytes[reddest]) at \(reddest / 4 % image.width), \(reddest / 4 / image.width) of \(image.width)x\(image.height), \(image.bytesPerRow) bytes a row"
    )
  }

  @Test func exportsShowNoBorder() async throws {
    let scratch = Scratch()
    let asset = try Self.movie(scratch)
    #expect(try Self.maxRed(scratch.file("clap.mov")) > 200)
    let session = try #require(
      AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetHighestQuality))
    try await session.export(to: scratch.url("out.mp4"), as: .mp4)
    #expect(
      try Probe.properties(scratch.file("out.mp4"), "stream=width,height") == [
        "width": "300", "height": "220",
      ])
    #expect(try Self.maxRed(scratch.file("out.mp4")) < 40)
    // Copied samples keep the attribute.
    let copy = try #require(
      AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough))
    try await copy.export(to: scratch.url("copy.mov"), as: .mov)
    let data = try Data(contentsOf: scratch.url("copy.mov"))
    #expect(data.range(of: MovieBytes.cleanAperture(300, 220, x: 10, y: -6)) != nil)
    #expect(try Tool.decodingErrors(scratch.file("copy.mov")).isEmpty)
    let again = AVURLAsset(url: scratch.url("copy.mov"))
    #expect(again.tracks(withMediaType: .video).first?.naturalSize == CGSize(width: 300, height: 220))
  }

  /// Invalid values are ignored.
  @Test(arguments: [
    (0, 0, 0, 0), (400, 220, 0, 0), (300, 220, 11, 0), (300, 220, 0, -200), (-300, 220, 0, 0),
  ])
  func aPartOutsideOfThePictureIsNone(_ width: Int, _ height: Int, _ x: Int, _ y: Int) throws {
    let scratch = Scratch()
    _ = try Self.movie(scratch)
    var data = try Data(contentsOf: scratch.url("plain.mov"))
    try MovieBytes.addToDescription(MovieBytes.cleanAperture(width, height, x: x, y: y), in: &data)
    try data.write(to: scratch.url("odd.mov"))
    let asset = AVURLAsset(url: scratch.url("odd.mov"))
    #expect(asset.tracks.first?.naturalSize == CGSize(width: 320, height: 240))
    let samples = try ReaderTests.read(asset, settings: [OVTVideoCropsToCleanApertureKey: true])
    #expect(samples.count == 10 && samples.first?.imageBuffer.map(CVPixelBufferGetWidth) == 320)
  }

  /// Matroska crops pixels at the sides, and states the remaining size.
  @Test func matroskaCropsToo() throws {
    let scratch = Scratch()
    try Tool.run([
      "ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "color=blue:size=320x220:rate=25:duration=0.4",
      "-vf",
      "pad=320:240:0:20:red", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-qp", "8", "-metadata:s:v:0",
      "stereo_mode=mono",
      scratch.file("plain.mkv"),
    ])
    var data = try Data(contentsOf: scratch.url("plain.mkv"))
    // The mode of stereo gives its place to the pixels at the top.
    let mode = try #require(data.range(of: Data([0x53, 0xB8, 0x81, 0x00])))
    data.replaceSubrange(mode, with: [0x54, 0xBB, 0x81, 20])
    try data.write(to: scratch.url("crop.mkv"))
    let asset = AVURLAsset(url: scratch.url("crop.mkv"))
    let samples = try ReaderTests.read(
      asset,
      settings: [
        OVTVideoCropsToCleanApertureKey: true,
        kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8Planar,
      ])
    let wanted = try ReaderTests.frameMD5s(
      scratch.file("plain.mkv"), ["-vf", "crop=320:220:0:20", "-pix_fmt", "yuv420p"])
    #expect(try samples.map { md5(ReaderTests.packed(try #require($0.imageBuffer))) } == wanted)
  }

  /// `pasp` and the size that Matroska tells count, and not what the stream says (ISO/IEC 14496-12,
  /// 12.1.4).
  @Test(arguments: ["mov", "mp4", "mkv"]) func theContainersShapeOfPixelsCounts(_ ending: String) throws {
    for (stream, container, width) in [
      ("27/64", "4:3", 320.0), ("12/11", "4:3", 320), ("1/1", "8:3", 640), ("2/1", "2:3", 160),
    ] {
      let scratch = Scratch()
      try Tool.run([
        "ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25:duration=0.2",
        "-vf",
        "setsar=\(stream)", "-pix_fmt", "yuv420p", "-c:v", "libx264", scratch.file("stream.mp4"),
      ])
      let path = scratch.file("a." + ending)
      try Tool.run([
        "ffmpeg", "-v", "error", "-y", "-i", scratch.file("stream.mp4"), "-c", "copy", "-aspect", container,
        path,
      ])
      let asset = AVURLAsset(url: URL(fileURLWithPath: path))
      #expect(asset.tracks.first?.naturalSize == CGSize(width: width, height: 240), "\(stream), \(container)")
      let first = try #require(ReaderTests.read(asset, settings: [:]).first?.imageBuffer)
      let shape = CVBufferCopyAttachment(first, kCVImageBufferPixelAspectRatioKey, nil) as? NSDictionary
      let (x, y) = (
        (shape?[kCVImageBufferPixelAspectRatioHorizontalSpacingKey] as? NSNumber)?.doubleValue ?? 1,
        (shape?[kCVImageBufferPixelAspectRatioVerticalSpacingKey] as? NSNumber)?.doubleValue ?? 1
      )
      #expect(abs(320 * x / y - width) < 0.6, "\(stream), \(container)")
    }
  }
}
