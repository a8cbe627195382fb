// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Audio that a composition plays faster or slower.
@Suite struct ScaledAudioTests {
  private static let rate = 48_000
  private static func frames(_ count: Int) -> CMTime {
    CMTime(value: Int64(count), timescale: Int32(rate))
  }

  /// Two seconds of 440 Hz, which begins again each quarter of a second and is silent for half of
  /// it.
  private static func beats() throws -> String {
    try Fixture.make(
      "beats.mov",
      [
        "-f", "lavfi", "-i",
        "aevalsrc='if(lt(mod(t,0.25),0.125),0.5*sin(2*PI*440*t),0)':s=\(rate):d=2", "-c:a", "pcm_s16le",
      ])
  }

  private static func tone() throws -> String {
    try Fixture.make(
      "tone.mov",
      [
        "-f", "lavfi", "-i", "aevalsrc='0.5*sin(2*PI*440*t)|0.25*sin(2*PI*660*t)':s=\(rate):d=3", "-c:a",
        "pcm_s16le",
      ])
  }

  /// 48,000 frames of a file, from 12,000 on, in as many as asked for, between 4,800 frames of
  /// silence and of audio.
  private static func composition(_ path: String, scaledTo count: Int) throws -> AVMutableComposition {
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let audio = try #require(asset.tracks(withMediaType: .audio).first)
    let composition = AVMutableComposition()
    let track = try #require(
      composition.addMutableTrack(withMediaType: .audio, preferredTrackID: kCMPersistentTrackID_Invalid))
    try track.insertTimeRange(
      CMTimeRange(start: frames(12_000), duration: frames(48_000)), of: audio, at: frames(4800))
    try track.insertTimeRange(
      CMTimeRange(start: .zero, duration: frames(4800)), of: audio, at: frames(52_800))
    composition.scaleTimeRange(
      CMTimeRange(start: frames(4800), duration: frames(48_000)), toDuration: frames(count))
    return composition
  }

  /// The channels of all samples, which follow each other without gaps.
  private static func read(
    _ asset: AVAsset, channels: Int = 1, pitch: AVAudioTimePitchAlgorithm? = nil, range: CMTimeRange? = nil,
    mixed: Bool = false, mix audioMix: AVAudioMix? = nil, settings: [String: Any] = [:]
  ) throws -> [[Int16]] {
    let reader = try AVAssetReader(asset: asset)
    if let range { reader.timeRange = range }
    let tracks = asset.tracks(withMediaType: .audio)
    let settings =
      [AVFormatIDKey: kAudioFormatLinearPCM, AVLinearPCMBitDepthKey: 16].merging(settings) { $1 }
    let output: AVAssetReaderOutput
    if mixed {
      let mix = AVAssetReaderAudioMixOutput(audioTracks: tracks, audioSettings: settings)
      if let pitch { mix.audioTimePitchAlgorithm = pitch }
      mix.audioMix = audioMix
      output = mix
    } else {
      let track = AVAssetReaderTrackOutput(track: try #require(tracks.first), outputSettings: settings)
      if let pitch { track.audioTimePitchAlgorithm = pitch }
      output = track
    }
    reader.add(output)
    #expect(reader.startReading())
    var all: [Int16] = []
    var position = range.map { Int64($0.start.value) } ?? 0
    while let sample = output.copyNextSampleBuffer() {
      #expect(CMSampleBufferGetPresentationTimeStamp(sample).value == position, "no gap, no overlap")
      position += Int64(CMSampleBufferGetNumSamples(sample))
      all += try ReaderTests.bytes(sample).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    }
    #expect(reader.status == .completed, "\(String(describing: reader.error))")
    return (0..<channels).map { channel in
      stride(from: channel, to: all.count, by: channels).map { all[$0] }
    }
  }

  /// By the zero crossings, in Hz.
  private static func frequency(_ samples: ArraySlice<Int16>) -> Double {
    let crossings = zip(samples, samples.dropFirst()).filter { ($0 < 0) != ($1 < 0) }.count
    return Double(crossings) / 2 / (Double(samples.count) / Double(rate))
  }

  private static func level(_ samples: ArraySlice<Int16>) -> Double {
    (samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(max(1, samples.count))).squareRoot()
  }

  @Test(arguments: [4_801, 16_000, 24_000, 36_007, 60_011, 96_000, 130_001, 400_003])
  func pitchStaysAndLengthIsExact(_ count: Int) throws {
    let composition = try Self.composition(Self.tone(), scaledTo: count)
    for pitch in [nil, AVAudioTimePitchAlgorithm.timeDomain] {
      let channels = try Self.read(composition, channels: 2, pitch: pitch)
      for (samples, (hertz, level)) in zip(channels, [(440.0, 11_585.0), (660.0, 5_793.0)]) {
        #expect(samples.count == 4800 + count + 4800)
        #expect(samples[0..<4800].allSatisfy { $0 == 0 })
        let part = samples[4800..<4800 + count]
        let found = Self.frequency(part)
        #expect(abs(found / hertz - 1) < 0.02, "\(found) Hz")
        // The level is the same everywhere, up to the last frames.
        for start in stride(from: part.startIndex, through: part.endIndex - 2400, by: 2400) {
          let found = Self.level(part[start..<start + 2400])
          #expect(abs(found / level - 1) < 0.2, "\(found) from \(start)")
        }
        let last = Self.level(part.suffix(480))
        #expect(abs(last / level - 1) < 0.3, "\(last) in the last frames")
      }
    }
  }

  @Test func pitchFollowsTheSpeedWithVarispeed() throws {
    let composition = try Self.composition(Self.tone(), scaledTo: 96_000)
    let samples = try Self.read(composition, channels: 2, pitch: .varispeed)[0]
    #expect(samples.count == 4800 + 96_000 + 4800)
    let found = Self.frequency(samples[4800..<100_800])
    #expect(abs(found / 220 - 1) < 0.01, "\(found) Hz")
  }

  @Test func aTrackOfAMixHasItsOwnAlgorithm() throws {
    let composition = try Self.composition(Self.tone(), scaledTo: 96_000)
    let track = try #require(composition.tracks(withMediaType: .audio).first)
    let parameters = AVMutableAudioMixInputParameters(track: track)
    func found(_ own: AVAudioTimePitchAlgorithm?, _ output: AVAudioTimePitchAlgorithm) throws -> Double {
      parameters.audioTimePitchAlgorithm = own
      let mix = AVMutableAudioMix()
      mix.inputParameters = [parameters]
      let copy = try #require(mix.copy() as? AVAudioMix)
      #expect(copy.inputParameters.first?.audioTimePitchAlgorithm == own)
      let samples = try Self.read(composition, channels: 2, pitch: output, mixed: true, mix: mix)[0]
      return Self.frequency(samples[4800..<100_800])
    }
    #expect(abs(try found(.varispeed, .spectral) / 220 - 1) < 0.01)
    #expect(abs(try found(.timeDomain, .varispeed) / 440 - 1) < 0.02)
    #expect(abs(try found(nil, .varispeed) / 220 - 1) < 0.01)
    parameters.audioTimePitchAlgorithm = AVAudioTimePitchAlgorithm(rawValue: "Helium")
    let mix = AVMutableAudioMix()
    mix.inputParameters = [parameters]
    let output = AVAssetReaderAudioMixOutput(audioTracks: [track], audioSettings: nil)
    output.audioMix = mix
    #expect(try !AVAssetReader(asset: composition).canAdd(output))
  }

  /// The audio of each source time is heard at the time that it is mapped to.
  @Test(arguments: [30_000, 72_000, 100_000])
  func audioIsAtThePlaceItsTimeIsMappedTo(_ count: Int) throws {
    let samples = try Self.read(Self.composition(Self.beats(), scaledTo: count))[0]
    #expect(samples.count == 4800 + count + 4800)
    // Beats begin every 12,000 frames of the source, and one at the start of the part.
    for beat in 0..<4 {
      let audio = 4800 + (beat * 12_000 + 3000) * count / 48_000
      let silence = 4800 + (beat * 12_000 + 9000) * count / 48_000
      let width = 1200 * count / 48_000
      let (loud, quiet) = (
        Self.level(samples[audio - width..<audio + width]),
        Self.level(samples[silence - width..<silence + width])
      )
      #expect(loud > 10_000 && quiet < 1200, "beat \(beat): \(loud), \(quiet)")
    }
  }

  @Test func readingFromTheMiddleGivesTheSameAudio() throws {
    let composition = try Self.composition(Self.beats(), scaledTo: 96_000)
    let whole = try Self.read(composition)[0]
    let range = CMTimeRange(start: Self.frames(40_001), duration: Self.frames(62_003))
    let part = try Self.read(composition, range: range)[0]
    #expect(part.count == 62_003)
    // Not the same waveform, but the same level everywhere.
    for start in stride(from: 0, to: 60_000, by: 6000) {
      let (a, b) = (
        Self.level(part[start..<start + 2400]), Self.level(whole[40_001 + start..<40_001 + start + 2400])
      )
      #expect(abs(a - b) < 3000, "\(a) and \(b) at \(start)")
    }
  }

  @Test func mixesAndOtherFormatsHaveTheSameAudio() throws {
    let composition = try Self.composition(Self.tone(), scaledTo: 70_001)
    let direct = try Self.read(composition, channels: 2)
    #expect(try Self.read(composition, channels: 2, mixed: true) == direct)
    // Big-endian 24 bits, one channel after the other.
    let reader = try AVAssetReader(asset: composition)
    let output = AVAssetReaderTrackOutput(
      track: try #require(composition.tracks(withMediaType: .audio).first),
      outputSettings: [
        AVFormatIDKey: kAudioFormatLinearPCM, AVLinearPCMBitDepthKey: 24, AVLinearPCMIsBigEndianKey: true,
        AVLinearPCMIsNonInterleaved: true,
      ])
    reader.add(output)
    #expect(reader.startReading())
    var left: [Double] = []
    while let sample = output.copyNextSampleBuffer() {
      let bytes = try ReaderTests.bytes(sample)
      for frame in 0..<bytes.count / 6 {
        let value =
          Int32(Int8(bitPattern: bytes[frame * 3])) << 16 | Int32(bytes[frame * 3 + 1]) << 8
          | Int32(bytes[frame * 3 + 2])
        left.append(Double(value) / 256)
      }
    }
    #expect(left.count == direct[0].count)
    let worst = zip(left, direct[0]).map { abs($0 - Double($1)) }.max() ?? .infinity
    #expect(worst <= 1, "\(worst)")
  }

  @Test func exportsHaveTheScaledAudio() async throws {
    let scratch = Scratch()
    let composition = try Self.composition(Self.tone(), scaledTo: 96_000)
    let session = try #require(
      AVAssetExportSession(asset: composition, presetName: AVAssetExportPresetAppleM4A))
    try await session.export(to: scratch.url("slow.m4a"), as: .m4a)
    try Tool.run([
      "ffmpeg", "-v", "error", "-i", scratch.file("slow.m4a"), "-ac", "1", "-af", "pan=mono|c0=c0", "-f",
      "s16le", scratch.file("pcm"),
    ])
    let samples = try Data(contentsOf: scratch.url("pcm")).withUnsafeBytes {
      Array($0.bindMemory(to: Int16.self))
    }
    #expect(abs(samples.count - 105_600) <= 1024, "\(samples.count)")
    let found = Self.frequency(samples[6000..<99_000])
    #expect(abs(found / 440 - 1) < 0.02, "\(found) Hz")
  }

  @Test func beyondWhatCanBeDoneIsRefused() throws {
    let composition = try Self.composition(Self.tone(), scaledTo: 500)
    let reader = try AVAssetReader(asset: composition)
    let output = AVAssetReaderTrackOutput(
      track: try #require(composition.tracks(withMediaType: .audio).first),
      outputSettings: [AVFormatIDKey: kAudioFormatLinearPCM])
    reader.add(output)
    #expect(reader.startReading())
    while output.copyNextSampleBuffer() != nil {}
    #expect(reader.status == .failed)
    #expect((reader.error as? AVError)?.code == .operationNotSupportedForAsset)
  }
}
