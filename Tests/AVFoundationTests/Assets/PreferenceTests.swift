// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Playback preferences, languages and channel layouts of movies.
@Suite(.serialized) struct PreferenceTests {
  private func layout(_ words: [UInt32]) -> Data {
    words.reduce(into: Data()) { data, word in withUnsafeBytes(of: word) { data.append(contentsOf: $0) } }
  }

  @Test(arguments: [false, true]) func tracksKeepLanguageAndVolume(_ optimizes: Bool) async throws {
    let scratch = Scratch()
    let writer = try await WriterTests.copy(Fixture.movie(), to: scratch.url("a.mov"), type: .mov) {
      writer, inputs in
      writer.shouldOptimizeForNetworkUse = optimizes
      for input in inputs where input.mediaType == .audio {
        input.extendedLanguageTag = "de-CH"
        input.preferredVolume = 0.5
      }
    }
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    let asset = AVURLAsset(url: scratch.url("a.mov"))
    let audio = try #require(asset.tracks(withMediaType: .audio).first)
    #expect(audio.extendedLanguageTag == "de-CH" && audio.preferredVolume == 0.5)
    let picture = try #require(asset.tracks(withMediaType: .video).first)
    #expect(picture.extendedLanguageTag == nil && picture.preferredVolume == 1)
    #expect(asset.preferredRate == 1 && asset.preferredVolume == 1 && asset.preferredTransform == .identity)
    // ffprobe reads the language code, and all samples.
    #expect(
      try Probe.properties(scratch.file("a.mov"), stream: "a:0", "stream_tags=language")["TAG:language"]
        .map { ["deu", "ger"].contains($0) } ?? false)
    #expect(try Tool.decodingErrors(scratch.file("a.mov")) == "")
    #expect(
      try Probe.samples(scratch.file("a.mov")).map(\.hash) == Probe.samples(Fixture.movie()).map(\.hash))
  }

  @Test func theMovieHeaderIsRead() throws {
    let scratch = Scratch()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: Fixture.movie()))
    let at = try #require(bytes.range(of: Data("mvhd".utf8))).upperBound
    #expect(bytes[at] == 0)
    // After version, flags, creation, modification, time scale and duration: the rate, the volume;
    // then the matrix.
    bytes.replaceSubrange(at + 20..<at + 26, with: [0, 1, 0x80, 0, 0, 0x40])
    bytes.replaceSubrange(
      at + 36..<at + 52, with: [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0])
    bytes.replaceSubrange(at + 52..<at + 56, with: [0, 0, 0, 0])
    try bytes.write(to: scratch.url("a.mp4"))
    let asset = AVURLAsset(url: scratch.url("a.mp4"))
    #expect(asset.preferredRate == 1.5 && asset.preferredVolume == 0.25)
    #expect(asset.preferredTransform == CGAffineTransform(a: 0, b: 1, c: -1, d: 0, tx: 0, ty: 0))
    // A file cut anywhere is not a movie, and fails without a crash.
    for length in [0, 7, 40, at - 4, at + 10, at + 60] {
      try bytes.prefix(length).write(to: scratch.url("b.mp4"))
      #expect(AVURLAsset(url: scratch.url("b.mp4")).preferredVolume == 1)
    }
  }

  @Test func channelLayoutsAreLookedAt() throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let track = try #require(asset.tracks(withMediaType: .audio).first)
    func reads(_ layout: Any, _ channels: Int?) throws -> Int? {
      var settings: [String: Any] = [AVFormatIDKey: kAudioFormatLinearPCM, AVChannelLayoutKey: layout]
      settings[AVNumberOfChannelsKey] = channels
      let reader = try AVAssetReader(asset: asset)
      let output = AVAssetReaderTrackOutput(track: track, outputSettings: settings)
      guard reader.canAdd(output) else { return nil }
      reader.add(output)
      #expect(reader.startReading())
      return (output.copyNextSampleBuffer()?.formatDescription?.audioStreamBasicDescription).map {
        Int($0.mChannelsPerFrame)
      }
    }
    let stereo = layout([101 << 16 | 2, 0, 0])
    #expect(try reads(stereo, nil) == 2)
    #expect(try reads(stereo, 2) == 2)
    #expect(try reads(stereo, 1) == nil)
    #expect(try reads(layout([1 << 16, 3, 0]), nil) == 2)
    #expect(try reads(layout([100 << 16 | 1, 0, 0]), 1) == 1)
    // Quadraphonic; nothing; not a layout.
    #expect(try reads(layout([108 << 16 | 4, 0, 0]), nil) == nil)
    #expect(try reads(layout([0, 0, 9]), nil) == nil)
    #expect(try reads(Data([1, 2]), nil) == nil)
    #expect(try reads("stereo", nil) == nil)

    func writes(_ layout: Data, _ channels: Int, _ format: AudioFormatID) throws -> Bool {
      let scratch = Scratch()
      let writer = try AVAssetWriter(url: scratch.url("a.mov"), fileType: .mov)
      let settings: [String: Any] = [
        AVFormatIDKey: format, AVSampleRateKey: 48000, AVNumberOfChannelsKey: channels,
        AVChannelLayoutKey: layout,
      ]
      return writer.canApply(outputSettings: settings, forMediaType: .audio)
    }
    #expect(try writes(stereo, 2, kAudioFormatMPEG4AAC))
    #expect(try !writes(stereo, 6, kAudioFormatMPEG4AAC))
    // C L R Ls Rs LFE is AAC's order, and not that of linear PCM.
    let surround = layout([124 << 16 | 6, 0, 0])
    #expect(try writes(surround, 6, kAudioFormatMPEG4AAC))
    #expect(try !writes(surround, 6, kAudioFormatLinearPCM))
  }
}
