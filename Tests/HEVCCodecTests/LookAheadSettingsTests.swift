// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import EncoderAdapter
import HEVCEncoder
import Testing

@testable import HEVCCodec

/// The configuration that a session without low latency gives the encoder.
@Suite struct LookAheadSettingsTests {
  private static func settings(
    _ change: (inout VideoEncoderConfiguration) -> Void = { _ in }
  ) -> VideoEncoderConfiguration {
    var c = VideoEncoderConfiguration(
      codec: .hevc, width: 320, height: 192, format: .nv12VideoRange, profile: .hevcMain)
    c.frameRate = 30
    c.rate.mode = .average(500_000)
    change(&c)
    return c
  }

  @Test("B pictures are a session's choice")
  func reordering() throws {
    let baseline = try HEVCAdapter(Self.settings(), looksAhead: true)
    #expect(baseline.reorderingDepth == 2)
    #expect(baseline.engine.configuration.lookAhead.maximumBidirectional == 3)
    let flat = try HEVCAdapter(Self.settings { $0.maxReorderingDepth = 1 }, looksAhead: true)
    #expect(flat.reorderingDepth == 1)
    let ordered = try HEVCAdapter(Self.settings { $0.allowsReordering = false }, looksAhead: true)
    #expect(ordered.reorderingDepth == 0)
    let intra = try HEVCAdapter(Self.settings { $0.allowsTemporalCompression = false }, looksAhead: true)
    #expect(intra.reorderingDepth == 0)
    #expect(intra.engine.configuration.keyFrameInterval == 1)
    #expect(intra.engine.configuration.maximumReferences == 1)
  }

  @Test("Effort, delay and key frames are passed on")
  func values() throws {
    let c = Self.settings {
      $0.speed.effort = 6
      $0.maxFrameDelay = 7
      $0.maxKeyFrameInterval = 48
      $0.maxKeyFrameIntervalDuration = 3
      $0.allowsOpenGOP = true
      $0.spatialAdaptiveQP = .off
      $0.expectedDuration = 12
    }
    let made = try HEVCEncoderConfiguration(lookingAhead: c)
    #expect(made.effort == 6 && made.keyFrameInterval == 48)
    #expect(made.lookAhead.frames == 7 && made.lookAhead.keyFrameDuration == 3)
    #expect(made.lookAhead.usesOpenGOP && made.lookAhead.adaptiveQuantisation == 0)
    #expect(made.lookAhead.expectedDuration == 12 && made.lookAhead.rate == .average(500_000))
    #expect(!Self.settings { $0.maxFrameDelay = 0 }.looksAhead && Self.settings().looksAhead)
  }

  @Test("A rate changes within a stream; B pictures, and no delay, take a new one")
  func changes() throws {
    let adapter = try HEVCAdapter(Self.settings(), looksAhead: true)
    #expect(try adapter.reconfigure(Self.settings { $0.rate.mode = .average(400_000) }) == .applied)
    #expect(try adapter.reconfigure(Self.settings { $0.allowsReordering = false }) == .needsNewStream)
    #expect(try adapter.reconfigure(Self.settings { $0.maxFrameDelay = 0 }) == .needsNewStream)
    #expect(adapter.engine.configuration.lookAhead.rate == .average(400_000))
  }

  @Test("A rate that the level does not allow makes a new stream, and one that it allows does not")
  func higherRates() throws {
    for mode in [RateRequest.Mode.constant, RateRequest.Mode.variable] {
      let adapter = try HEVCAdapter(Self.settings { $0.rate.mode = mode(1_000_000) }, looksAhead: true)
      #expect(try adapter.reconfigure(Self.settings { $0.rate.mode = mode(900_000) }) == .applied)
      #expect(try adapter.reconfigure(Self.settings { $0.rate.mode = mode(30_000_000) }) == .needsNewStream)
    }
  }

  @Test("A constant rate has a buffer, which the stream can describe and joined streams share")
  func constantRate() throws {
    let constant = Self.settings {
      $0.rate.mode = .constant(512_000)
      $0.rate.bufferDuration = 0.5
      $0.rate.writesBufferTiming = true
    }
    let made = try HEVCAdapter(constant, looksAhead: true).engine.configuration.lookAhead
    #expect(made.rate == .constant(512_000) && made.buffer?.maximumRate == 512_000)
    #expect(made.writesBufferTiming)
    var joined = constant
    joined.rate.hasFramesBefore = true
    joined.rate.hasFramesAfter = true
    let options = try HEVCAdapter(joined, looksAhead: true).engine.configuration.lookAhead
    #expect(options.hasFramesBefore && options.hasFramesAfter)
    #expect(options.buffer?.size == made.buffer?.size && options.buffer?.maximumRate == 512_000)
    // The level is that of the buffer, which all joined streams have.
    #expect(options.buffer?.decidesLevel == true)
  }
}
