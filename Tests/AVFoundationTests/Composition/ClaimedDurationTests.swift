// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import AVFoundation
@testable import FFmpegMedia

/// Movies of two seconds with a huge declared duration: their samples are read, and the rest is not
/// filled without end.
@Suite struct ClaimedDurationTests {
  private static let rate: Int64 = 8000
  private static var settings: [String: Any] {
    [AVFormatIDKey: kAudioFormatLinearPCM, AVSampleRateKey: rate, AVNumberOfChannelsKey: 1]
  }

  private let scratch = Scratch()

  /// A movie of fragments, whose headers say that each track has so many units.
  private func movie(claiming duration: Int) throws -> AVURLAsset {
    let path = try Fixture.make(
      "claims-fragments.mp4",
      [
        "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=10:duration=2", "-f", "lavfi", "-i",
        "sine=sample_rate=8000:duration=2", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac",
        "-movflags", "+frag_keyframe+empty_moov+default_base_moof",
      ])
    var boxes = try #require(MovieBox.parse([UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))[...]))
    func claim(_ box: inout MovieBox) {
      for index in box.children.indices { claim(&box.children[index]) }
      guard box.type == "mdhd" else { return }
      box.bytes =
        [1, 0, 0, 0] + MovieBox.bytes(0, count: 16) + MovieBox.bytes(box.number(12))
        + MovieBox.bytes(duration, count: 8) + box.bytes[20...]
    }
    for index in boxes.indices { claim(&boxes[index]) }
    let url = scratch.url("claims.mp4")
    try Data(boxes.flatMap(\.serialized)).write(to: url)
    let asset = AVURLAsset(url: url)
    #expect(asset.duration.seconds > 1e9)
    return asset
  }

  /// The frames that an output gives, and whether each begins where the one before ends.
  private func frames(_ output: AVAssetReaderOutput, of asset: AVAsset) throws -> (
    count: Int64, isWhole: Bool
  ) {
    let samples = try ReaderTests.read(output, of: asset)
    var count: Int64 = 0
    var isWhole = true
    for sample in samples {
      if sample.presentationTimeStamp.convertScale(Int32(Self.rate), method: .default).value != count {
        isWhole = false
      }
      count += Int64(sample.numSamples)
    }
    return (count, isWhole)
  }

  private func output(_ asset: AVAsset) throws -> AVAssetReaderTrackOutput {
    AVAssetReaderTrackOutput(
      track: try #require(asset.tracks(withMediaType: .audio).first), outputSettings: Self.settings)
  }

  @Test(arguments: [4_000_000_000_000_000_000, 800_000_000_000_000]) func audioIsRead(claim: Int) throws {
    let asset = try movie(claiming: claim)
    let reader = try AVAssetReader(asset: asset)
    reader.timeRange = CMTimeRange(start: .zero, duration: asset.duration)
    let output = try output(asset)
    reader.add(output)
    #expect(reader.startReading())
    var count = 0
    while let sample = output.copyNextSampleBuffer() { count += sample.numSamples }
    #expect((15_000...18_000).contains(count))
    let mix = AVAssetReaderAudioMixOutput(
      audioTracks: asset.tracks(withMediaType: .audio), audioSettings: Self.settings)
    #expect((15_000...18_000).contains(try frames(mix, of: asset).count))
  }

  @Test func timesBeyondTheUnitsAreClamped() {
    let far = CMTime(value: 1 << 60, timescale: 1)
    #expect(far.units(48_000, .default) == .max)
    #expect((CMTime.zero - far).units(48_000, .default) == .min)
    #expect(CMTime.positiveInfinity.units(48_000, .default) == .max)
    #expect(CMTime.negativeInfinity.units(48_000, .default) == .min)
    #expect(CMTime.invalid.units(48_000, .default) == 0 && CMTime.indefinite.units(48_000, .default) == 0)
    #expect(CMTime(value: -3, timescale: 2).units(600, .default) == -900)
  }

  @Test func exportsKeepTheAudio() async throws {
    let asset = try movie(claiming: 4_000_000_000_000_000_000)
    let session = try #require(
      AVAssetExportSession(asset: asset, presetName: AVAssetExportPreset640x480))
    try await session.export(to: scratch.url("out.mp4"), as: .mp4)
    let made = AVURLAsset(url: scratch.url("out.mp4"))
    let audio = try #require(made.tracks(withMediaType: .audio).first)
    #expect(abs(audio.timeRange.duration.seconds - 2) < 0.3)
    #expect(made.tracks(withMediaType: .video).count == 1)
  }

  @Test(arguments: [4_000_000_000_000_000_000, 800_000_000_000_000])
  func compositionsHaveAMinuteOfSilence(claim: Int) throws {
    let asset = try movie(claiming: claim)
    let composition = AVMutableComposition()
    try composition.insertTimeRange(CMTimeRange(start: .zero, duration: asset.duration), of: asset, at: .zero)
    let (count, isWhole) = try frames(try output(composition), of: composition)
    #expect(isWhole)
    #expect((60 * Self.rate...64 * Self.rate).contains(count))
  }

  /// A range that a program leaves empty is silent.
  @Test func gapsOfProgramsStay() throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let track = try #require(asset.tracks(withMediaType: .audio).first)
    let composition = AVMutableComposition()
    let target = try #require(
      composition.addMutableTrack(withMediaType: .audio, preferredTrackID: kCMPersistentTrackID_Invalid))
    let second = CMTime(value: 1, timescale: 1)
    for start in [0, 100] {
      try target.insertTimeRange(
        CMTimeRange(start: .zero, duration: second), of: track, at: CMTime(value: Int64(start), timescale: 1))
    }
    let (count, isWhole) = try frames(try output(composition), of: composition)
    #expect(isWhole && count == 101 * Self.rate)
  }

  /// The same where audio is played at another speed.
  @Test(arguments: [0.5, 2.0]) func scaledAudioEnds(factor: Double) throws {
    for claim in [4_000_000_000_000_000_000, 800_000_000_000_000] {
      let asset = try movie(claiming: claim)
      let composition = AVMutableComposition()
      try composition.insertTimeRange(
        CMTimeRange(start: .zero, duration: asset.duration), of: asset, at: .zero)
      composition.scaleTimeRange(
        CMTimeRange(start: .zero, duration: composition.duration),
        toDuration: CMTimeMultiplyByFloat64(composition.duration, multiplier: factor))
      let (count, isWhole) = try frames(try output(composition), of: composition)
      #expect(isWhole)
      #expect((60 * Self.rate...200 * Self.rate).contains(count))
    }
  }

  /// With the larger claim more pictures lead to the second time than can be counted.
  @Test(arguments: [(800_000_000_000_000, 1), (4_000_000_000_000_000_000, 3)])
  func composedPicturesEnd(claim: Int, rate: Int) throws {
    let asset = try movie(claiming: claim)
    let whole = AVMutableComposition()
    try whole.insertTimeRange(CMTimeRange(start: .zero, duration: asset.duration), of: asset, at: .zero)
    // The second time begins ages later.
    let twice = AVMutableComposition()
    for _ in 0..<2 {
      try twice.insertTimeRange(
        CMTimeRange(start: .zero, duration: asset.duration), of: asset, at: twice.duration)
    }
    for (movie, maximum) in [(asset, 64), (whole, 64), (twice, 128)] as [(AVAsset, Int)] {
      let tracks = movie.tracks(withMediaType: .video)
      let instruction = AVMutableVideoCompositionInstruction()
      instruction.timeRange = CMTimeRange(start: .zero, duration: movie.duration)
      instruction.layerInstructions = [AVMutableVideoCompositionLayerInstruction(assetTrack: tracks[0])]
      let composition = AVMutableVideoComposition()
      composition.frameDuration = CMTime(value: 1, timescale: CMTimeScale(rate))
      composition.renderSize = CGSize(width: 64, height: 48)
      composition.instructions = [instruction]
      let output = AVAssetReaderVideoCompositionOutput(videoTracks: tracks, videoSettings: nil)
      output.videoComposition = composition
      let pictures = try ReaderTests.read(output, of: movie)
      #expect(((maximum - 8) * rate...maximum * rate).contains(pictures.count), "\(pictures.count)")
    }
  }

  /// Audio that begins days after the pictures: a minute of silence, and then the audio at its
  /// time.
  @Test func lateAudioIsNotWaitedFor() throws {
    let path = try Fixture.make(
      "claims-late.mkv",
      [
        "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=10:duration=1", "-itsoffset", "500000", "-f", "lavfi",
        "-i", "sine=sample_rate=8000:duration=1", "-c:v", "mpeg4", "-c:a", "pcm_s16le",
      ])
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let mix = AVAssetReaderAudioMixOutput(
      audioTracks: asset.tracks(withMediaType: .audio), audioSettings: Self.settings)
    let samples = try ReaderTests.read(mix, of: asset)
    let count = samples.reduce(0) { $0 + Int64($1.numSamples) }
    #expect((60 * Self.rate...62 * Self.rate).contains(count))
    #expect(abs((samples.last?.presentationTimeStamp.seconds ?? 0) - 500_001) < 1)
    let composition = AVMutableComposition()
    try composition.insertTimeRange(CMTimeRange(start: .zero, duration: asset.duration), of: asset, at: .zero)
    let composed = try ReaderTests.read(try output(composition), of: composition)
    #expect((60 * Self.rate...62 * Self.rate).contains(composed.reduce(0) { $0 + Int64($1.numSamples) }))
  }

  /// The end of a range that is the last number of a track's units.
  @Test(arguments: [AVMediaType.audio, .video]) func rangesUpToTheLastUnitAreRead(type: AVMediaType) throws {
    let path = try Fixture.make(
      "claims-units.mov",
      [
        "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=10:duration=1", "-f", "lavfi", "-i",
        "sine=sample_rate=48000:duration=1", "-c:v", "mpeg4", "-video_track_timescale", "48000", "-c:a",
        "pcm_s16le",
      ])
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let range = CMTimeRange(
      start: .zero, duration: CMTime(value: 9_223_179_883_270_674_666, timescale: 47_999))
    #expect(try !ReaderTests.read(asset, type, range: range).isEmpty)
    let settings =
      type == .audio
      ? Self.settings : [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA]
    #expect(try !ReaderTests.read(asset, type, settings: settings, range: range).isEmpty)
  }

  /// The boxes of a movie that ffmpeg makes, the movie's own changed, and its tracks without edits.
  private func changed(
    _ name: String, _ arguments: [String], _ change: (inout MovieBox) throws -> Void
  ) throws -> AVURLAsset {
    let path = try Fixture.make("claims-" + name, arguments)
    var boxes = try #require(MovieBox.parse([UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))[...]))
    let movie = try #require(boxes.firstIndex { $0.type == "moov" })
    for index in boxes[movie].children.indices {
      boxes[movie].children[index].children.removeAll { $0.type == "edts" }
      try change(&boxes[movie].children[index])
    }
    let url = scratch.url(name)
    try Data(boxes.flatMap(\.serialized)).write(to: url)
    return AVURLAsset(url: url)
  }

  /// The times of a composition's pictures, of so many at most.
  private func times(
    _ composition: AVVideoComposition, of asset: AVAsset, maximum: Int
  ) throws -> [CMTime] {
    let output = AVAssetReaderVideoCompositionOutput(
      videoTracks: asset.tracks(withMediaType: .video), videoSettings: nil)
    output.videoComposition = composition
    let reader = try AVAssetReader(asset: asset)
    reader.add(output)
    try #require(reader.startReading(), "\(String(describing: reader.error))")
    defer { reader.cancelReading() }
    var times: [CMTime] = []
    while times.count < maximum, let sample = output.copyNextSampleBuffer() {
      times.append(sample.presentationTimeStamp)
    }
    return times
  }

  /// A table may give a picture more than a century: it is shown for a day.
  @Test func aPictureOfACenturyIsComposedForADay() throws {
    let asset = try changed(
      "century.mov", ["-f", "lavfi", "-i", "testsrc2=size=64x48:rate=1:duration=2", "-c:v", "mpeg4"]
    ) { box in
      guard box.type == "trak" else { return }
      let delta = 0xF000_0000
      var header = try #require(box.find("mdia", "mdhd"))
      header.bytes =
        [1, 0, 0, 0] + MovieBox.bytes(0, count: 16) + MovieBox.bytes(1) + MovieBox.bytes(2 * delta, count: 8)
        + header.bytes[20...]
      box.replace(["mdia", "mdhd"], with: header)
      let table = [0, 1, 2, delta].flatMap { MovieBox.bytes($0) }
      box.replace(["mdia", "minf", "stbl", "stts"], with: MovieBox(type: "stts", bytes: table))
    }
    #expect(asset.duration.seconds > 4e9)
    let composition = AVMutableVideoComposition(propertiesOf: asset)
    composition.frameDuration = CMTime(value: 1440, timescale: 1)
    composition.sourceTrackIDForFrameTiming = kCMPersistentTrackID_Invalid
    let times = try times(composition, of: asset, maximum: 1000)
    // Twice, and a minute more each.
    #expect((110...130).contains(times.count), "\(times.count)")
  }
}
