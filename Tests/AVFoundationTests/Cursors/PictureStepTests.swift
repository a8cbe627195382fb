// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TestSupport

@testable import AVFoundation

/// Steps from picture to picture in files that are entered at any sample, and in others.
@Suite struct PictureStepTests {
  private static let h264 = ["-c:v", "libx264", "-bf", "2", "-g", "12"]
  private static let mpeg2 = ["-c:v", "mpeg2video", "-bf", "2", "-g", "12"]

  private func asset(_ name: String, _ coded: [String], size: String = "64x48") throws -> AVURLAsset {
    let source = ["-f", "lavfi", "-i", "testsrc2=size=\(size):rate=25:duration=3"]
    return AVURLAsset(url: URL(fileURLWithPath: try Fixture.make("picture-steps-" + name, source + coded)))
  }

  private func check(_ asset: AVAsset) throws {
    let track = try #require(asset.tracks(withMediaType: .video).first)
    let all = try ReaderTests.read(asset).map(\.presentationTimeStamp).sorted()
    #expect(all.count == 75)
    // The length of a program stream is that of the times in it: the last picture may have none.
    let times = all.filter { track.timeRange.containsTime($0) }
    #expect(times.count >= 74)
    #expect(zip(times, times.dropFirst()).allSatisfy { abs(($1 - $0).seconds - 0.04) < 0.0011 })
    var wrong: [String] = []
    for index in times.indices {
      for count in [1, -1, 2, -7, 20, -30] {
        let wanted = times[max(0, min(times.count - 1, index + count))]
        let found = track.pictureTime(count, from: times[index])
        if found != wanted { wrong.append("\(index) \(count): \(found.seconds), not \(wanted.seconds)") }
      }
      for within in [0, 1, 39] {
        let time = times[index] + CMTime(value: CMTimeValue(within), timescale: 1000)
        guard track.timeRange.containsTime(time) else { continue }
        let found = track.samplePresentationTime(forTrackTime: time)
        if found != times[index] {
          wrong.append("\(index) at \(time.seconds): \(found.seconds), not \(times[index].seconds)")
        }
      }
    }
    #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(5))")
  }

  @Test func stepsFindEachPictureOfTransportStreams() throws {
    try check(asset("h264.ts", Self.h264))
    try check(asset("one-group.ts", ["-c:v", "libx264", "-bf", "2"]))
    try check(asset("mpeg2.ts", Self.mpeg2))
  }

  /// Small pictures share packets, and have no times of their own.
  @Test(arguments: ["64x48", "640x480"]) func stepsFindEachPictureOfProgramStreams(size: String) throws {
    try check(asset("mpeg2-\(size).vob", Self.mpeg2, size: size))
  }

  @Test(arguments: ["mp4", "mkv", "flv"]) func stepsFindEachPictureOfIndexedFiles(kind: String) throws {
    try check(asset("h264.\(kind)", Self.h264))
  }

  @Test func playersStepThroughTransportStreams() async throws {
    let asset = try asset("h264.ts", Self.h264)
    let times = try ReaderTests.read(asset).map(\.presentationTimeStamp).sorted()
    let player = AVPlayer(playerItem: AVPlayerItem(asset: asset))
    let item = try #require(player.currentItem)
    await player.seek(to: .zero, toleranceBefore: .zero, toleranceAfter: .zero)
    var place = 0
    for count in Array(repeating: 1, count: 16) + [-1, -1, -1, -1, -5] {
      place += count
      let jumps = Heard(.AVPlayerItemTimeJumped, item)
      item.step(byCount: count)
      await waitUntil { jumps.count > 0 }
      #expect(player.currentTime() == times[place])
    }
  }

  /// Reading from a time begins with the picture that is shown then, wherever the file is
  /// entered.
  @Test(arguments: [("h264.ts", true), ("mpeg2.ts", false), ("mpeg2-640x480.vob", false)])
  func readersBeginWithTheirPicture(name: String, isH264: Bool) throws {
    let asset = try asset(
      name, isH264 ? Self.h264 : Self.mpeg2, size: name.contains("640") ? "640x480" : "64x48")
    let track = try #require(asset.tracks(withMediaType: .video).first)
    let times = try ReaderTests.read(asset).map(\.presentationTimeStamp).sorted()
    for index in stride(from: 1, to: 70, by: 4) {
      let reader = try AVAssetReader(asset: asset)
      reader.timeRange = CMTimeRange(start: times[index], duration: CMTime(value: 1, timescale: 5))
      let output = AVAssetReaderTrackOutput(
        track: track,
        outputSettings: [
          kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
        ])
      reader.add(output)
      #expect(reader.startReading())
      var shown: [CMTime] = []
      while let sample = output.copyNextSampleBuffer() { shown.append(sample.presentationTimeStamp) }
      #expect(shown == Array(times[index..<index + 5]), "\(index): \(shown.map(\.seconds))")
    }
  }
}
