// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Typical compositions of movies with AAC, exported.
@Suite struct ExportedCompositionTests {
  private static let two = CMTime(value: 2, timescale: 1)
  private static let whole = CMTimeRange(start: .zero, duration: two)

  private static func clip() throws -> AVURLAsset {
    AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
  }

  /// Two seconds of a tone.
  private static func tone(_ frequency: Int, _ codec: String = "aac", _ ending: String = "m4a") throws
    -> AVURLAsset
  {
    let path = try Fixture.make(
      "tone\(frequency).\(ending)",
      ["-f", "lavfi", "-i", "sine=frequency=\(frequency):sample_rate=44100:duration=2", "-c:a", codec])
    return AVURLAsset(url: URL(fileURLWithPath: path))
  }

  private static func track(_ composition: AVMutableComposition, _ type: AVMediaType) throws
    -> AVMutableCompositionTrack
  {
    try #require(
      composition.addMutableTrack(withMediaType: type, preferredTrackID: kCMPersistentTrackID_Invalid))
  }

  private static func time(_ seconds: Double) -> CMTime {
    CMTime(seconds: seconds, preferredTimescale: 90_000)
  }

  /// When a picture of the clip begins.
  private static func frame(_ n: Int64) -> CMTime { CMTime(value: n * 1001, timescale: 30_000) }

  enum Case: CaseIterable {
    case joined, cut, scaled, parts, codecs

    func make() throws -> (AVMutableComposition, seconds: Double, hasVideo: Bool) {
      let composition = AVMutableComposition()
      switch self {
      case .joined, .cut, .scaled:
        let clip = try clip()
        try composition.insertTimeRange(whole, of: clip, at: .zero)
        try composition.insertTimeRange(whole, of: clip, at: composition.duration)
        if self == .cut { composition.removeTimeRange(CMTimeRange(start: frame(21), end: frame(57))) }
        if self == .scaled {
          composition.scaleTimeRange(CMTimeRange(start: .zero, duration: two), toDuration: time(1))
        }
        return (composition, composition.duration.seconds, true)
      case .parts:
        let audio = try #require(try tone(440).tracks(withMediaType: .audio).first)
        let track = try track(composition, .audio)
        for index in 0..<8 {
          try track.insertTimeRange(
            CMTimeRange(start: time(0.01 + 0.2 * Double(index)), duration: time(0.101)), of: audio,
            at: track.timeRange.end)
        }
        return (composition, 0.808, false)
      case .codecs:
        let track = try track(composition, .audio)
        for asset in [try tone(440), try tone(440, "libmp3lame", "mp3")] {
          let audio = try #require(asset.tracks(withMediaType: .audio).first)
          try track.insertTimeRange(
            CMTimeRange(start: .zero, duration: time(1.5)), of: audio, at: track.timeRange.end)
        }
        return (composition, 3, false)
      }
    }
  }

  @Test(.enabled(if: WriterTests.hasEncoder(kCMVideoCodecType_H264)), arguments: Case.allCases)
  func encodedCompositionsHaveTheirAudioAndPictures(_ example: Case) async throws {
    let scratch = Scratch()
    let (composition, seconds, hasVideo) = try example.make()
    let name = hasVideo ? "a.mp4" : "a.m4a"
    let session = try #require(
      AVAssetExportSession(
        asset: composition,
        presetName: hasVideo ? AVAssetExportPresetMediumQuality : AVAssetExportPresetAppleM4A))
    try await session.export(to: scratch.url(name), as: hasVideo ? .mp4 : .m4a)
    let errors = try Tool.decodingErrors(scratch.file(name))
    #expect(errors == "", "\(errors)")
    for stream in hasVideo ? ["v:0", "a:0"] : ["a:0"] {
      let found = try Double(
        Probe.properties(scratch.file(name), stream: stream, "stream=duration")["duration"] ?? "")
      #expect(abs((found ?? 0) - seconds) < 0.05, "\(stream) \(found ?? 0) of \(seconds)")
    }
    // The whole track is audible: a tone without gaps.
    let audio = try Self.samples(AVURLAsset(url: scratch.url(name)))
    let quiet = stride(from: 2048, to: audio.count - 4096, by: 512).filter { start in
      audio[start..<start + 512].allSatisfy { abs(Int($0)) < 500 }
    }
    #expect(quiet.isEmpty, "\(quiet.map { Double($0) / 44_100 })")
  }

  /// Overlapping audio at a joint is left out; the second clip is where it belongs, to half a
  /// packet.
  @Test func storedSamplesOfTwoClipsAreJoined() async throws {
    let scratch = Scratch()
    let (composition, seconds, _) = try Case.joined.make()
    let session = try #require(
      AVAssetExportSession(asset: composition, presetName: AVAssetExportPresetPassthrough))
    try await session.export(to: scratch.url("a.mov"), as: .mov)
    let path = scratch.file("a.mov")
    let once = try Probe.samples(Fixture.movie())
    #expect(try Probe.samples(path).map(\.hash) == (once + once).map(\.hash))
    let audio = try Probe.samples(path, stream: "a:0")
    let packets = try Probe.samples(Fixture.movie(), stream: "a:0").count
    #expect((2 * packets - 4...2 * packets).contains(audio.count), "\(audio.count) of \(2 * packets)")
    for stream in ["v:0", "a:0"] {
      let found = try Double(Probe.properties(path, stream: stream, "stream=duration")["duration"] ?? "")
      #expect(abs((found ?? 0) - seconds) < 0.05, "\(stream) \(found ?? 0)")
    }
    let picture = try Probe.samples(path)
    #expect(Set(picture.map(\.pts)).count == picture.count)
  }

  /// Matroska's times are of milliseconds, to which packets of 42.7 are rounded: none is taken for
  /// one that overlaps.
  @Test func roundedTimesLoseNoPacket() async throws {
    let scratch = Scratch()
    let path = try Fixture.make(
      "rounded.mkv", ["-f", "lavfi", "-i", "sine=sample_rate=24000:duration=6", "-c:a", "aac"])
    let composition = AVMutableComposition()
    let track = try Self.track(composition, .audio)
    let audio = try #require(
      AVURLAsset(url: URL(fileURLWithPath: path)).tracks(withMediaType: .audio).first)
    try track.insertTimeRange(audio.timeRange, of: audio, at: .zero)
    let session = try #require(
      AVAssetExportSession(asset: composition, presetName: AVAssetExportPresetPassthrough))
    try await session.export(to: scratch.url("a.mov"), as: .mov)
    let copy = try Probe.samples(scratch.file("a.mov"), stream: "a:0")
    #expect(try copy.map(\.hash) == Probe.samples(path, stream: "a:0").map(\.hash))
  }

  private static func samples(_ asset: AVAsset) throws -> [Int16] {
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(
      track: try #require(asset.tracks(withMediaType: .audio).first),
      outputSettings: [
        AVFormatIDKey: kAudioFormatLinearPCM, AVLinearPCMBitDepthKey: 16, AVNumberOfChannelsKey: 1,
        AVSampleRateKey: 44_100,
      ])
    reader.add(output)
    #expect(reader.startReading())
    var samples: [Int16] = []
    while let sample = output.copyNextSampleBuffer() {
      let bytes = try sample.dataBuffer?.dataBytes() ?? Data()
      bytes.withUnsafeBytes { samples += $0.bindMemory(to: Int16.self) }
    }
    return samples
  }

  /// How much of a frequency there is: the amplitude.
  private static func amplitude(_ samples: [Int16], _ frequency: Double) -> Double {
    var (re, im) = (0.0, 0.0)
    for (n, value) in samples.enumerated() {
      let angle = 2 * Double.pi * frequency * Double(n) / 44_100
      re += Double(value) * cos(angle)
      im += Double(value) * sin(angle)
    }
    return 2 * (re * re + im * im).squareRoot() / Double(max(samples.count, 1))
  }

  /// Music under a clip is heard without an audio mix; a track that is not enabled is not.
  @Test func severalAudioTracksAreMixed() async throws {
    for isEnabled in [true, false] {
      let scratch = Scratch()
      let composition = AVMutableComposition()
      for frequency in [440, 880] {
        let track = try Self.track(composition, .audio)
        let audio = try #require(try Self.tone(frequency).tracks(withMediaType: .audio).first)
        try track.insertTimeRange(Self.whole, of: audio, at: .zero)
        if frequency == 880 { track.isEnabled = isEnabled }
      }
      let session = try #require(
        AVAssetExportSession(asset: composition, presetName: AVAssetExportPresetAppleM4A))
      try await session.export(to: scratch.url("a.m4a"), as: .m4a)
      let asset = AVURLAsset(url: scratch.url("a.m4a"))
      #expect(asset.tracks.count == 1)
      let audio = try Self.samples(asset)
      #expect(Self.amplitude(audio, 440) > 2000)
      #expect((Self.amplitude(audio, 880) > 2000) == isEnabled)
      #expect(Self.amplitude(audio, 660) < 200)
    }
  }

  @Test func audioAloneIsCopiedIntoAFileOfAudio() async throws {
    let scratch = Scratch()
    let asset = try Self.tone(440)
    let session = try #require(AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough))
    #expect(session.supportedFileTypes.contains(.m4a))
    try await session.export(to: scratch.url("a.m4a"), as: .m4a)
    let source = try Probe.samples(asset.url.path, stream: "a:0")
    #expect(try Probe.samples(scratch.file("a.m4a"), stream: "a:0").map(\.hash) == source.map(\.hash))
    let movie = try #require(
      AVAssetExportSession(asset: try Self.clip(), presetName: AVAssetExportPresetPassthrough))
    #expect(!movie.supportedFileTypes.contains(.m4a))
  }

  /// libavformat takes what describes AC-3 out of its frames.
  @Test(arguments: ["mov", "mp4", "m4v"]) func dolbyDigitalIsCopied(_ ending: String) async throws {
    let scratch = Scratch()
    let path = try Fixture.make(
      "ac3.mkv",
      ["-f", "lavfi", "-i", "sine=sample_rate=48000:duration=1", "-c:a", "ac3", "-ac", "6", "-b:a", "384k"])
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let session = try #require(AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough))
    try await session.export(
      to: scratch.url("a." + ending), as: ending == "mov" ? .mov : ending == "mp4" ? .mp4 : .m4v)
    func hash(_ path: String) throws -> String {
      try Tool.run(["ffmpeg", "-v", "error", "-i", path, "-map", "0:a", "-c", "copy", "-f", "md5", "-"])
    }
    #expect(try hash(scratch.file("a." + ending)) == hash(path))
  }

  /// A clock that begins again makes a stream seem half as long as it is.
  @Test(.enabled(if: WriterTests.hasEncoder(kCMVideoCodecType_H264)))
  func streamsWhoseClockJumpsAreExportedWhole() async throws {
    let scratch = Scratch()
    let once = try Fixture.make(
      "once.ts", ["-i", try Fixture.movie(), "-c", "copy"])
    let bytes = try Data(contentsOf: URL(fileURLWithPath: once))
    try (bytes + bytes).write(to: scratch.url("twice.ts"))
    let asset = AVURLAsset(url: scratch.url("twice.ts"))
    for preset in [AVAssetExportPresetMediumQuality, AVAssetExportPresetPassthrough] {
      let session = try #require(AVAssetExportSession(asset: asset, presetName: preset))
      let url = scratch.url(preset + ".mp4")
      try await session.export(to: url, as: .mp4)
      #expect(try Probe.samples(url.path).count >= 118, "\(preset)")
      let cut = try #require(AVAssetExportSession(asset: asset, presetName: preset))
      cut.timeRange = CMTimeRange(start: .zero, duration: CMTime(value: 1, timescale: 1))
      try await cut.export(to: scratch.url(preset + "-cut.mp4"), as: .mp4)
      #expect(try Probe.samples(scratch.file(preset + "-cut.mp4")).count <= 40)
    }
  }

  /// The audio that is copied counts.
  @Test(.enabled(if: WriterTests.hasEncoder(kCMVideoCodecType_H264))) func limitsOfTheFilesLengthAreKept()
    async throws
  {
    let scratch = Scratch()
    let asset = try Self.clip()
    for limit in [80_000, 150_000] as [Int64] {
      let session = try #require(
        AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetHighestQuality))
      session.fileLengthLimit = limit
      let url = scratch.url("\(limit).mp4")
      try await session.export(to: url, as: .mp4)
      let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int64 ?? 0
      #expect(size <= limit && size > limit / 2, "\(size) of \(limit)")
    }
  }

  /// Words and chapters are copied with what they belong to.
  @Test func subtitlesAndChaptersAreCopied() async throws {
    let scratch = Scratch()
    try """
    1
    00:00:00,200 --> 00:00:00,700
    one

    2
    00:00:01,000 --> 00:00:01,500
    two

    """.write(to: scratch.url("a.srt"), atomically: true, encoding: .utf8)
    try """
    ;FFMETADATA1
    [CHAPTER]
    TIMEBASE=1/1000
    START=0
    END=1000
    title=first
    [CHAPTER]
    TIMEBASE=1/1000
    START=1000
    END=2000
    title=second

    """.write(to: scratch.url("a.txt"), atomically: true, encoding: .utf8)
    try Tool.run([
      "ffmpeg", "-v", "error", "-i", try Fixture.movie(), "-i", scratch.file("a.srt"), "-i",
      scratch.file("a.txt"),
      "-map", "0", "-map", "1", "-map_metadata", "2", "-map_chapters", "2", "-c", "copy", "-c:s", "mov_text",
      scratch.file("a.mp4"),
    ])
    let asset = AVURLAsset(url: scratch.url("a.mp4"))
    let session = try #require(AVAssetExportSession(asset: asset, presetName: AVAssetExportPresetPassthrough))
    try await session.export(to: scratch.url("b.mp4"), as: .mp4)
    #expect(
      try Probe.samples(scratch.file("b.mp4")).map(\.hash) == Probe.samples(scratch.file("a.mp4")).map(\.hash)
    )
    let copy = AVURLAsset(url: scratch.url("b.mp4"))
    let words = try Tool.run([
      "ffmpeg", "-v", "error", "-i", scratch.file("b.mp4"), "-map", "0:s:0", "-f", "srt", "-",
    ])
    #expect(
      words.contains("00:00:00,200 --> 00:00:00,700\none")
        && words.contains("00:00:01,000 --> 00:00:01,500\ntwo"), "\(words)")
    let titles = copy.chapterMetadataGroups(bestMatchingPreferredLanguages: ["en"]).compactMap {
      $0.items.first?.stringValue
    }
    #expect(titles == ["first", "second"])
  }
}
