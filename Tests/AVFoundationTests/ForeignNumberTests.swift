// SPDX-License-Identifier: Apache-2.0
@testable import AVFoundation
@testable import FFmpegMedia
import Foundation
import Testing

/// Numbers from settings and files.
@Suite struct ForeignNumberTests {
  private static let numbers: [Double] = [
    .nan, .infinity, -.infinity, 0, -1, 0.5, 1e-30, 2.5, 3, 1e9, 1e19, 1e30, -1e30, .greatestFiniteMagnitude,
  ]

  @Test func audioSettingsTakeAnyNumber() throws {
    let asset = AVURLAsset(url: URL(fileURLWithPath: try Fixture.movie()))
    let track = try #require(asset.tracks(withMediaType: .audio).first)
    let keys = [
      AVFormatIDKey, AVSampleRateKey, AVNumberOfChannelsKey, AVLinearPCMBitDepthKey, AVEncoderBitRateKey,
      AVLinearPCMIsFloatKey, AVLinearPCMIsBigEndianKey, AVLinearPCMIsNonInterleaved,
    ]
    for key in keys {
      for number in Self.numbers {
        for format in [kAudioFormatLinearPCM, kAudioFormatMPEG4AAC] {
          var settings: [String: Any] = [AVFormatIDKey: NSNumber(value: format)]
          settings[key] = NSNumber(value: number)
          let output = AVAssetReaderTrackOutput(track: track, outputSettings: settings)
          let reader = try AVAssetReader(asset: asset)
          if reader.canAdd(output) {
            reader.add(output)
            if reader.startReading() { _ = output.copyNextSampleBuffer() }
          }
          _ = AVAssetWriterInput(mediaType: .audio, outputSettings: settings)
        }
      }
    }
  }

  @Test func videoSettingsTakeAnyNumber() {
    for number in Self.numbers {
      for key in [AVVideoWidthKey, AVVideoHeightKey] {
        var settings: [String: Any] = [
          AVVideoCodecKey: AVVideoCodecType.h264, AVVideoWidthKey: 64, AVVideoHeightKey: 64,
        ]
        settings[key] = NSNumber(value: number)
        _ = AVAssetWriterInput(mediaType: .video, outputSettings: settings)
      }
    }
  }

  private func silence(_ frames: Int, _ basic: AudioStreamBasicDescription, at time: CMTime) throws
    -> CMSampleBuffer
  {
    let bytes = frames * max(1, Int(basic.mBytesPerFrame))
    let block = try CMBlockBuffer(length: bytes, flags: .assureMemoryNow)
    #expect(
      CMBlockBufferFillDataBytes(with: 0, blockBuffer: block, offsetIntoDestination: 0, dataLength: bytes)
        == noErr)
    let format = try CMFormatDescription(audioStreamBasicDescription: basic)
    var timing = CMSampleTimingInfo(
      duration: CMTime(value: 1, timescale: 48000), presentationTimeStamp: time, decodeTimeStamp: .invalid)
    var size = Int(basic.mBytesPerFrame)
    var made: CMSampleBuffer?
    let status = CMSampleBufferCreateReady(
      allocator: nil, dataBuffer: block, formatDescription: format, sampleCount: frames,
      sampleTimingEntryCount: 1,
      sampleTimingArray: &timing, sampleSizeEntryCount: 1, sampleSizeArray: &size, sampleBufferOut: &made)
    try #require(status == noErr)
    return try #require(made)
  }

  private func pcm() -> AudioStreamBasicDescription {
    AudioStreamBasicDescription(
      mSampleRate: 48000, mFormatID: kAudioFormatLinearPCM,
      mFormatFlags: kAudioFormatFlagIsSignedInteger | kAudioFormatFlagIsPacked, mBytesPerPacket: 4,
      mFramesPerPacket: 1,
      mBytesPerFrame: 4, mChannelsPerFrame: 2, mBitsPerChannel: 16, mReserved: 0)
  }

  private func write(_ buffers: [CMSampleBuffer]) async throws -> (AVAssetWriter, String, Scratch) {
    let scratch = Scratch()
    let writer = try AVAssetWriter(url: scratch.url("a.m4a"), fileType: .m4a)
    let input = AVAssetWriterInput(
      mediaType: .audio,
      outputSettings: [
        AVFormatIDKey: NSNumber(value: kAudioFormatMPEG4AAC), AVSampleRateKey: 48000,
        AVNumberOfChannelsKey: 2,
      ])
    writer.add(input)
    try #require(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    for buffer in buffers { _ = input.append(buffer) }
    input.markAsFinished()
    await writer.finishWriting()
    return (writer, scratch.file("a.m4a"), scratch)
  }

  /// Audio whose format description has impossible values.
  @Test func impossibleAudioFormatsDoNotTrap() async throws {
    for change in [
      { $0.mSampleRate = .nan }, { $0.mSampleRate = 1e30 }, { $0.mSampleRate = -1 }, { $0.mSampleRate = 0 },
      { $0.mChannelsPerFrame = 0 }, { $0.mChannelsPerFrame = .max }, { $0.mBitsPerChannel = 0 },
      { $0.mBitsPerChannel = .max }, { $0.mBytesPerFrame = .max }, { $0.mBytesPerFrame = 0 },
    ] as [(inout AudioStreamBasicDescription) -> Void] {
      var basic = pcm()
      change(&basic)
      guard basic.mBytesPerFrame < 1 << 20, let buffer = try? silence(100, basic, at: .zero) else { continue }
      let (writer, _, _) = try await write([buffer])
      #expect(writer.status == .failed || writer.status == .completed)
    }
  }

  /// A gap of half a minute is filled; one of hours only advances the time, without memory or
  /// samples.
  @Test(arguments: [30, 36_000]) func gapsInAudioAreFilledWithinReason(seconds: Int64) async throws {
    let first = try silence(4800, pcm(), at: .zero)
    let second = try silence(48000, pcm(), at: CMTime(value: seconds, timescale: 1))
    let (writer, path, scratch) = try await write([first, second])
    defer { withExtendedLifetime(scratch) {} }
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    let samples = try Probe.samples(path, stream: "a:0", data: false)
    let whole = Int(seconds + 1) * 48000 / 1024
    if seconds < 60 {
      #expect((whole - 2...whole + 3).contains(samples.count))
    } else {
      #expect(samples.count < 200)
    }
    let end = try #require(
      try Probe.properties(path, stream: "a:0", "stream=duration")["duration"].flatMap(Double.init))
    #expect(abs(end - Double(seconds + 1)) < 0.1)
  }

  /// A source format hint with impossible values: the format of an empty track is unknown.
  @Test func impossibleHintsAtAudioGiveNoFormat() throws {
    let settings = try AudioEncodingSettings([AVFormatIDKey: NSNumber(value: kAudioFormatMPEG4AAC)])
    for rate in [Double.nan, .infinity, 1e30, -1] {
      var basic = pcm()
      basic.mSampleRate = rate
      let encoder = AudioInputEncoder(settings) { _ in }
      let hint = try CMFormatDescription(audioStreamBasicDescription: basic)
      let format = encoder.provisionalFormat(hint)
      #expect(format == nil)
    }
  }

  /// Samples are output unchanged and in order, and are released.
  @Test func queuesOfSamplesKeepTheirOrder() throws {
    var queue = SampleQueue<PendingSample>()
    let nothing = queue.popFirst()
    #expect(nothing == nil && queue.isEmpty && queue.first == nil && queue.last == nil)
    weak var oldest: CMBlockBuffer?
    func sample(_ number: Int) throws -> PendingSample {
      let block = try CMBlockBuffer(length: 1, flags: .assureMemoryNow)
      if number == 0 { oldest = block }
      let time = CMTime(value: Int64(number), timescale: 1)
      return PendingSample(
        block: block, offset: 0, size: number, presentation: time, decode: time, duration: .invalid,
        isSync: true, isDisposable: false)
    }
    var (added, taken) = (0, 0)
    for (more, fewer) in [(1000, 700), (100, 399), (1, 1), (600, 600), (3, 0)] {
      for _ in 0..<more {
        queue.append(try sample(added))
        added += 1
      }
      for _ in 0..<fewer {
        let (first, size) = (queue.first?.size, queue.popFirst()?.size)
        #expect(first == taken && size == taken)
        taken += 1
      }
      let isGone = oldest == nil
      #expect(isGone)
      #expect(queue.count == added - taken && queue.isEmpty == (added == taken))
      #expect(queue.last?.size == (added == taken ? nil : added - 1))
    }
  }

  /// Times that cannot be computed with.
  @Test func audioBeyondReachDoesNotTrap() async throws {
    let first = try silence(4800, pcm(), at: .zero)
    for value in [Int64.max, .max / 2, .min, 1 << 60] {
      let second = try silence(4800, pcm(), at: CMTime(value: value, timescale: 1))
      let (writer, _, _) = try await write([first, second])
      #expect(writer.status == .failed || writer.status == .completed)
    }
  }

  /// A million segments may pass between two samples.
  @Test func timeGridsFindTheNextMultiple() {
    func at(_ value: Int64, _ scale: Int32 = 1) -> CMTime { CMTime(value: value, timescale: scale) }
    #expect(TimeGrid.first(after: at(10), from: at(1), every: at(3)) == at(13))
    #expect(TimeGrid.first(after: at(0), from: at(1), every: at(3)) == at(1))
    #expect(TimeGrid.first(after: at(1), from: at(1), every: at(3)) == at(4))
    let far = TimeGrid.first(after: at(1 << 40), from: .zero, every: at(1, 30))
    #expect(far > at(1 << 40) && far <= at(1 << 40) + at(2, 30))
    #expect(TimeGrid.first(after: at(1_000_000), from: at(0), every: at(7, 30)) == at(30_000_005, 30))
  }

  /// Lengths in an elementary stream descriptor that exceed the data, never end, or are nested.
  @Test func damagedElementaryStreamDescriptorsDoNotTrap() {
    for bytes: [UInt8] in [
      [0, 0, 0, 0, 3] + Array(repeating: 0xFF, count: 40),
      [0, 0, 0, 0, 3, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
      Array(repeating: 3, count: 100_000),
      [0, 0, 0, 0] + Array(repeating: [3, 0x80, 0x80, 0x80, 5], count: 9000).flatMap { $0 },
      [0, 0, 0, 0, 3, 3, 0, 0, 0x40, 0xFF], [3], [0, 0, 0, 0, 3],
    ] {
      _ = ElementaryStreamDescriptor.configuration(in: Data(bytes))
    }
    let made = ElementaryStreamDescriptor.make(configuration: Data([0x12, 0x10]), objectType: 0x40)
    #expect(ElementaryStreamDescriptor.configuration(in: Data([0, 0, 0, 0]) + made) == Data([0x12, 0x10]))
  }
}
