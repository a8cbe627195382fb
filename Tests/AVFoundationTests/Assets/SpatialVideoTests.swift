// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// The signalling in movies of stereo views, projections and fields of view, which ffmpeg's tools
/// of this age neither write nor tell: the boxes are put together here by their documents.
@Suite struct SpatialVideoTests {
  private static func box(_ type: String, _ content: [UInt8]...) -> [UInt8] {
    let content = content.flatMap { $0 }
    return [UInt8](MovieBytes.big(content.count + 8)) + Array(type.utf8) + content
  }

  private static func full(_ type: String, _ value: [UInt8]) -> [UInt8] { box(type, [0, 0, 0, 0] + value) }

  /// Both eyes, the right one to be shown alone, 64.0 mm apart, moved against each other by 2 % to
  /// the left.
  private static let eyes = box(
    "eyes", full("stri", [3]), full("hero", [2]), box("cams", full("blin", [0, 0, 0xFA, 0])),
    box("cmfy", full("dadj", [0xFF, 0xFF, 0xFF, 0x38])))
  /// 71.59 degrees.
  private static let fieldOfView = box("hfov", [0, 1, 0x17, 0xA6])

  private func movie(_ boxes: [UInt8], _ scratch: Scratch, _ name: String = "a.mov") throws -> URL {
    let plain = try Fixture.make(
      "spatial-plain.mov",
      [
        "-f", "lavfi", "-i", "testsrc2=size=160x128:rate=25:duration=1", "-pix_fmt", "yuv420p", "-c:v",
        "libx264", "-preset", "ultrafast",
      ])
    var data = try Data(contentsOf: URL(fileURLWithPath: plain))
    try MovieBytes.addToDescription(Data(boxes), in: &data)
    try data.write(to: scratch.url(name))
    return scratch.url(name)
  }

  private func track(_ url: URL) async throws -> (AVURLAsset, AVAssetTrack) {
    let asset = AVURLAsset(url: url)
    return (asset, try #require(try await asset.loadTracks(withMediaType: .video).first))
  }

  private func value(_ track: AVAssetTrack, _ key: CFString) async throws -> NSObject? {
    let format = try #require(try await track.load(.formatDescriptions).first)
    return CMFormatDescriptionGetExtension(format, extensionKey: key) as? NSObject
  }

  private func expectViews(_ url: URL) async throws {
    let (asset, track) = try await track(url)
    let expected: [(CFString, NSObject)] = [
      (kCMFormatDescriptionExtension_HasLeftStereoEyeView, NSNumber(value: true)),
      (kCMFormatDescriptionExtension_HasRightStereoEyeView, NSNumber(value: true)),
      (kCMFormatDescriptionExtension_HeroEye, kCMFormatDescriptionHeroEye_Right),
      (kCMFormatDescriptionExtension_StereoCameraBaseline, NSNumber(value: 64_000)),
      (kCMFormatDescriptionExtension_HorizontalDisparityAdjustment, NSNumber(value: -200)),
      (kCMFormatDescriptionExtension_HorizontalFieldOfView, NSNumber(value: 71_590)),
      (kCMFormatDescriptionExtension_ProjectionKind, kCMFormatDescriptionProjectionKind_HalfEquirectangular),
      (kCMFormatDescriptionExtension_ViewPackingKind, kCMFormatDescriptionViewPackingKind_SideBySide),
    ]
    for (key, wanted) in expected { #expect(try await value(track, key) == wanted, "\(key)") }
    #expect(try await value(track, kCMFormatDescriptionExtension_HasAdditionalViews) == nil)
    for characteristic in [
      AVMediaCharacteristic.carriesVideoStereoMetadata, .indicatesHorizontalFieldOfView,
      .indicatesNonRectilinearProjection,
    ] { #expect(track.hasMediaCharacteristic(characteristic), "\(characteristic)") }
    withExtendedLifetime(asset) {}
  }

  private static let all =
    box(
      "vexu", eyes, box("proj", full("prji", Array("hequ".utf8))),
      box("pack", full("pkin", Array("side".utf8)))) + fieldOfView

  @Test func viewsAreReportedByTheFormatDescription() async throws {
    let scratch = Scratch()
    try await expectViews(movie(Self.all, scratch))
  }

  /// A movie written from the stored samples has the same boxes, byte for byte.
  @Test(arguments: [AVFileType.mov, .mp4]) func viewsAreWrittenAgain(_ type: AVFileType) async throws {
    let scratch = Scratch()
    // With a clean aperture, which goes into the description as well.
    var boxes = [UInt8](MovieBytes.cleanAperture(140, 100))
    boxes.append(contentsOf: Self.all)
    let (asset, track) = try await track(movie(boxes, scratch))
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
    reader.add(output)
    let writer = try AVAssetWriter(url: scratch.url("b.mov"), fileType: type)
    let input = AVAssetWriterInput(
      mediaType: .video, outputSettings: nil,
      sourceFormatHint: try await track.load(.formatDescriptions).first)
    writer.add(input)
    #expect(reader.startReading() && writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    while let sample = output.copyNextSampleBuffer() { #expect(input.append(sample)) }
    input.markAsFinished()
    await writer.finishWriting()
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    try await expectViews(scratch.url("b.mov"))
    let bytes = try Data(contentsOf: scratch.url("b.mov"))
    #expect(bytes.range(of: Data(Self.all)) != nil)
    #expect(bytes.range(of: MovieBytes.cleanAperture(140, 100)) != nil)
    #expect(try Tool.decodingErrors(scratch.file("b.mov")) == "")
  }

  /// One eye without other properties, and unknown kinds.
  @Test func whatIsNotDeclaredIsNotReported() async throws {
    let scratch = Scratch()
    let boxes = Self.box(
      "vexu", Self.box("eyes", Self.full("stri", [5])),
      Self.box("proj", Self.full("prji", Array("none".utf8))))
    let (asset, track) = try await track(movie(boxes, scratch))
    #expect(
      try await value(track, kCMFormatDescriptionExtension_HasLeftStereoEyeView) == NSNumber(value: true))
    #expect(
      try await value(track, kCMFormatDescriptionExtension_HasRightStereoEyeView) == NSNumber(value: false))
    #expect(
      try await value(track, kCMFormatDescriptionExtension_HasAdditionalViews) == NSNumber(value: true))
    for key in [
      kCMFormatDescriptionExtension_HeroEye, kCMFormatDescriptionExtension_ProjectionKind,
      kCMFormatDescriptionExtension_ViewPackingKind, kCMFormatDescriptionExtension_StereoCameraBaseline,
      kCMFormatDescriptionExtension_HorizontalFieldOfView,
    ] { #expect(try await value(track, key) == nil, "\(key)") }
    #expect(!track.hasMediaCharacteristic(.carriesVideoStereoMetadata))
    let (plain, other) = try await self.track(movie([], scratch, "plain.mov"))
    #expect(try await value(other, kCMFormatDescriptionExtension_HasLeftStereoEyeView) == nil)
    withExtendedLifetime((asset, plain)) {}
  }

  /// Truncated boxes, and boxes with an impossible length, leave the movie readable.
  @Test func damagedBoxesArePassedOver() async throws {
    let scratch = Scratch()
    let whole = Self.box("vexu", Self.eyes)
    for place in stride(from: 8, to: whole.count, by: 5) {
      for value: UInt8 in [0, 0xFF] {
        var boxes = whole
        boxes[place] = value
        let (asset, track) = try await track(movie(boxes, scratch))
        #expect(try await track.load(.formatDescriptions).count == 1, "\(place) \(value)")
        #expect(try ReaderTests.read(asset).count == 25)
      }
    }
    // Larger than any.
    let large = Self.box("vexu", Self.eyes, [UInt8](repeating: 0, count: 1 << 14))
    let (asset, track) = try await track(movie(large, scratch))
    #expect(try await value(track, kCMFormatDescriptionExtension_HeroEye) == nil)
    withExtendedLifetime(asset) {}
  }
}
