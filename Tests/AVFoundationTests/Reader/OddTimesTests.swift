// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Files whose times are missing, wrong or jump, against ffmpeg's decoding: every picture comes, in
/// order.
@Suite struct OddTimesTests {
  static let film = ["-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25:duration=3"]
  static let audio = ["-f", "lavfi", "-i", "sine=duration=3"]
  static let reordering = ["-c:v", "libx264", "-bf", "3", "-g", "30", "-pix_fmt", "yuv420p"]

  static func movie() throws -> String {
    try Fixture.make("odd.mp4", film + audio + reordering + ["-c:a", "aac"])
  }

  struct Case: Sendable, CustomStringConvertible {
    let name: String
    let arguments: @Sendable () throws -> [String]
    /// Whether the movie has an audio track, which may begin a little before the pictures.
    var hasAudio = false
    var description: String { name }
  }

  static let cases = [
    Case(name: "odd.avi") { film + reordering },
    Case(name: "odd.mxf") { film + reordering },
    Case(name: "odd9.264") { film + ["-frames:v", "9"] + reordering },
    Case(name: "copy.asf") { ["-i", try movie(), "-c", "copy", "-an"] },
    Case(name: "decodeorder.mp4") {
      [
        "-i", try Fixture.make("odd.264", ["-i", try movie(), "-c", "copy", "-an"]), "-c", "copy",
        "-use_editlist", "0", "-avoid_negative_ts", "make_zero",
      ]
    },
    Case(
      name: "negative.mkv",
      arguments: {
        ["-i", try movie(), "-c", "copy", "-output_ts_offset", "-0.5", "-avoid_negative_ts", "disabled"]
      }, hasAudio: true),
    Case(
      name: "wrap.ts", arguments: { ["-i", try movie(), "-c", "copy", "-output_ts_offset", "95442"] },
      hasAudio: true),
    Case(
      name: "hour.ts", arguments: { ["-i", try movie(), "-c", "copy", "-output_ts_offset", "3600"] },
      hasAudio: true),
    Case(name: "plain.ts", arguments: { ["-i", try movie(), "-c", "copy"] }, hasAudio: true),
    Case(name: "late.mkv") { ["-i", try movie(), "-c", "copy", "-an", "-output_ts_offset", "50"] },
    Case(name: "odd.m2v") { film + ["-c:v", "mpeg2video", "-bf", "2"] },
  ]

  @Test(arguments: cases) func everyPictureComesInOrder(_ test: Case) throws {
    let path = try Fixture.make(test.name, try test.arguments())
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let settings = [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8Planar]
    let samples = try ReaderTests.read(asset, settings: settings)
    let found = try samples.map { md5(ReaderTests.packed(try #require($0.imageBuffer))) }
    let theirs = try ReaderTests.frameMD5s(path, ["-pix_fmt", "yuv420p", "-fps_mode", "passthrough"])
    #expect(found.count == theirs.count)
    #expect(found == theirs)
    let times = samples.map { $0.presentationTimeStamp.seconds * 25 }
    let start = try #require(times.first)
    // The audio may begin a little before the pictures.
    #expect(start >= 0 && start < (test.hasAudio ? 1.5 : 0.01))
    for (index, time) in times.enumerated() {
      #expect(abs(time - start - Double(index)) < 0.06, "frame \(index)")
    }
    // Compressed samples are in decode order, with increasing decode times that a writer accepts.
    let stored = try ReaderTests.read(asset)
    let decode = stored.map(\.decodeTimeStamp)
    #expect(zip(decode, decode.dropFirst()).allSatisfy { $0 < $1 })
    #expect(stored.allSatisfy { $0.decodeTimeStamp <= $0.presentationTimeStamp })
    let sorted = stored.map { $0.presentationTimeStamp }.sorted()
    #expect(zip(sorted, samples).allSatisfy { $0 == $1.presentationTimeStamp })
    if test.hasAudio {
      let heard = try ReaderTests.read(
        asset, .audio, settings: [AVFormatIDKey: kAudioFormatLinearPCM])
      let begin = try #require(heard.first).presentationTimeStamp.seconds
      #expect(begin >= 0 && abs(begin - start / 25) < 0.06)
    }
  }

  /// Recordings one after the other: the second continues where the first ends, whatever its times
  /// and size.
  @Test(arguments: [true, false]) func joinedStreamsGoOn(stepsBack: Bool) throws {
    let movie = try Self.movie()
    let late = try Fixture.make("hour2.ts", ["-i", movie, "-c", "copy", "-output_ts_offset", "3600"])
    let early = try Fixture.make(
      "large.ts",
      ["-f", "lavfi", "-i", "testsrc2=size=480x360:rate=25:duration=2"] + Self.reordering + ["-an"])
    let scratch = Scratch()
    let files = stepsBack ? [late, early] : [early, late]
    let joined = try files.reduce(into: Data()) {
      $0.append(try Data(contentsOf: URL(fileURLWithPath: $1)))
    }
    try joined.write(to: scratch.url("joined.ts"))
    let asset = AVURLAsset(url: scratch.url("joined.ts"))
    let samples = try ReaderTests.read(asset, settings: [:])
    #expect(samples.count == 125)
    let times = samples.map(\.presentationTimeStamp.seconds)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 && $1 - $0 < 0.3 })
    #expect(times.last.map { $0 < 5.5 } == true)
    let widths = Set(samples.compactMap(\.imageBuffer).map { CVPixelBufferGetWidth($0) })
    #expect(widths == [320, 480])
    // From the middle on, too.
    let range = CMTimeRange(start: CMTime(value: 4, timescale: 1), duration: .positiveInfinity)
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(
      track: try #require(asset.tracks(withMediaType: .video).first), outputSettings: [:])
    output.supportsRandomAccess = true
    reader.add(output)
    #expect(reader.startReading())
    while output.copyNextSampleBuffer() != nil {}
    output.reset(forReadingTimeRanges: [NSValue(timeRange: range)])
    var rest: [Double] = []
    while let sample = output.copyNextSampleBuffer() { rest.append(sample.presentationTimeStamp.seconds) }
    #expect(rest == times.filter { $0 > 4 - 0.03 })
  }
}
