// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Movies whose HEVC samples have a further layer, as cameras of spatial video write them: the
/// layer's parameter sets are in a box of their own, `lhvC`.
///
/// The supported versions of ffmpeg do not write such movies. The test makes one from a
/// single-layer movie: each slice is followed by a copy with nuh_layer_id 1, which decoders of the
/// base layer ignore.
@Suite struct LayeredVideoTests {
  private static func box(_ type: String, _ content: [UInt8]...) -> [UInt8] {
    let content = content.flatMap { $0 }
    return [UInt8](MovieBytes.big(content.count + 8)) + Array(type.utf8) + content
  }

  /// A configuration record of a further layer (ISO/IEC 14496-15, 9.5.3): version 1, lengths of
  /// four bytes, one array with one sequence parameter set of layer 1.
  private static let layers: [UInt8] = [
    1, 0xF0, 0, 0xFC, 0xCB, 1, 0x21, 0, 1, 0, 4, 0x42, 0x09, 0x0E, 0x85,
  ]
  private static let eyes = box("vexu", box("eyes", box("stri", [0, 0, 0, 0, 3])))

  /// NAL units of a byte stream with the slices of a second layer after those of the first.
  private static func doubled(_ stream: [UInt8]) -> [UInt8] {
    var starts: [Int] = []
    for at in 0..<max(stream.count - 3, 0) where stream[at...].starts(with: [0, 0, 1]) {
      starts.append(at + 3)
    }
    var result: [UInt8] = []
    for (n, start) in starts.enumerated() {
      let end = n + 1 < starts.count ? starts[n + 1] - 3 : stream.count
      var unit = Array(stream[start..<end])
      while unit.last == 0 { unit.removeLast() }
      result += [0, 0, 0, 1] + unit
      // The type is in six bits after the first, the layer's number in the six bits after it.
      guard unit.count > 2, (unit[0] >> 1) & 0x3F < 32 else { continue }
      unit[1] |= 1 << 3
      // first_slice_segment_in_pic_flag is cleared: libavformat's parser begins an access unit with
      // it in any layer.
      unit[2] &= 0x7F
      result += [0, 0, 0, 1] + unit
    }
    return result
  }

  private func movie(_ scratch: Scratch, _ boxes: [UInt8]) throws -> URL {
    let plain = try Fixture.make(
      "base-layer.265",
      [
        "-f", "lavfi", "-i", "testsrc2=size=160x128:rate=25:duration=0.4", "-pix_fmt", "yuv420p", "-c:v",
        "libx265",
        "-preset", "ultrafast", "-x265-params", "log-level=none:bframes=0", "-f", "hevc",
      ])
    let stream = Self.doubled([UInt8](try Data(contentsOf: URL(fileURLWithPath: plain))))
    try Data(stream).write(to: scratch.url("two.265"))
    try Tool.run([
      "ffmpeg", "-y", "-v", "error", "-r", "25", "-f", "hevc", "-i", scratch.file("two.265"), "-c", "copy",
      "-tag:v",
      "hvc1", scratch.file("two.mov"),
    ])
    var data = try Data(contentsOf: scratch.url("two.mov"))
    try MovieBytes.addToDescription(Data(boxes), of: "hvc1", in: &data)
    try data.write(to: scratch.url("layers.mov"))
    return scratch.url("layers.mov")
  }

  private func atom(_ format: CMFormatDescription?) -> Data? {
    let atoms =
      format.flatMap {
        CMFormatDescriptionGetExtension(
          $0, extensionKey: kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms)
      } as? NSDictionary
    return atoms?.object(forKey: "lhvC") as? Data
  }

  private func samples(_ url: URL) async throws -> (format: CMFormatDescription?, bytes: [Data]) {
    let asset = AVURLAsset(url: url)
    let track = try #require(try await asset.loadTracks(withMediaType: .video).first)
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
    reader.add(output)
    try #require(reader.startReading())
    var bytes: [Data] = []
    while let sample = output.copyNextSampleBuffer() {
      if let block = sample.dataBuffer, CMSampleBufferGetNumSamples(sample) > 0 {
        bytes.append(try block.dataBytes())
      }
    }
    return (try await track.load(.formatDescriptions).first, bytes)
  }

  @Test func formatDescriptionHasConfigurationOfSecondLayer() async throws {
    let scratch = Scratch()
    let url = try movie(scratch, Self.box("lhvC", Self.layers) + Self.eyes)
    let (format, _) = try await samples(url)
    #expect(atom(format) == Data(Self.layers))
    #expect(format?.tagCollections?.count == 2)
    let asset = AVURLAsset(url: url)
    let track = try #require(try await asset.loadTracks(withMediaType: .video).first)
    #expect(track.hasMediaCharacteristic(.containsStereoMultiviewVideo))
    // The base layer is decoded as it is without the other one.
    #expect(try ReaderTests.read(asset).count == 10)
  }

  @Test("What is copied keeps both layers and their description", arguments: [AVFileType.mov, .mp4])
  func layersAreWrittenAgain(_ type: AVFileType) async throws {
    let scratch = Scratch()
    let url = try movie(scratch, Self.box("lhvC", Self.layers) + Self.eyes)
    let before = try await samples(url)
    let session = try #require(
      AVAssetExportSession(asset: AVURLAsset(url: url), presetName: AVAssetExportPresetPassthrough))
    try await session.export(to: scratch.url("copy"), as: type)
    let after = try await samples(scratch.url("copy"))
    #expect(atom(after.format) == Data(Self.layers))
    #expect(after.format?.tagCollections?.count == 2)
    #expect(before.bytes.count == 10 && after.bytes == before.bytes)
    let bytes = try Data(contentsOf: scratch.url("copy"))
    #expect(bytes.range(of: Data(Self.box("lhvC", Self.layers))) != nil)
    #expect(try Tool.decodingErrors(scratch.file("copy")) == "")
  }

  @Test("A movie without the box has no further layer, nor has H.264 with it") func noFurtherLayer()
    async throws
  {
    let scratch = Scratch()
    let (format, _) = try await samples(movie(scratch, Self.eyes))
    #expect(atom(format) == nil && format?.tagCollections == nil)
    var data = try Data(contentsOf: URL(fileURLWithPath: Fixture.movie()))
    try MovieBytes.addToDescription(Data(Self.box("lhvC", Self.layers)), in: &data)
    try data.write(to: scratch.url("avc.mov"))
    #expect(atom(try await samples(scratch.url("avc.mov")).format) == nil)
  }

  @Test("A box of an impossible length, or of a megabyte, leaves the movie readable")
  func damagedBoxes() async throws {
    let scratch = Scratch()
    var cut = Self.box("lhvC", Self.layers)
    for length: UInt8 in [0, 7, 0xFF] {
      cut[3] = length
      let (format, bytes) = try await samples(movie(scratch, cut))
      #expect(atom(format) == nil && bytes.count == 10)
    }
    let large = Self.box("lhvC", [UInt8](repeating: 0, count: 1 << 20))
    #expect(atom(try await samples(movie(scratch, large)).format) == nil)
  }
}
