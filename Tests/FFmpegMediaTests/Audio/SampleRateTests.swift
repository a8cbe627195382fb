// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing

@testable import FFmpegMedia

/// Audio at rates that no audio has, or that change from one frame to the next: a file of a few
/// bytes must not become minutes at once, nor a filter of gigabytes.
@Suite struct SampleRateTests {
  // MARK: - FLAC, whose frames say their rate themselves (RFC 9639)

  private static func checksum(_ bytes: [UInt8], bits: Int, polynomial: Int) -> Int {
    var sum = 0
    for byte in bytes {
      sum ^= Int(byte) << (bits - 8)
      for _ in 0..<8 { sum = (sum << 1 ^ (sum >> (bits - 1) & 1) * polynomial) & (1 << bits - 1) }
    }
    return sum
  }

  private static func big(_ value: Int, _ count: Int) -> [UInt8] { MovieBox.bytes(value, count: count) }

  /// A frame of 65,535 samples that are all the same.
  private static func frame(_ number: Int, rate: Int, channels: Int) -> [UInt8] {
    var bytes: [UInt8] = [0xFF, 0xF8, 0x7D, UInt8(channels - 1) << 4 | 8, UInt8(number)]
    bytes += big(65_534, 2) + big(rate, 2)
    bytes += big(checksum(bytes, bits: 8, polynomial: 0x07), 1)
    for _ in 0..<channels { bytes += [0] + big(1000, 2) }
    return bytes + big(checksum(bytes, bits: 16, polynomial: 0x8005), 2)
  }

  private static func flac(_ rate: Int, frames: [Int], channels: Int) -> [UInt8] {
    var bytes = Array("fLaC".utf8) + [0x80, 0, 0, 34] + big(65_535, 2) + big(65_535, 2) + big(0, 6)
    bytes += big(rate << 44 | (channels - 1) << 41 | 15 << 36, 8) + big(0, 16)
    for (number, rate) in frames.enumerated() { bytes += frame(number, rate: rate, channels: channels) }
    return bytes
  }

  private static func wav(_ rate: Int, samples: Int) -> [UInt8] {
    func little(_ value: Int, _ count: Int) -> [UInt8] { big(value, count).reversed() }
    let size = 2 * samples
    return Array("RIFF".utf8) + little(36 + size, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + little(1, 2)
      + little(1, 2) + little(rate, 4) + little(2 * rate & 0xFFFF_FFFF, 4) + little(2, 2) + little(16, 2)
      + Array("data".utf8) + little(size, 4) + [UInt8](repeating: 0, count: size)
  }

  /// The frames of each chunk, and how many packets were lost.
  private static func decode(_ bytes: [UInt8], _ ending: String, to rate: Int) throws -> (
    chunks: [Int], lost: Int
  ) {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + "." + ending)
    try Data(bytes).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    let demuxer = try Demuxer(url: url.path)
    let decoder = try AudioDecoder(
      try #require(demuxer.streams.first),
      format: AudioDecoder.Format(
        bits: 16, isFloat: false, isBigEndian: false, isInterleaved: true, sampleRate: rate, channels: 2))
    var chunks: [Int] = []
    var isEnding = false
    while !isEnding {
      let packet = try demuxer.next()
      isEnding = packet == nil
      try decoder.send(packet)
      while let chunk = try decoder.next() {
        #expect(chunk.isSilence || chunk.data.count == 4 * chunk.frames)
        chunks.append(chunk.frames)
      }
    }
    return (chunks, decoder.lostPackets)
  }

  /// A frame of more than a minute comes in pieces.
  @Test func aLongFrameComesInPieces() throws {
    let (chunks, lost) = try Self.decode(
      Self.flac(1000, frames: [1000], channels: 8), "flac", to: 48_000)
    #expect(lost == 0)
    #expect(chunks.max() ?? 0 <= 49_000)
    #expect(abs(chunks.reduce(0, +) - 65_535 * 48) < 100)
  }

  @Test func framesOfAnotherRateAreDamaged() throws {
    let (chunks, lost) = try Self.decode(
      Self.flac(48_000, frames: [48_000, 100, 48_000], channels: 8), "flac", to: 48_000)
    #expect(lost == 1)
    // The third is where the first ends, if what lies between is not counted.
    #expect(chunks.reduce(0, +) >= 2 * 65_535 && chunks.reduce(0, +) < 4 * 65_535)
  }

  /// A filter for each frame would take a thousand times as long as the audio.
  @Test func ratesThatAlternateAreDamaged() throws {
    let frames = (0..<128).map { $0 % 2 == 0 ? 48_000 : 44_100 }
    let (_, lost) = try Self.decode(Self.flac(48_000, frames: frames, channels: 1), "flac", to: 48_000)
    // 64 changes, and one more for 128 frames.
    #expect((30...33).contains(lost), "\(lost)")
    // A programme changes now and then.
    let calm = (0..<128).map { $0 / 16 % 2 == 0 ? 48_000 : 44_100 }
    #expect(try Self.decode(Self.flac(48_000, frames: calm, channels: 1), "flac", to: 48_000).lost == 0)
  }

  @Test(arguments: [1, 999, 299_999_999]) func absurdRatesAreNotConverted(rate: Int) throws {
    let error = #expect(throws: MediaFileError.self) {
      try Self.decode(Self.wav(rate, samples: 4000), "wav", to: 48_000)
    }
    #expect(error?.kind == .unsupportedFormat)
  }

  /// Audio that needs no conversion, and slow and fast audio.
  @Test(arguments: [(100, 100), (2000, 48_000), (4000, 8000), (352_800, 44_100), (2_822_400, 48_000)])
  func otherRatesAreRead(from: Int, to: Int) throws {
    let (chunks, _) = try Self.decode(Self.wav(from, samples: 30_000), "wav", to: to)
    #expect(abs(Double(chunks.reduce(0, +)) - 30_000 * Double(to) / Double(from)) < 0.02 * Double(to))
  }

  // MARK: - Encoding

  private static func layout(_ rate: Double) -> AudioStreamBasicDescription {
    AudioStreamBasicDescription(
      mSampleRate: rate, mFormatID: kAudioFormatLinearPCM,
      mFormatFlags: kAudioFormatFlagIsSignedInteger | kAudioFormatFlagIsPacked, mBytesPerPacket: 2,
      mFramesPerPacket: 1, mBytesPerFrame: 2, mChannelsPerFrame: 1, mBitsPerChannel: 16, mReserved: 0)
  }

  @Test func theEncoderTakesNoAbsurdRates() throws {
    var request = AudioEncoder.Request()
    request.sampleRate = 48_000
    #expect(throws: MediaFileError.self) { try AudioEncoder(request, source: Self.layout(1)) }
    request.pcm = (16, false, false)
    let encoder = try AudioEncoder(request, source: Self.layout(1000))
    var samples = try encoder.encode(
      [UInt8](repeating: 1, count: 2 * 5000), source: Self.layout(1000), time: .zero)
    samples += try encoder.finish()
    let frames = samples.reduce(0) { $0 + CMSampleBufferGetNumSamples($1) }
    #expect(abs(frames - 5 * 48_000) < 100)
    #expect(throws: MediaFileError.self) {
      try encoder.encode([1, 0], source: Self.layout(2), time: CMTime(value: 5, timescale: 1))
    }
  }
}
