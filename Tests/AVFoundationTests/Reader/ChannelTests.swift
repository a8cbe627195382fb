// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

/// Audio of many channels: each comes as it was recorded, whatever its channels are called.
@Suite struct ChannelTests {
  private static var float: [String: Any] {
    [AVFormatIDKey: kAudioFormatLinearPCM, AVLinearPCMIsFloatKey: true, AVLinearPCMBitDepthKey: 32]
  }

  static let layouts: [(name: String, channels: Int)] = [
    ("mono", 1), ("stereo", 2), ("downmix", 2), ("2.1", 3), ("3.0", 3), ("3.0(back)", 3), ("quad", 4),
    ("quad(side)", 4), ("4.0", 4), ("3.1", 4), ("5.0", 5), ("5.0(side)", 5), ("4.1", 5), ("5.1", 6),
    ("5.1(side)", 6), ("6.0", 6), ("hexagonal", 6), ("6.1", 7), ("7.0", 7), ("7.1", 8), ("7.1(wide)", 8),
    ("octagonal", 8),
  ]

  /// A file in which channel n is always n sixteenths.
  private static func steady(_ layout: String, _ channels: Int, _ kind: String) throws -> AVURLAsset {
    let levels = (1...channels).map { "\(Double($0) / 16)" }.joined(separator: "|")
    let path = try Fixture.make(
      "channels-\(layout).\(kind)",
      ["-f", "lavfi", "-i", "aevalsrc=\(levels):c=\(layout):s=48000:d=0.2", "-c:a", "pcm_f32le"])
    return AVURLAsset(url: URL(fileURLWithPath: path))
  }

  private static func values(_ asset: AVAsset, _ settings: [String: Any]? = nil) throws -> [Float] {
    try ReaderTests.read(asset, .audio, settings: settings ?? float).flatMap { sample in
      try ReaderTests.bytes(sample).withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    }
  }

  @Test(arguments: layouts) func channelsComeAsTheyAre(_ layout: (name: String, channels: Int)) throws {
    let count = layout.channels
    for kind in ["wav", "caf", "mov"] {
      let asset = try Self.steady(layout.name, count, kind)
      for settings in [[:], [AVNumberOfChannelsKey: count]] as [[String: Any]] {
        let found = try Self.values(asset, settings.merging(Self.float) { own, _ in own })
        #expect(found.count == 9600 * count, "\(kind)")
        let isRight = found.indices.allSatisfy { found[$0] == Float($0 % count + 1) / 16 }
        #expect(isRight, "\(kind): \(found.prefix(count))")
      }
    }
  }

  /// Fewer channels have something of all that there were.
  @Test func fewerChannelsAreMixed() throws {
    let path = try Fixture.make(
      "centre.wav", ["-f", "lavfi", "-i", "aevalsrc=0|0|0.25|0|0|0:c=5.1:s=48000:d=0.2", "-c:a", "pcm_f32le"])
    let found = try Self.values(
      AVURLAsset(url: URL(fileURLWithPath: path)),
      [AVNumberOfChannelsKey: 2].merging(Self.float) { own, _ in own })
    #expect(found.count == 19_200 && found.allSatisfy { $0 > 0.05 && $0 < 0.25 })
  }

  // MARK: - Encoding

  private static let tone = 60.0

  private static func level(_ channel: Int) -> Double { 0.08 * Double(channel + 1) }

  /// A tenth of a second of tones, each channel louder than the one before.
  private static func tones(_ channels: Int, _ tenth: Int) throws -> CMSampleBuffer {
    var basic = AudioStreamBasicDescription(
      mSampleRate: 48_000, mFormatID: kAudioFormatLinearPCM,
      mFormatFlags: kAudioFormatFlagIsFloat | kAudioFormatFlagIsPacked,
      mBytesPerPacket: UInt32(4 * channels), mFramesPerPacket: 1, mBytesPerFrame: UInt32(4 * channels),
      mChannelsPerFrame: UInt32(channels), mBitsPerChannel: 32, mReserved: 0)
    var format: CMAudioFormatDescription?
    CMAudioFormatDescriptionCreate(
      allocator: nil, asbd: &basic, layoutSize: 0, layout: nil, magicCookieSize: 0, magicCookie: nil,
      extensions: nil, formatDescriptionOut: &format)
    let frames = 4800
    let samples = (0..<frames * channels).map { index in
      Float(
        level(index % channels)
          * sin(Double(tenth * frames + index / channels) / 48_000 * 2 * .pi * tone))
    }
    let block = try CMBlockBuffer(length: 4 * samples.count, flags: .assureMemoryNow)
    let copied = samples.withUnsafeBytes { bytes -> OSStatus in
      guard let base = bytes.baseAddress else { return -1 }
      return CMBlockBufferReplaceDataBytes(
        with: base, blockBuffer: block, offsetIntoDestination: 0, dataLength: bytes.count)
    }
    #expect(copied == noErr)
    var timing = CMSampleTimingInfo(
      duration: CMTime(value: 1, timescale: 48_000),
      presentationTimeStamp: CMTime(value: Int64(tenth * frames), timescale: 48_000),
      decodeTimeStamp: .invalid)
    var size = 4 * channels
    var made: CMSampleBuffer?
    CMSampleBufferCreateReady(
      allocator: nil, dataBuffer: block, formatDescription: format, sampleCount: frames,
      sampleTimingEntryCount: 1, sampleTimingArray: &timing, sampleSizeEntryCount: 1, sampleSizeArray: &size,
      sampleBufferOut: &made)
    return try #require(made)
  }

  @Test(arguments: 1...8, [true, false]) func channelsAreWrittenAsTheyAre(
    _ channels: Int, _ isCoded: Bool
  ) async throws {
    let scratch = Scratch()
    var settings: [String: Any] = [AVSampleRateKey: 48_000, AVNumberOfChannelsKey: channels]
    settings[AVFormatIDKey] = isCoded ? kAudioFormatMPEG4AAC : kAudioFormatLinearPCM
    settings[isCoded ? AVEncoderBitRatePerChannelKey : AVLinearPCMBitDepthKey] = isCoded ? 96_000 : 16
    let writer = try AVAssetWriter(url: scratch.url("a.mov"), fileType: .mov)
    let input = AVAssetWriterInput(mediaType: .audio, outputSettings: settings)
    writer.add(input)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    for tenth in 0..<10 { #expect(input.append(try Self.tones(channels, tenth))) }
    input.markAsFinished()
    await writer.finishWriting()
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    let found = try Self.values(AVURLAsset(url: scratch.url("a.mov")))
    #expect(found.count == 48_000 * channels)
    // The encoder is louder where audio begins and ends.
    let settled = found.dropFirst(19_200 * channels).dropLast(9600 * channels)
    for channel in 0..<channels {
      let peak = stride(from: settled.startIndex + channel, to: settled.endIndex, by: channels)
        .reduce(Float(0)) { max($0, abs(settled[$1])) }
      #expect(abs(Double(peak) - Self.level(channel)) < 0.02, "channel \(channel): \(peak)")
    }
    if isCoded, channels == 3 {
      let properties = try Probe.properties(scratch.file("a.mov"), stream: "a:0", "stream=channel_layout")
      #expect(properties["channel_layout"] == "3.0")
    }
  }
}
