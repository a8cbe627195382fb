// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import AVFoundation

/// Silence in place of missing audio: it is unlimited where the file has pictures, and limited to
/// one minute where only the declared duration covers the time.
@Suite struct KnownTimesTests {
  private static let rate: Int64 = 8000
  private static var settings: [String: Any] {
    [AVFormatIDKey: kAudioFormatLinearPCM, AVSampleRateKey: rate, AVNumberOfChannelsKey: 1]
  }
  private static func pictures(_ seconds: Int) -> [String] {
    ["-f", "lavfi", "-i", "testsrc2=size=64x48:rate=5:duration=\(seconds)"]
  }
  private static func audio(_ seconds: Int, from start: Int = 0) -> [String] {
    ["-itsoffset", "\(start)", "-f", "lavfi", "-i", "sine=sample_rate=8000:duration=\(seconds)"]
  }
  private static let coded = ["-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac"]

  private func asset(_ name: String, _ arguments: [String]) throws -> AVURLAsset {
    AVURLAsset(url: URL(fileURLWithPath: try Fixture.make("known-" + name, arguments)))
  }

  private func composition(_ asset: AVAsset, times: Int = 1) throws -> AVMutableComposition {
    let composition = AVMutableComposition()
    let range = CMTimeRange(start: .zero, duration: asset.duration)
    for _ in 0..<times { try composition.insertTimeRange(range, of: asset, at: composition.duration) }
    return composition
  }

  private func output(_ asset: AVAsset, mixed: Bool) throws -> AVAssetReaderOutput {
    let tracks = asset.tracks(withMediaType: .audio)
    return mixed
      ? AVAssetReaderAudioMixOutput(audioTracks: tracks, audioSettings: Self.settings)
      : AVAssetReaderTrackOutput(track: try #require(tracks.first), outputSettings: Self.settings)
  }

  /// Where an asset's audio begins and ends, in frames, how many there are, and whether each is
  /// where the one before ends.
  private func frames(_ asset: AVAsset, mixed: Bool = false) throws -> (
    count: Int64, end: Int64, isWhole: Bool
  ) {
    var (count, end, isWhole): (Int64, Int64, Bool) = (0, 0, true)
    for sample in try ReaderTests.read(output(asset, mixed: mixed), of: asset) {
      let start = sample.presentationTimeStamp.convertScale(Int32(Self.rate), method: .default).value
      isWhole = isWhole && start == end
      count += Int64(sample.numSamples)
      end = start + Int64(sample.numSamples)
    }
    return (count, end, isWhole)
  }

  /// Matroska declares one duration for the file, which also applies to its audio.
  @Test(arguments: ["mp4", "mkv"]) func audioThatBeginsLateIsFilledUp(kind: String) throws {
    let asset = try asset("late.\(kind)", Self.pictures(120) + Self.audio(5, from: 100) + Self.coded)
    let composition = try composition(asset)
    for (movie, mixed) in [(asset, true), (composition, false), (composition, true)] as [(AVAsset, Bool)] {
      let found = try frames(movie, mixed: mixed)
      #expect(found.isWhole && (104 * Self.rate...121 * Self.rate).contains(found.count), "\(found)")
    }
  }

  @Test(arguments: ["mp4", "mkv", "ts"]) func audioThatEndsEarlyIsFilledUp(kind: String) throws {
    let asset = try asset("short.\(kind)", Self.pictures(200) + Self.audio(5) + Self.coded)
    let composition = try composition(asset, times: 2)
    for mixed in [false, true] {
      let found = try frames(composition, mixed: mixed)
      #expect(found.isWhole && (204 * Self.rate...402 * Self.rate).contains(found.count), "\(found)")
    }
  }

  /// Missing audio is also filled in a composition that plays the source at half speed.
  @Test func audioThatEndsEarlyIsScaled() throws {
    let asset = try asset("short.mkv", Self.pictures(200) + Self.audio(5) + Self.coded)
    let composition = try composition(asset, times: 2)
    let duration = composition.duration
    composition.scaleTimeRange(
      CMTimeRange(start: .zero, duration: duration), toDuration: CMTimeMultiply(duration, multiplier: 2))
    let found = try frames(composition)
    #expect(found.isWhole && (408 * Self.rate...804 * Self.rate).contains(found.count), "\(found)")
  }

  /// A file without pictures has two seconds of audio with a gap of 200 seconds. The gap is filled
  /// with one minute of silence, whether the audio is read directly, mixed, or scaled.
  @Test func limitsDoNotAddUp() throws {
    let asset = try asset(
      "gap.mkv",
      [
        "-f", "lavfi", "-i", "sine=sample_rate=8000:duration=2", "-af",
        "asetnsamples=400,asetpts='if(lt(T,1),PTS,PTS+200/TB)'", "-c:a", "pcm_s16le",
      ])
    let scaled = try composition(asset)
    let duration = scaled.duration
    scaled.scaleTimeRange(
      CMTimeRange(start: .zero, duration: duration), toDuration: CMTimeMultiply(duration, multiplier: 2))
    for (movie, factor) in [(try composition(asset), 1), (scaled, 2)] as [(AVAsset, Int64)] {
      for mixed in [false, true] {
        let found = try frames(movie, mixed: mixed)
        let seconds = 59 + 2 * factor...63 + 2 * factor
        #expect(seconds.contains(found.count / Self.rate), "\(factor), \(found)")
        #expect(abs(found.end - 202 * factor * Self.rate) < Self.rate)
      }
    }
  }

  /// A sample table confirms the times of its samples, but neither an empty edit before them nor
  /// sample durations of many hours.
  @Test func emptyEditsAndLongSampleDurationsAreNotConfirmed() throws {
    let late = Self.audio(1, from: 90_000) + Self.coded
    let sparse = [
      "-vf", "setpts=N*100000/TB", "-fps_mode", "passthrough", "-enc_time_base", "1:1000", "-bf", "0",
      "-video_track_timescale", "1000",
    ]
    for asset in [
      try asset("edit.mp4", Self.pictures(1) + late),
      try asset(
        "sparse.mp4", ["-f", "lavfi", "-i", "testsrc2=size=64x48:rate=1:duration=2"] + late + sparse),
    ] {
      #expect(asset.tracks(withMediaType: .audio).allSatisfy { $0.timeRange.start.seconds > 89_990 })
      let composition = try composition(asset)
      for (movie, mixed) in [(asset, true), (composition, false), (composition, true)] as [(AVAsset, Bool)] {
        let found = try frames(movie, mixed: mixed)
        #expect((60 * Self.rate...63 * Self.rate).contains(found.count), "\(found)")
        #expect(abs(found.end - 90_001 * Self.rate) < Self.rate)
      }
    }
  }

  /// A gap that the program inserts into a composition is filled with silence of its full duration.
  @Test func gapsInsertedByTheProgramAreFilledCompletely() throws {
    let movie = try asset("silent.mp4", Self.pictures(1) + Self.coded)
    let both = try asset("both.mp4", Self.pictures(1) + Self.audio(1) + Self.coded)
    let composition = try composition(both)
    try composition.insertTimeRange(
      CMTimeRange(start: .zero, duration: movie.duration), of: movie, at: CMTime(value: 150, timescale: 1))
    try composition.insertTimeRange(
      CMTimeRange(start: .zero, duration: both.duration), of: both, at: composition.duration)
    let found = try frames(composition)
    #expect(found.isWhole && found.count > 151 * Self.rate, "\(found)")
  }
}
