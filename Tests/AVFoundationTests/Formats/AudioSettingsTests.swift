// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// The keys of audio settings other than the bit rate, by their effect on the file.
@Suite struct AudioSettingsTests {
  private static var base: [String: Any] { [AVFormatIDKey: kAudioFormatMPEG4AAC] }

  private static func canApply(_ settings: [String: Any]) throws -> Bool {
    let scratch = Scratch()
    let writer = try AVAssetWriter(url: scratch.url("a.mov"), fileType: .mov)
    return writer.canApply(outputSettings: settings, forMediaType: .audio)
  }

  /// Noise and tones, for which a constant bit rate lowers the quality.
  private static func source() throws -> String {
    try Fixture.make(
      "noise.mov",
      [
        "-f", "lavfi", "-i",
        "aevalsrc='0.2*sin(2*PI*440*t)+0.1*random(0)|0.2*sin(2*PI*661*t)+0.1*random(1)':s=48000:d=3",
        "-c:a", "pcm_s16le",
      ])
  }

  /// The audio written with some settings.
  private static func write(_ settings: [String: Any], from path: String) async throws -> String {
    let name = "\(UUID().uuidString).mov"
    let scratch = Scratch()
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let track = try #require(asset.tracks(withMediaType: .audio).first)
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(
      track: track, outputSettings: [AVFormatIDKey: kAudioFormatLinearPCM])
    reader.add(output)
    let writer = try AVAssetWriter(url: scratch.url(name), fileType: .mov)
    let input = AVAssetWriterInput(mediaType: .audio, outputSettings: settings)
    writer.add(input)
    #expect(reader.startReading() && writer.startWriting(), "\(String(describing: writer.error))")
    writer.startSession(atSourceTime: .zero)
    while let sample = output.copyNextSampleBuffer() { #expect(input.append(sample)) }
    input.markAsFinished()
    await withCheckedContinuation { done in writer.finishWriting { done.resume() } }
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    #expect(try Tool.decodingErrors(scratch.file(name)) == "")
    return try Fixture.make(name, ["-i", scratch.file(name), "-c", "copy"])
  }

  private static func bytes(_ path: String) throws -> Int {
    try Probe.samples(path, stream: "a:0", data: false).map(\.size).reduce(0, +)
  }

  @Test func valuesAreThoseOfApple() {
    #expect(AVEncoderAudioQualityKey == "AVEncoderQualityKey")
    #expect(AVEncoderAudioQualityForVBRKey == "AVEncoderQualityForVBRKey")
    #expect(AVSampleRateConverterAudioQualityKey == "AVSampleRateConverterQualityKey")
    let qualities: [AVAudioQuality] = [.min, .low, .medium, .high, .max]
    #expect(qualities.map(\.rawValue) == [0, 32, 64, 96, 127])
  }

  @Test func whatIsNotAValueIsRefused() throws {
    let wrong: [(String, Any)] = [
      (AVEncoderBitRatePerChannelKey, 10), (AVEncoderBitRatePerChannelKey, "64000"),
      (AVEncoderAudioQualityKey, 128), (AVEncoderAudioQualityForVBRKey, "high"),
      (AVEncoderBitRateStrategyKey, "often"), (AVEncoderBitRateStrategyKey, 1),
      (AVEncoderBitDepthHintKey, 99), (AVSampleRateConverterAlgorithmKey, "best"),
      (AVSampleRateConverterAlgorithmKey, AVSampleRateConverterAlgorithm_MinimumPhase),
      (AVSampleRateConverterAudioQualityKey, -1), (AVAudioFileTypeKey, "wav"),
    ]
    for (key, value) in wrong {
      #expect(try !Self.canApply(Self.base.merging([key: value]) { $1 }), "\(key) = \(value)")
    }
    let right: [String: Any] = [
      AVEncoderBitRatePerChannelKey: 48_000, AVEncoderAudioQualityKey: AVAudioQuality.high.rawValue,
      AVEncoderBitRateStrategyKey: AVAudioBitRateStrategy_LongTermAverage, AVEncoderBitDepthHintKey: 16,
      AVSampleRateConverterAlgorithmKey: AVSampleRateConverterAlgorithm_Mastering,
      AVSampleRateConverterAudioQualityKey: AVAudioQuality.max, AVAudioFileTypeKey: 0x6D70_6634,
    ]
    #expect(try Self.canApply(Self.base.merging(right) { $1 }))
  }

  @Test func theRateOfAChannelCountsForEach() async throws {
    let path = try Self.source()
    let each = try await Self.write(
      Self.base.merging([AVEncoderBitRatePerChannelKey: 40_000]) { $1 }, from: path)
    let all = try await Self.write(Self.base.merging([AVEncoderBitRateKey: 80_000]) { $1 }, from: path)
    #expect(try Self.bytes(each) == Self.bytes(all))
    // The rate of all channels has precedence.
    let both = try await Self.write(
      Self.base.merging([AVEncoderBitRateKey: 80_000, AVEncoderBitRatePerChannelKey: 96_000]) { $1 },
      from: path)
    #expect(try Self.bytes(both) == Self.bytes(all))
  }

  @Test func qualityDecidesOnAVariableRate() async throws {
    let path = try Self.source()
    var sizes: [Int] = []
    for quality in [AVAudioQuality.min, .medium, .max] {
      let settings: [String: Any] = [
        AVEncoderBitRateStrategyKey: AVAudioBitRateStrategy_Variable,
        AVEncoderAudioQualityForVBRKey: quality.rawValue,
      ]
      sizes.append(try Self.bytes(try await Self.write(Self.base.merging(settings) { $1 }, from: path)))
    }
    #expect(sizes[0] * 3 < sizes[1] * 2 && sizes[1] * 10 < sizes[2] * 9, "\(sizes)")
  }

  @Test func aLowQualitySearchesLess() async throws {
    let path = try Self.source()
    func hashes(_ quality: AVAudioQuality?) async throws -> [String] {
      var settings = Self.base
      if let quality { settings[AVEncoderAudioQualityKey] = quality.rawValue }
      return try Probe.samples(try await Self.write(settings, from: path), stream: "a:0").map(\.hash)
    }
    let baseline = try await hashes(nil)
    #expect(try await hashes(.high) == baseline)
    #expect(try await hashes(.min) != baseline)
  }

  /// A tone above the Nyquist frequency of the lower rate has to be removed, the better the longer
  /// the filter is.
  @Test func conversionOfTheRateHasItsQuality() async throws {
    let path = try Fixture.make(
      "high.mov",
      ["-f", "lavfi", "-i", "aevalsrc='0.5*sin(2*PI*11500*t)':s=48000:d=1", "-c:a", "pcm_s16le"])
    func energy(_ more: [String: Any]) async throws -> Double {
      let settings: [String: Any] = [
        AVFormatIDKey: kAudioFormatLinearPCM, AVSampleRateKey: 22_050, AVLinearPCMIsFloatKey: true,
        AVLinearPCMBitDepthKey: 32,
      ]
      let file = try await Self.write(settings.merging(more) { $1 }, from: path)
      let raw = try Fixture.make(
        "\(UUID().uuidString).raw", ["-i", file, "-f", "f32le", "-c:a", "pcm_f32le"])
      let samples = try Data(contentsOf: URL(fileURLWithPath: raw)).withUnsafeBytes {
        Array($0.bindMemory(to: Float.self))
      }
      return samples.dropFirst(2000).dropLast(2000).reduce(0) { $0 + Double($1 * $1) }
    }
    let low = try await energy([AVSampleRateConverterAudioQualityKey: AVAudioQuality.min.rawValue])
    let high = try await energy([AVSampleRateConverterAudioQualityKey: AVAudioQuality.max.rawValue])
    let mastering = try await energy([
      AVSampleRateConverterAlgorithmKey: AVSampleRateConverterAlgorithm_Mastering
    ])
    #expect(high < low / 2 && mastering == high, "\(low), \(high), \(mastering)")
  }
}
