// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import VideoToolbox

@testable import AVFoundation

/// `allowsParallelizedExport` decides on the threads of decoder and encoder.
@Suite struct ExportThreadTests {
  private func settings(_ allows: Bool) throws -> (reading: [String: Any], session: VTCompressionSession) {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let track = try #require(asset.tracks(withMediaType: .video).first)
    let preset = try #require(ExportPreset.named(AVAssetExportPresetMediumQuality))
    var settings = AVAssetExportSession.Settings()
    settings.isParallel = allows
    let pair = try #require(try ExportJob.pair(track, preset, 1, settings))
    let output = try #require(pair.output as? AVAssetReaderTrackOutput)
    let writing = try VideoEncodingSettings(try #require(pair.input.outputSettings), hint: nil)
    return (
      try #require(output.outputSettings),
      try writing.makeSession(isRealTime: false, sourceAttributes: nil)
    )
  }

  private func threads(_ session: VTCompressionSession) -> Int? {
    var value: AnyObject?
    defer { VTCompressionSessionInvalidate(session) }
    guard
      VTSessionCopyProperty(
        session, key: kOVTCompressionPropertyKey_ThreadCount, allocator: nil, valueOut: &value) == noErr
    else { return nil }
    return (value as? NSNumber)?.intValue
  }

  @Test("Without parallel export decoder and encoder have one thread each; with it the encoder chooses")
  func threadCounts() throws {
    let key = kVTDecompressionPropertyKey_ThreadCount as String
    let alone = try settings(false)
    #expect(alone.reading[key] as? Int == 1)
    #expect(threads(alone.session) == 1)
    let parallel = try settings(true)
    #expect((parallel.reading[key] as? Int ?? 0) >= 1)
    #expect(threads(parallel.session) == 0)
  }

  @Test("The pictures are the same with either value") func samePictures() async throws {
    let scratch = Scratch()
    var digests: [String] = []
    for allows in [true, false] {
      let session = try #require(
        AVAssetExportSession(
          asset: AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie())),
          presetName: AVAssetExportPresetMediumQuality))
      session.allowsParallelizedExport = allows
      let url = scratch.url("\(allows).mp4")
      try await session.export(to: url, as: .mp4)
      digests.append(
        try Tool.run([
          "ffmpeg", "-v", "error", "-i", url.path, "-map", "0:v", "-c", "copy", "-f", "md5", "-",
        ]))
    }
    #expect(digests[0] == digests[1] && digests[0].contains("MD5="))
  }
}
