// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Tracks end where their movie's edit lists say, and so does their audio, whose packets go on
/// beyond.
@Suite struct TrackEndTests {
  private static let rate = 44_100
  private static let tone = ["-f", "lavfi", "-i", "sine=sample_rate=44100:duration=2", "-c:a"]

  /// An edit: of the movie's thousandths of a second, and from a place of the media, -1: nothing.
  struct Edit: Sendable {
    var length: Int
    var place: Int
  }

  // MARK: - Files

  private static func bytes(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * (count - 1 - $0))) }
  }

  private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    bytes(content.count + 8, 4) + Array(type.utf8) + content
  }

  private static func boxes(_ content: [UInt8]) -> [(type: String, content: [UInt8])] {
    var found: [(type: String, content: [UInt8])] = []
    var at = 0
    while at + 8 <= content.count {
      let size = content[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
      guard size >= 8, at + size <= content.count else { break }
      found.append(
        (String(decoding: content[at + 4..<at + 8], as: UTF8.self), Array(content[at + 8..<at + size])))
      at += size
    }
    return found
  }

  /// A copy of a movie with another edit list for its first track.
  private static func movie(
    _ source: String, _ edits: [Edit], isWide: Bool = false, _ scratch: Scratch
  ) throws -> AVURLAsset {
    let width = isWide ? 8 : 4
    let list =
      [isWide ? 1 : 0, 0, 0, 0] + bytes(edits.count, 4)
      + edits.flatMap { bytes($0.length, width) + bytes($0.place, width) + [0, 1, 0, 0] }
    var isFirst = true
    let made = boxes(Array(try Data(contentsOf: URL(fileURLWithPath: source)))).flatMap { part -> [UInt8] in
      guard part.type == "moov" else { return box(part.type, part.content) }
      return box(
        "moov",
        boxes(part.content).flatMap { inner -> [UInt8] in
          guard inner.type == "trak", isFirst else { return box(inner.type, inner.content) }
          isFirst = false
          let rest = boxes(inner.content).filter { $0.type != "edts" }
          return box(
            "trak", rest.flatMap { box($0.type, $0.content) } + box("edts", box("elst", list)))
        })
    }
    let url = scratch.url("edited." + (source as NSString).pathExtension)
    try Data(made).write(to: url)
    return AVURLAsset(url: url)
  }

  private static func plain() throws -> String { try Fixture.make("end-plain.m4a", tone + ["aac"]) }
  private static func pcm() throws -> String { try Fixture.make("end-pcm.mov", tone + ["pcm_s16le"]) }

  /// The start of the audio and the number of contiguous frames.
  private func frames(
    _ asset: AVAsset, rate: Int = rate, range: CMTimeRange? = nil
  ) throws -> (start: Int64, count: Int64) {
    let samples = try ReaderTests.read(
      asset, .audio, settings: [AVFormatIDKey: kAudioFormatLinearPCM, AVSampleRateKey: rate], range: range)
    let start = samples.first?.presentationTimeStamp.value ?? 0
    var count: Int64 = 0
    for sample in samples {
      #expect(sample.presentationTimeStamp == CMTime(value: start + count, timescale: Int32(rate)))
      count += Int64(sample.numSamples)
    }
    return (start, count)
  }

  private func audio(_ asset: AVAsset) throws -> AVAssetTrack {
    try #require(asset.tracks(withMediaType: .audio).first)
  }

  // MARK: - Tests

  @Test(arguments: [("1", 44_100), ("2", 44_100), ("1.2345", 48_000), ("0.75", 32_000)])
  func audioIsAsLongAsItsTrack(length: String, rate: Int) throws {
    let path = try Fixture.make(
      "end-\(length)-\(rate).m4a",
      ["-f", "lavfi", "-i", "sine=sample_rate=\(rate):duration=\(length)", "-c:a", "aac"])
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let duration = try audio(asset).timeRange.duration.seconds
    #expect(abs(duration - (Double(length) ?? 0)) < 0.001)
    let found = try frames(asset, rate: rate)
    #expect(found.start == 0 && found.count == Int64((duration * Double(rate)).rounded()))
    // At another rate, too.
    let other = try frames(asset, rate: 22_050)
    #expect(abs(Double(other.count) - duration * 22_050) <= 1)
  }

  /// libavformat's own delay: its edit is longer than the media, which end within a packet.
  @Test func lateAudioIsAsLongAsItsTrack() throws {
    let path = try Fixture.make(
      "end-late.mp4",
      ["-f", "lavfi", "-i", "testsrc2=size=64x48:rate=30:duration=3", "-itsoffset", "0.3"] + Self.tone
        + ["aac", "-c:v", "libx264"])
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let range = try audio(asset).timeRange
    #expect(range.start > .zero)
    let found = try frames(asset)
    #expect(CMTime(value: found.start, timescale: Int32(Self.rate)) == range.start)
    #expect(CMTime(value: found.count, timescale: Int32(Self.rate)) == range.duration)
  }

  struct Case: Sendable, CustomStringConvertible {
    let description: String
    var edits: [(length: Int, place: Int)]
    var start = 0
    var count: Int
  }

  static let cases = [
    Case(description: "in mid-packet", edits: [(1234, 1024)], count: 54_419),
    Case(description: "from within", edits: [(500, 30_000)], count: 22_050),
    Case(description: "late", edits: [(300, -1), (1111, 1024)], start: 13_230, count: 48_995),
    Case(description: "later", edits: [(100, -1), (200, -1), (700, 1024)], start: 13_230, count: 30_870),
    Case(description: "two", edits: [(500, 1024), (700, 45_000)], count: 52_920),
    Case(description: "a pause", edits: [(500, 1024), (300, -1), (700, 45_000)], count: 66_150),
    Case(
      description: "late, and a pause", edits: [(100, -1), (500, 1024), (300, -1), (700, 45_000)],
      start: 4410, count: 66_150),
  ]

  @Test(arguments: cases, [false, true]) func editListsDecideOnTheEnd(_ item: Case, isWide: Bool) throws {
    let scratch = Scratch()
    for source in [try Self.plain(), try Self.pcm()] {
      let asset = try Self.movie(
        source, item.edits.map { Edit(length: $0.length, place: $0.place) }, isWide: isWide, scratch)
      let range = CMTimeRange(
        start: CMTime(value: Int64(item.start), timescale: Int32(Self.rate)),
        duration: CMTime(value: Int64(item.count), timescale: Int32(Self.rate)))
      #expect(try audio(asset).timeRange == range, "\(source)")
      #expect(asset.duration == range.end)
      let all = try frames(asset)
      #expect(all.start == Int64(item.start) && all.count == Int64(item.count), "\(source): \(all)")
      // With a range that continues, and one that ends before.
      let long = try frames(
        asset, range: CMTimeRange(start: .zero, duration: CMTime(value: 100, timescale: 1)))
      #expect(long.count == all.count)
      let short = try frames(
        asset, range: CMTimeRange(start: range.start, duration: CMTime(value: 10_001, timescale: 44_100)))
      #expect(short.count == 10_001)
    }
  }

  @Test func latePicturesAreCut() throws {
    let path = try Fixture.make(
      "end-pictures.mp4",
      ["-f", "lavfi", "-i", "testsrc2=size=64x48:rate=30:duration=3", "-c:v", "libx264", "-bf", "2"])
    let scratch = Scratch()
    let asset = try Self.movie(
      path, [Edit(length: 500, place: -1), Edit(length: 1100, place: 1024)], scratch)
    let track = try #require(asset.tracks(withMediaType: .video).first)
    #expect(track.timeRange.start == CMTime(value: 1, timescale: 2))
    #expect(track.timeRange.duration == CMTime(value: 11, timescale: 10))
    #expect(asset.duration == CMTime(value: 8, timescale: 5))
    let samples = try ReaderTests.read(asset, settings: DurationTests.bgra)
    #expect(samples.count == 33)
    let last = try #require(samples.last)
    #expect(last.presentationTimeStamp + last.duration == asset.duration)
  }

  /// Lists without an end or with impossible values: no audio is lost compared with no list.
  @Test(arguments: [
    ([Edit(length: 1000, place: -7)], false), ([Edit(length: 0xFFFF_FFFF, place: 1024)], false),
    ([Edit(length: .max, place: 1024)], true),
    ([Edit(length: .max - 5, place: -1), Edit(length: .max - 5, place: 1024)], true),
    ([Edit(length: -100, place: -1), Edit(length: 1000, place: 1024)], true),
    ([Edit(length: -100, place: 1024)], true), ([Edit(length: 1000, place: 1 << 40)], true),
    ([Edit](repeating: Edit(length: 1, place: 1024), count: 5000), false), ([], false),
  ])
  func impossibleEditsLoseNoAudio(_ edits: [Edit], isWide: Bool) throws {
    let scratch = Scratch()
    let asset = try Self.movie(Self.plain(), edits, isWide: isWide, scratch)
    guard let track = asset.tracks(withMediaType: .audio).first else { return }
    #expect(track.timeRange.duration >= .zero && track.timeRange.end.isNumeric)
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(
      track: track, outputSettings: [AVFormatIDKey: kAudioFormatLinearPCM])
    reader.add(output)
    #expect(reader.startReading())
    while output.copyNextSampleBuffer() != nil {}
    #expect(reader.status == .completed || reader.status == .failed)
  }

  /// A list in a movie that continues in fragments is that of its beginning, and without a list all
  /// is heard.
  @Test func audioWithoutAnEditListIsNotCut() throws {
    let scratch = Scratch()
    let bare = try Fixture.make("end-bare.m4a", Self.tone + ["aac", "-use_editlist", "0"])
    let all = try frames(AVURLAsset(url: URL(fileURLWithPath: bare))).count
    #expect(all == 88 * 1024)
    let parts = try Fixture.make(
      "end-parts.mp4",
      Self.tone + [
        "aac", "-movflags", "frag_keyframe+empty_moov+default_base_moof", "-frag_duration", "500000",
      ])
    let edited = try Self.movie(parts, [Edit(length: 700, place: 0)], scratch)
    #expect(try frames(edited).count == all)
  }
}
