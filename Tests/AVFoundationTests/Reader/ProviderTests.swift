// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Readers and writers without blocking calls.
@Suite struct ProviderTests {
  @Test func providersCarrySamplesFromReaderToWriter() async throws {
    let scratch = Scratch()
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let track = try #require(try await asset.loadTracks(withMediaType: .video).first)
    let reader = try AVAssetReader(asset: asset)
    let provider = reader.outputProvider(for: AVAssetReaderTrackOutput(track: track, outputSettings: nil))
    let writer = try AVAssetWriter(url: scratch.url("copy.mp4"), fileType: .mp4)
    let receiver = writer.inputReceiver(
      for: AVAssetWriterInput(
        mediaType: .video, outputSettings: nil,
        sourceFormatHint: track.formatDescriptions.first as? CMFormatDescription))
    try reader.start()
    try writer.start()
    writer.startSession(atSourceTime: .zero)
    var count = 0
    while let sample = try await provider.next() {
      try await receiver.append(sample)
      count += 1
    }
    receiver.finish()
    await writer.finishWriting()
    #expect(writer.status == .completed && count == 60)
    let (copy, original) = (
      try Probe.samples(scratch.file("copy.mp4")), try Probe.samples(Fixture.movie())
    )
    #expect(copy.map(\.hash) == original.map(\.hash) && copy.map(\.pts) == original.map(\.pts))
  }

  @Test func picturesFromAPoolAreWritten() async throws {
    let scratch = Scratch()
    let writer = try AVAssetWriter(url: scratch.url("made.mov"), fileType: .mov)
    let attributes = CVPixelBufferCreationAttributes(
      pixelFormatType: CVPixelFormatType(rawValue: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange),
      size: CVImageSize(width: 128, height: 96))
    let receiver = writer.inputPixelBufferReceiver(
      for: AVAssetWriterInput(
        mediaType: .video,
        outputSettings: [
          AVVideoCodecKey: AVVideoCodecType.h264, AVVideoWidthKey: 128, AVVideoHeightKey: 96,
        ]), pixelBufferAttributes: attributes)
    #expect(receiver.sourcePixelBufferAttributes == attributes)
    try writer.start()
    writer.startSession(atSourceTime: .zero)
    let pool = try #require(receiver.pixelBufferPool)
    for frame in 0..<12 {
      let picture = try pool.makeMutablePixelBuffer()
      picture.withUnsafeBuffer { buffer in
        CVPixelBufferLockBaseAddress(buffer, [])
        defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
        for plane in 0..<2 {
          memset(
            CVPixelBufferGetBaseAddressOfPlane(buffer, plane), plane == 0 ? Int32(16 + frame * 18) : 128,
            CVPixelBufferGetBytesPerRowOfPlane(buffer, plane) * CVPixelBufferGetHeightOfPlane(buffer, plane))
        }
      }
      try await receiver.append(
        CVReadOnlyPixelBuffer(picture), with: CMTime(value: Int64(frame), timescale: 12))
    }
    receiver.finish()
    await writer.finishWriting()
    #expect(writer.status == .completed)
    // The brightness of each frame, as ffmpeg decodes it.
    try Tool.run([
      "ffmpeg", "-v", "error", "-i", scratch.file("made.mov"), "-f", "rawvideo", "-pix_fmt", "gray",
      scratch.file("luma"),
    ])
    let luma = try Data(contentsOf: scratch.url("luma"))
    #expect(luma.count == 128 * 96 * 12)
    let shown = (0..<12).map { Int(luma[luma.startIndex + $0 * 128 * 96 + 6000]) }
    #expect(zip(shown, shown.dropFirst()).allSatisfy { $0 < $1 }, "\(shown)")
  }

  @Test func whatGoesWrongIsThrown() async throws {
    let scratch = Scratch()
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let track = try #require(asset.tracks(withMediaType: .video).first)
    // Not started.
    let idle = try AVAssetReader(asset: asset)
    let provider = idle.outputProvider(for: AVAssetReaderTrackOutput(track: track, outputSettings: nil))
    let unstarted = await #expect(throws: AVError.self) { _ = try await provider.next() }
    #expect(unstarted?.code == .operationNotAllowed)
    // Cancelled.
    try idle.start()
    _ = try await provider.next()
    idle.cancelReading()
    let cancelled = await #expect(throws: AVError.self) { while try await provider.next() != nil {} }
    #expect(cancelled?.code == .operationCancelled)
    #expect(throws: AVError.self) { try idle.start() }
    // A writer that is not writing, and one that cannot.
    let writer = try AVAssetWriter(url: scratch.url("no.mov"), fileType: .mov)
    let receiver = writer.inputReceiver(for: AVAssetWriterInput(mediaType: .video, outputSettings: nil))
    let reader = try AVAssetReader(asset: asset)
    let source = reader.outputProvider(for: AVAssetReaderTrackOutput(track: track, outputSettings: nil))
    try reader.start()
    let sample = try #require(try await source.next())
    #expect(throws: AVError.self) { _ = try receiver.appendImmediately(sample) }
    let nowhere = try AVAssetWriter(url: URL(fileURLWithPath: "/nowhere/at/all.mov"), fileType: .mov)
    _ = nowhere.inputReceiver(for: AVAssetWriterInput(mediaType: .video, outputSettings: nil))
    #expect(throws: AVError.self) { try nowhere.start() }
  }
}
