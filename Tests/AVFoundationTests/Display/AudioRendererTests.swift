// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing
import TestSupport

/// The times at which audio samples are output.
@Suite(.serialized) struct AudioRendererTests {
  /// Linear PCM whose values encode the frame number by `value`.
  static func sample(
    _ format: AudioStreamBasicDescription, first: Int, frames: Int, _ bytes: [UInt8]
  ) throws -> CMSampleBuffer {
    let block = try CMBlockBuffer(length: bytes.count, flags: .assureMemoryNow)
    bytes.withUnsafeBytes {
      if let base = $0.baseAddress {
        CMBlockBufferReplaceDataBytes(
          with: base, blockBuffer: block, offsetIntoDestination: 0, dataLength: bytes.count)
      }
    }
    let rate = CMTimeScale(format.mSampleRate)
    var timing = CMSampleTimingInfo(
      duration: CMTime(value: 1, timescale: rate),
      presentationTimeStamp: CMTime(value: Int64(first), timescale: rate), decodeTimeStamp: .invalid)
    var size = bytes.count / max(1, frames)
    let isPlanar = format.mFormatFlags & kAudioFormatFlagIsNonInterleaved != 0
    var made: CMSampleBuffer?
    CMSampleBufferCreateReady(
      allocator: nil, dataBuffer: block,
      formatDescription: try CMFormatDescription(audioStreamBasicDescription: format), sampleCount: frames,
      sampleTimingEntryCount: 1, sampleTimingArray: &timing, sampleSizeEntryCount: isPlanar ? 0 : 1,
      sampleSizeArray: &size, sampleBufferOut: &made)
    return try #require(made)
  }

  static func format(bits: Int, flags: AudioFormatFlags, channels: Int = 1, rate: Double = 48000)
    -> AudioStreamBasicDescription
  {
    var basic = AudioStreamBasicDescription()
    basic.mSampleRate = rate
    basic.mFormatID = kAudioFormatLinearPCM
    basic.mFormatFlags = flags | kAudioFormatFlagIsPacked
    let isPlanar = flags & kAudioFormatFlagIsNonInterleaved != 0
    basic.mBytesPerFrame = UInt32(bits / 8 * (isPlanar ? 1 : channels))
    basic.mBytesPerPacket = basic.mBytesPerFrame
    basic.mFramesPerPacket = 1
    basic.mChannelsPerFrame = UInt32(channels)
    basic.mBitsPerChannel = UInt32(bits)
    return basic
  }

  /// 32-bit floats: the frame's number over 480000, right channel its negative.
  static func ramp(from first: Int, frames: Int) throws -> CMSampleBuffer {
    var bytes: [UInt8] = []
    for frame in first..<first + frames {
      let value = Float(frame) / 480000
      for word in [value, -value] { withUnsafeBytes(of: word.bitPattern.littleEndian) { bytes += $0 } }
    }
    return try sample(
      format(bits: 32, flags: kAudioFormatFlagIsFloat, channels: 2), first: first, frames: frames, bytes)
  }

  @Test(arguments: [1.0, 0.5, 1.5]) func audioIsHeardAtItsTime(rate: Double) async throws {
    let synchronizer = AVSampleBufferRenderSynchronizer()
    let renderer = AVSampleBufferAudioRenderer()
    synchronizer.addRenderer(renderer)
    #expect(renderer.timebase === synchronizer.timebase && renderer.status == .unknown)
    let sink = TestSink()
    renderer.ovtAudioSink = sink
    let feed = DispatchQueue(label: "feed")
    nonisolated(unsafe) var next = 0
    renderer.requestMediaDataWhenReady(on: feed) {
      while renderer.isReadyForMoreMediaData, let sample = try? Self.ramp(from: next, frames: 4800) {
        renderer.enqueue(sample)
        next += 4800
      }
    }
    await waitUntil { renderer.hasSufficientMediaDataForReliablePlaybackStart }
    #expect(renderer.status == .rendering)
    synchronizer.setRate(Float(rate), time: CMTime(value: 1, timescale: 10))
    let line = synchronizer.timebase
    // The samples that are output completely: a busy machine may enqueue too late now and then.
    func loud() -> [TestSink.Piece] {
      sink.heard.all.filter { $0.samples[0] > 0 && $0.samples[$0.samples.count - 2] > 0 }
    }
    await waitUntil { loud().count >= 30 }
    let pieces = loud()
    #expect(pieces.count >= 30)
    for piece in pieces {
      // The time of the timebase at the output, recomputed.
      let due = CMSyncConvertTime(piece.hostTime, from: CMClockGetHostTimeClock(), to: line).seconds
      #expect(abs(Double(piece.samples[0]) * 10 - due) < 0.005)
      #expect(piece.samples[1] == -piece.samples[0])
      let last = Double(piece.samples[piece.samples.count - 2] - piece.samples[0])
      #expect(abs(last - 479.0 / 480000 * rate) < 0.00003)
    }
    renderer.volume = 0.5
    synchronizer.rate = 0
    // One piece may be under way.
    let last = sink.heard.count + 1
    await waitUntil { sink.heard.count >= last + 3 }
    let silent = sink.heard.all.dropFirst(last)
    #expect(silent.count >= 3 && silent.allSatisfy { $0.samples.allSatisfy { $0 == 0 } })
    // No more than requested is taken; the rest is not kept.
    await waitUntil { !renderer.isReadyForMoreMediaData }
    #expect(!renderer.isReadyForMoreMediaData)
    renderer.stopRequestingMediaData()
    // Requested samples come first.
    for _ in 0..<2 { feed.sync {} }
    renderer.flush()
    #expect(renderer.isReadyForMoreMediaData && renderer.status == .unknown)
  }

  @Test func withoutASinkAudioIsConsumedAtTheClocksPace() async throws {
    let synchronizer = AVSampleBufferRenderSynchronizer()
    let renderer = AVSampleBufferAudioRenderer()
    synchronizer.addRenderer(renderer)
    for first in stride(from: 0, to: 96000, by: 4800) {
      renderer.enqueue(try Self.ramp(from: first, frames: 4800))
    }
    #expect(!renderer.isReadyForMoreMediaData)
    synchronizer.rate = 4
    await waitUntil { renderer.isReadyForMoreMediaData }
    // There is room when less than a second of audio is enqueued ahead, not earlier.
    #expect(renderer.isReadyForMoreMediaData && synchronizer.currentTime().seconds > 0.8)
  }

  /// Devices whose clock is not the host's: audio stays with the time line, and does not jump.
  @Test(arguments: [1.0, 1.0001, 0.95, 1.05]) func aDevicesPaceIsFollowed(pace: Double) async throws {
    let synchronizer = AVSampleBufferRenderSynchronizer()
    let renderer = AVSampleBufferAudioRenderer()
    synchronizer.addRenderer(renderer)
    let sink = PulledSink()
    renderer.ovtAudioSink = sink
    for first in stride(from: 0, to: 480_000, by: 48000) {
      renderer.enqueue(try Self.ramp(from: first, frames: 48000))
    }
    await waitUntil { sink.pull != nil }
    let pull = try #require(sink.pull)
    synchronizer.rate = 1
    let line = synchronizer.timebase
    let begin = CMClockGetTime(CMClockGetHostTimeClock())
    var last: Float?
    for request in 0..<800 {
      let host =
        begin + CMTime(seconds: 0.1 + Double(request) * 0.01 / pace, preferredTimescale: 1_000_000_000)
      let samples = pull(960, host)
      let due = CMSyncConvertTime(host, from: CMClockGetHostTimeClock(), to: line).seconds
      guard request >= 400 else { continue }
      #expect(abs(Double(samples[0]) * 10 - due) < 0.0025)
      // One step from the last sample of the request before.
      if let last { #expect(abs((samples[0] - last) * 480_000 - Float(1 / pace)) < 0.3) }
      last = samples[958]
    }
  }

  /// Every kind of linear PCM, compared with a recomputation.
  @Test func everyKindOfPCMIsHeard() async throws {
    let signed = kAudioFormatFlagIsSignedInteger
    let cases: [(Int, AudioFormatFlags, [UInt8], [Float])] = [
      (8, signed, [0x40, 0xC0], [0.5, -0.5]), (8, 0, [0xC0, 0x40], [0.5, -0.5]),
      (16, signed, [0x00, 0x40, 0x00, 0x80], [0.5, -1]),
      (16, signed | kAudioFormatFlagIsBigEndian, [0x40, 0x00, 0x80, 0x00], [0.5, -1]),
      (24, signed, [0, 0, 0x20, 0, 0, 0xE0], [0.25, -0.25]),
      (32, signed, [0, 0, 0, 0x40, 0, 0, 0, 0xC0], [0.5, -0.5]),
      (64, kAudioFormatFlagIsFloat, Self.bytes([0.125, -0.75]), [0.125, -0.75]),
    ]
    for (bits, flags, bytes, expected) in cases {
      for planar in [AudioFormatFlags(0), kAudioFormatFlagIsNonInterleaved] {
        let renderer = AVSampleBufferAudioRenderer()
        let sink = TestSink()
        renderer.ovtAudioSink = sink
        let synchronizer = AVSampleBufferRenderSynchronizer()
        synchronizer.addRenderer(renderer)
        // The first channel has the first value throughout, the second the second.
        let frames = 9600
        let one = bits / 8
        let (left, right) = (Array(bytes[..<one]), Array(bytes[one...]))
        let all: [UInt8] =
          planar != 0
          ? Array(repeatElement(left, count: frames).joined())
            + Array(repeatElement(right, count: frames).joined())
          : Array(repeatElement(bytes, count: frames).joined())
        let basic = Self.format(bits: bits, flags: flags | planar, channels: 2)
        renderer.enqueue(try Self.sample(basic, first: 0, frames: frames, all))
        #expect(renderer.error == nil)
        // Time starts with the first listener.
        await waitUntil { sink.heard.count > 0 }
        synchronizer.rate = 1
        await waitUntil { sink.heard.all.contains { $0.samples.last == expected[1] } }
        let heard = sink.heard.all.last { $0.samples.last == expected[1] }
        #expect(heard?.samples.suffix(2) == expected[...], "\(bits) \(flags) \(planar)")
        sink.stop()
      }
    }
  }

  private static func bytes(_ values: [Double]) -> [UInt8] {
    values.flatMap { withUnsafeBytes(of: $0.bitPattern.littleEndian) { Array($0) } }
  }

  @Test func whatIsNotAudioFails() throws {
    let renderer = AVSampleBufferAudioRenderer()
    let samples = try ReaderTests.read(AVURLAsset(url: URL(fileURLWithPath: Fixture.movie())))
    renderer.enqueue(samples[0])
    #expect(renderer.status == .failed)
    #expect((renderer.error as? AVError)?.code == .formatUnsupported)
    renderer.flush()
    #expect(renderer.status == .unknown && renderer.error == nil)
  }

  /// Audio that is enqueued for later is replaced.
  @Test func audioBehindATimeIsForgotten() throws {
    let renderer = AVSampleBufferAudioRenderer()
    for second in 0..<4 {
      renderer.enqueue(
        try WriterBehaviourTests.silence(at: CMTime(value: CMTimeValue(second), timescale: 1), frames: 48_000)
      )
    }
    #expect(!renderer.isReadyForMoreMediaData)
    let answers = Gathered<Bool>()
    renderer.flush(fromSourceTime: CMTime(value: 1, timescale: 4)) { answers.add($0) }
    #expect(renderer.isReadyForMoreMediaData && renderer.hasSufficientMediaDataForReliablePlaybackStart)
    renderer.flush(fromSourceTime: CMTime(value: 1, timescale: 10)) { answers.add($0) }
    #expect(!renderer.hasSufficientMediaDataForReliablePlaybackStart)
    renderer.flush(fromSourceTime: .invalid) { answers.add($0) }
    #expect(answers.all == [true, true, false])
  }

  /// A timebase at the maximum time, and audio from before its start.
  @Test func thereIsRoomAfterASeekToTheEndOfTime() throws {
    let synchronizer = AVSampleBufferRenderSynchronizer()
    let renderer = AVSampleBufferAudioRenderer()
    synchronizer.addRenderer(renderer)
    synchronizer.setRate(0, time: CMTime(value: -20, timescale: 1))
    renderer.enqueue(try Self.ramp(from: -480_000, frames: 4800))
    #expect(renderer.status == .rendering && renderer.isReadyForMoreMediaData)
    for value in [Int64.max, Int64.min + 1] {
      synchronizer.setRate(0, time: CMTime(value: value, timescale: 1))
      #expect(renderer.isReadyForMoreMediaData)
      #expect(!renderer.hasSufficientMediaDataForReliablePlaybackStart)
    }
  }
}
