// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// The results of presets for movies that are not eight bits and square pixels.
@Suite(.serialized) struct ExportShapeTests {
  private let scratch = Scratch()

  private func export(_ source: String, _ preset: String) async throws -> String {
    let session = try #require(
      AVAssetExportSession(asset: AVURLAsset(url: URL(fileURLWithPath: source)), presetName: preset))
    let url = scratch.url("\(UUID().uuidString).mov")
    try await session.export(to: url, as: .mov)
    #expect(try Tool.decodingErrors(url.path).isEmpty)
    return url.path
  }

  @Test(.enabled(if: WriterTests.hasEncoder(kCMVideoCodecType_H264))) func pixelsBecomeSquare() async throws {
    let source = try Fixture.make(
      "anamorphic.mp4", Fixture.picture + ["-vf", "setsar=4/3", "-c:v", "libx264", "-preset", "veryfast"])
    let path = try await export(source, AVAssetExportPresetHighestQuality)
    let properties = try Probe.properties(path, "stream=width,height,sample_aspect_ratio")
    #expect(properties["width"] == "426" && properties["height"] == "240", "\(properties)")
    #expect(["1:1", "N/A", nil].contains(properties["sample_aspect_ratio"]), "\(properties)")
    // The longer side of the box is along the longer side of the displayed picture.
    let tall = try Fixture.make(
      "tall.mp4", Fixture.picture + ["-vf", "setsar=1/2", "-c:v", "libx264", "-preset", "veryfast"])
    let small = try Probe.properties(
      try await export(tall, AVAssetExportPresetLowQuality), "stream=width,height")
    #expect(small["width"] == "160" && small["height"] == "240", "\(small)")
  }

  @Test func highRangeStaysWhereTheCodecHasIt() async throws {
    let source = try Fixture.make(
      "deep.mov",
      Fixture.picture + [
        "-t", "0.5", "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
        "log-level=none:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc", "-pix_fmt", "yuv420p10le",
        "-tag:v", "hvc1", "-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc",
      ])
    let presets = AVAssetExportSession.allExportPresets()
    if presets.contains(AVAssetExportPresetHEVCHighestQuality) {
      let path = try await export(source, AVAssetExportPresetHEVCHighestQuality)
      let properties = try Probe.properties(path, "stream=pix_fmt,color_transfer,color_primaries,color_space")
      #expect(
        properties["pix_fmt"] == "yuv420p10le" && properties["color_transfer"] == "smpte2084", "\(properties)"
      )
      #expect(
        properties["color_primaries"] == "bt2020" && properties["color_space"] == "bt2020nc", "\(properties)")
    } else {
      // Without an encoder the preset does not exist.
      #expect(
        AVAssetExportSession(
          asset: AVURLAsset(url: URL(fileURLWithPath: source)),
          presetName: AVAssetExportPresetHEVCHighestQuality) == nil)
    }
    guard presets.contains(AVAssetExportPreset640x480) else { return }
    let flat = try await export(source, AVAssetExportPreset640x480)
    let properties = try Probe.properties(flat, "stream=pix_fmt,color_transfer,color_primaries,color_space")
    #expect(properties["pix_fmt"] == "yuv420p" && properties["color_transfer"] == "bt709", "\(properties)")
    #expect(properties["color_primaries"] == "bt709" && properties["color_space"] == "bt709", "\(properties)")
  }

  @Test func presetsNeedTheirEncoder() {
    for name in AVAssetExportSession.allExportPresets() where name.contains("HEVC") {
      #expect(WriterTests.hasEncoder(kCMVideoCodecType_HEVC), "\(name)")
    }
    #expect(
      AVAssetExportSession.allExportPresets().contains(AVAssetExportPreset640x480)
        == WriterTests.hasEncoder(kCMVideoCodecType_H264))
  }
}
