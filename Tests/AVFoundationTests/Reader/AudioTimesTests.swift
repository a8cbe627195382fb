// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Decoded audio follows the time stamps.
@Suite struct AudioTimesTests {
  private func samples(_ path: String, _ settings: [String: Any] = [:]) throws -> [CMSampleBuffer] {
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    return try ReaderTests.read(
      asset, .audio,
      settings: settings.merging([AVFormatIDKey: kAudioFormatLinearPCM]) { own, _ in own })
  }

  private func values(_ samples: [CMSampleBuffer]) throws -> [Int16] {
    try samples.flatMap { sample in
      try ReaderTests.bytes(sample).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    }
  }

  private func isSeamless(_ samples: [CMSampleBuffer]) -> Bool {
    zip(samples, samples.dropFirst()).allSatisfy {
      $0.presentationTimeStamp + CMSampleBufferGetDuration($0) == $1.presentationTimeStamp
    }
  }

  @Test(arguments: [48000, 44100]) func gapsAreSilence(rate: Int) throws {
    let path = try Fixture.make(
      "gap.mkv",
      [
        "-f", "lavfi", "-i", "sine=frequency=400:sample_rate=48000:duration=5", "-af",
        "asetnsamples=480,aselect='not(between(t,1,3.5))'", "-c:a", "pcm_s16le",
      ])
    let found = try samples(path, [AVSampleRateKey: rate])
    #expect(isSeamless(found))
    let audio = try values(found)
    #expect(abs(audio.count - 5 * rate) < rate / 20)
    func loudest(_ from: Double, _ to: Double) -> Int {
      audio[Int(from * Double(rate))..<Int(to * Double(rate))].map { abs(Int($0)) }.max() ?? 0
    }
    #expect(loudest(1.1, 3.4) == 0)
    #expect(loudest(0.1, 0.9) > 1000 && loudest(3.6, 4.8) > 1000)
    // A long gap comes in pieces.
    #expect(found.allSatisfy { CMSampleBufferGetNumSamples($0) <= rate })
  }

  /// A clock that is off by a percent, either way: no more than the tolerance adds up.
  @Test(arguments: ["1.01", "0.99"]) func audioOfAWrongClockDoesNotDrift(factor: String) throws {
    let path = try Fixture.make(
      "drift\(factor).mkv",
      [
        "-f", "lavfi", "-i", "sine=sample_rate=48000:duration=20", "-af",
        "asetnsamples=480,asetpts=PTS*\(factor)", "-c:a", "pcm_s16le",
      ])
    let found = try samples(path)
    #expect(isSeamless(found))
    let last = try #require(found.last)
    let end = (last.presentationTimeStamp + CMSampleBufferGetDuration(last)).seconds
    #expect(abs(end - 20 * (try #require(Double(factor)))) < 0.06)
  }

  /// 16 bits and two channels, and a byte too many.
  private func wave(_ frames: Int) -> Data {
    func little(_ number: Int, _ bytes: Int) -> [UInt8] {
      (0..<bytes).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
    var audio: [UInt8] = []
    for frame in 0..<frames { audio += little(1000 + frame % 50, 2) + little(2000, 2) }
    audio.append(7)
    var bytes = Array("RIFF".utf8)
    bytes += little(36 + audio.count, 4) + Array("WAVEfmt ".utf8)
    for (number, count) in [(16, 4), (1, 2), (2, 2), (48000, 4), (192_000, 4), (4, 2), (16, 2)] {
      bytes += little(number, count)
    }
    bytes += Array("data".utf8) + little(audio.count, 4)
    return Data(bytes + audio)
  }

  /// The samples of an output for damaged audio.
  private func untilFailure(_ asset: AVAsset, mixed: Bool) throws -> [CMSampleBuffer] {
    let track = try #require(asset.tracks(withMediaType: .audio).first)
    let settings: [String: Any] = [AVFormatIDKey: kAudioFormatLinearPCM, AVLinearPCMBitDepthKey: 16]
    let output: AVAssetReaderOutput =
      mixed
      ? AVAssetReaderAudioMixOutput(audioTracks: [track], audioSettings: settings)
      : AVAssetReaderTrackOutput(track: track, outputSettings: settings)
    let reader = try AVAssetReader(asset: asset)
    reader.add(output)
    #expect(reader.startReading())
    var found: [CMSampleBuffer] = []
    while let sample = output.copyNextSampleBuffer() { found.append(sample) }
    #expect(reader.status == .failed && (reader.error as? AVError)?.code == .decodeFailed)
    #expect(isSeamless(found))
    return found
  }

  @Test(arguments: [false, true], [960, 30_000]) func whatComesBeforeDamageIsHeard(
    _ mixed: Bool, _ frames: Int
  ) throws {
    let scratch = Scratch()
    try wave(frames).write(to: scratch.url("stray.wav"))
    let audio = try values(untilFailure(AVURLAsset(url: scratch.url("stray.wav")), mixed: mixed))
    #expect(audio.count == 2 * frames)
    #expect(stride(from: 0, to: audio.count, by: 2).allSatisfy { audio[$0] == Int16(1000 + $0 / 2 % 50) })
  }

  /// At half the speed, at its pitch: what the filter holds comes out.
  @Test func whatComesBeforeDamageIsHeardSlowly() throws {
    let scratch = Scratch()
    let whole = try Fixture.make(
      "to-damage.m4a",
      ["-f", "lavfi", "-i", "sine=frequency=400:sample_rate=48000:duration=2", "-c:a", "aac"])
    var bytes = try Data(contentsOf: URL(fileURLWithPath: whole))
    let middle = bytes.count / 2
    bytes.replaceSubrange(middle..<middle + 1000, with: [UInt8](repeating: 0xFF, count: 1000))
    try bytes.write(to: scratch.url("damaged.m4a"))
    let asset = AVURLAsset(url: scratch.url("damaged.m4a"))
    let plain = try values(untilFailure(asset, mixed: false)).count
    #expect(plain > 20_000 && plain < 90_000)
    let composition = AVMutableComposition()
    let range = CMTimeRange(start: .zero, duration: CMTime(value: 2, timescale: 1))
    try composition.insertTimeRange(range, of: asset, at: .zero)
    composition.scaleTimeRange(range, toDuration: CMTime(value: 4, timescale: 1))
    let slow = try values(untilFailure(composition, mixed: false)).count
    #expect(abs(slow - 2 * plain) <= 2, "\(slow), \(plain)")
  }

  @Test func rangesWithinAGapAreSilent() throws {
    let path = try Fixture.make(
      "gap2.mkv",
      [
        "-f", "lavfi", "-i", "sine=frequency=400:sample_rate=48000:duration=5", "-af",
        "asetnsamples=480,aselect='not(between(t,1,3.5))'", "-c:a", "pcm_s16le",
      ])
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let range = CMTimeRange(start: CMTime(value: 1, timescale: 2), end: CMTime(value: 2, timescale: 1))
    let found = try ReaderTests.read(
      asset, .audio, settings: [AVFormatIDKey: kAudioFormatLinearPCM], range: range)
    #expect(isSeamless(found))
    #expect(found.first?.presentationTimeStamp == range.start)
    let total = found.reduce(0) { $0 + CMSampleBufferGetNumSamples($1) }
    #expect(total == 72_000)
  }

  @Test func unknownPitchAlgorithmsAreRefused() throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let track = try #require(asset.tracks(withMediaType: .audio).first)
    let output = AVAssetReaderTrackOutput(
      track: track, outputSettings: [AVFormatIDKey: kAudioFormatLinearPCM])
    let reader = try AVAssetReader(asset: asset)
    output.audioTimePitchAlgorithm = .varispeed
    #expect(reader.canAdd(output))
    output.audioTimePitchAlgorithm = AVAudioTimePitchAlgorithm(rawValue: "Chipmunk")
    #expect(!reader.canAdd(output))
    output.audioTimePitchAlgorithm = .timeDomain
    reader.add(output)
    #expect(reader.startReading())
    output.audioTimePitchAlgorithm = .spectral
    #expect(output.audioTimePitchAlgorithm == .timeDomain)
  }
}
