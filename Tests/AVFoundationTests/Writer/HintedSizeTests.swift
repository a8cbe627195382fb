// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Output settings with a codec and no size, and export sessions without a file type.
@Suite struct HintedSizeTests {
  private func hint(_ width: Int32, _ height: Int32) throws -> CMFormatDescription {
    try CMFormatDescription(
      videoCodecType: .init(rawValue: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange), width: Int(width),
      height: Int(height))
  }

  @Test func theSourceFormatHintGivesTheSize() async throws {
    let scratch = Scratch()
    let writer = try AVAssetWriter(url: scratch.url("a.mov"), fileType: .mov)
    let settings: [String: Any] = [AVVideoCodecKey: AVVideoCodecType.h264]
    #expect(writer.canApply(outputSettings: settings, forMediaType: .video))
    let input = AVAssetWriterInput(
      mediaType: .video, outputSettings: settings, sourceFormatHint: try hint(176, 144))
    let adaptor = AVAssetWriterInputPixelBufferAdaptor(assetWriterInput: input)
    #expect(writer.canAdd(input))
    writer.add(input)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    let pool = try #require(adaptor.pixelBufferPool)
    var picture: CVPixelBuffer?
    CVPixelBufferPoolCreatePixelBuffer(nil, pool, &picture)
    #expect(picture.map(CVPixelBufferGetWidth) == 176 && picture.map(CVPixelBufferGetHeight) == 144)
    #expect(
      adaptor.append(
        try WriterBehaviourTests.picture(0, width: 176, height: 144), withPresentationTime: .zero))
    await writer.finishWriting()
    let properties = try Probe.properties(scratch.file("a.mov"), "stream=width,height")
    #expect(properties == ["width": "176", "height": "144"])
  }

  @Test func receiversTakeTheHintToo() async throws {
    let scratch = Scratch()
    let writer = try AVAssetWriter(url: scratch.url("a.mov"), fileType: .mov)
    let receiver = writer.inputPixelBufferReceiver(
      for: AVAssetWriterInput(
        mediaType: .video, outputSettings: [AVVideoCodecKey: AVVideoCodecType.h264],
        sourceFormatHint: try hint(96, 64)))
    try writer.start()
    writer.startSession(atSourceTime: .zero)
    let picture = CVReadOnlyPixelBuffer(
      unsafeBuffer: try WriterBehaviourTests.picture(0, width: 96, height: 64))
    try await receiver.append(picture, with: .zero)
    receiver.finish()
    await writer.finishWriting()
    let properties = try Probe.properties(scratch.file("a.mov"), "stream=width,height")
    #expect(properties == ["width": "96", "height": "64"])
  }

  @Test func withoutAHintOrWithHalfASizeTheyAreRefused() throws {
    let scratch = Scratch()
    let writer = try AVAssetWriter(url: scratch.url("a.mov"), fileType: .mov)
    let codec: [String: Any] = [AVVideoCodecKey: AVVideoCodecType.h264]
    let source = try hint(176, 144)
    func can(_ settings: [String: Any], _ hint: CMFormatDescription?) -> Bool {
      writer.canAdd(AVAssetWriterInput(mediaType: .video, outputSettings: settings, sourceFormatHint: hint))
    }
    #expect(!can(codec, nil))
    #expect(!can(codec.merging([AVVideoWidthKey: 176]) { $1 }, source))
    #expect(!can(codec.merging([AVVideoHeightKey: 144]) { $1 }, source))
    #expect(!can(codec, try hint(0, 0)))
    #expect(!writer.canApply(outputSettings: [:], forMediaType: .video))
    #expect(
      !writer.canApply(
        outputSettings: codec.merging([AVVideoCompressionPropertiesKey: ["nothing": 1]]) { $1 },
        forMediaType: .video))
    #expect(!writer.canApply(outputSettings: codec, forMediaType: .audio))
  }

  @Test(arguments: [("a.mov", "qt  "), ("b.MP4", "isom"), ("c.m4v", "M4V ")])
  func theFileTypeFollowsFromTheEnding(name: String, brand: String) async throws {
    let scratch = Scratch()
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let session = try #require(
      AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough))
    session.outputURL = scratch.url(name)
    await session.export()
    #expect(session.status == .completed, "\(String(describing: session.error))")
    #expect(session.outputFileType == nil)
    let properties = try Probe.properties(scratch.file(name), stream: nil, "format_tags=major_brand")
    #expect(
      properties["TAG:major_brand"]?.hasPrefix(brand.trimmingCharacters(in: .whitespaces)) == true,
      "\(properties)")
  }

  @Test(arguments: ["a", "a.txt", "a.m4a", "a.avi"]) func otherEndingsAreNoFileType(name: String) async throws
  {
    let scratch = Scratch()
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let session = try #require(
      AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough))
    session.outputURL = scratch.url(name)
    await session.export()
    #expect(session.status == .failed && (session.error as? AVError)?.code == .incorrectlyConfigured)
    #expect(scratch.contents.isEmpty)
  }
}
