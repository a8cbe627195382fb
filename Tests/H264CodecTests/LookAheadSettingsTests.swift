// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import EncoderAdapter
import H264Encoder
import Testing

@testable import H264Codec

/// The settings of a session as settings of the look-ahead.
@Suite struct LookAheadSettingsTests {
  private static func settings(_ width: Int = 1280, _ height: Int = 720) -> VideoEncoderConfiguration {
    var c = VideoEncoderConfiguration(
      codec: .h264, width: width, height: height, format: .nv12VideoRange, profile: .h264High)
    c.frameRate = 30
    return c
  }

  @Test("Without prediction there are neither B pictures nor references to keep", arguments: [true, false])
  func intraOnly(_ byInterval: Bool) throws {
    var c = Self.settings()
    #expect(try H264EncoderConfiguration(lookingAhead: c).lookAhead.maximumBidirectional == 3)
    if byInterval { c.maxKeyFrameInterval = 1 } else { c.allowsTemporalCompression = false }
    let made = try H264EncoderConfiguration(lookingAhead: c)
    #expect(made.lookAhead.maximumBidirectional == 0)
    #expect(made.maximumReferences == 1)
    #expect(made.keyFrameInterval == 1)
    #expect(made.lookAhead.frames <= 8)
  }

  @Test("The encoder gets the effort that the preferences amount to, the same in both modes")
  func efforts() throws {
    var c = Self.settings()
    for (prefersSpeed, isRealTime, effort) in [
      (nil, nil, 5), (false, nil, 6), (true, nil, 3), (nil, true, 3), (false, true, 4), (true, true, 1),
    ] as [(Bool?, Bool?, Int)] {
      c.speed = SpeedPreference()
      c.speed.prefersSpeedOverQuality = prefersSpeed
      c.speed.isRealTime = isRealTime
      #expect(try H264EncoderConfiguration(lookingAhead: c).effort == effort)
      #expect(try H264EncoderConfiguration(c).effort == effort)
      #expect((try H264EncoderConfiguration(lookingAhead: c).encodeTimeShare != nil) == (isRealTime == true))
    }
    for effort in 0...9 {
      c.speed.effort = effort
      #expect(try H264EncoderConfiguration(lookingAhead: c).effort == effort)
      #expect(try H264EncoderConfiguration(c).effort == effort)
    }
  }

  @Test("Groups are open where the session allows it, and B pictures")
  func openGOP() throws {
    #expect(H264Codec.encoder.features.contains(.openGOP))
    #expect(!H264Codec.lowLatencyEncoder.features.contains(.openGOP))
    var c = Self.settings()
    #expect(try !H264EncoderConfiguration(lookingAhead: c).lookAhead.usesOpenGOP)
    c.allowsOpenGOP = true
    #expect(try H264EncoderConfiguration(lookingAhead: c).lookAhead.usesOpenGOP)
  }

  @Test(
    "A queue of seconds that are none is the smallest",
    arguments: [Double.nan, -Double.infinity, -1, 0, 1e-300])
  func queueInNoTime(_ seconds: Double) throws {
    var c = Self.settings()
    c.rate.mode = .average(1_000_000)
    c.rate.maximumQueueDelay = seconds
    #expect(try H264EncoderConfiguration(lookingAhead: c).lookAhead.buffer?.size == 1000)
  }

  @Test("A queue of more bits than there are is a queue", arguments: [1e18, 1e300, Double.infinity])
  func queueWithoutEnd(_ seconds: Double) throws {
    var c = Self.settings()
    c.rate.mode = .average(1_000_000)
    c.rate.maximumQueueDelay = seconds
    #expect(try H264EncoderConfiguration(lookingAhead: c).lookAhead.buffer?.size == .max)
  }

  @Test("A part in no time has a rate")
  func partInNoTime() throws {
    var c = Self.settings()
    c.pass = EncodingPass(statisticsPath: "/none", readsStatistics: true, writesStatistics: true)
    c.pass?.part = EncodingPass.Part(frames: 0..<3, bits: 1000)
    for seconds in [Double.nan, .infinity, -1, 0] {
      var made = try H264EncoderConfiguration(lookingAhead: c)
      made.makePart(of: c, seconds: seconds)
      #expect(made.lookAhead.part.map { $0.rate >= 1000 } ?? false)
    }
  }

  @Test("Half a gigabyte bounds the look-ahead")
  func memory() throws {
    var c = Self.settings(7680, 4320)
    c.lookAheadFrames = 250
    #expect(try H264EncoderConfiguration(lookingAhead: c).lookAhead.frames < 10)
    c = Self.settings(320, 240)
    c.lookAheadFrames = 250
    #expect(try H264EncoderConfiguration(lookingAhead: c).lookAhead.frames == 250)
  }

  @Test("Without a peak rate the level is unchanged")
  func impliedPeak() throws {
    var c = Self.settings()
    c.level = 31
    c.rate.mode = .variable(10_000_000)
    _ = try H264Codec.encoder.makeEncoder(c)
    c.rate.mode = .average(2_000_000)
    c.rate.limits = [DataRateLimit(bytes: Int(Int32.max), seconds: 1)]
    _ = try H264Codec.encoder.makeEncoder(c)
    c.level = nil
    let made = try H264Encoder(configuration: try H264EncoderConfiguration(lookingAhead: c))
    #expect(made.parameterSets.sequence[3] == 31)
  }

  @Test("A queue delay makes a buffer of the stream's rate")
  func queueDelay() throws {
    var c = Self.settings()
    c.rate.mode = .average(1_000_000)
    #expect(try H264EncoderConfiguration(lookingAhead: c).lookAhead.buffer == nil)
    c.rate.maximumQueueDelay = 0.4
    let buffer = try #require(try H264EncoderConfiguration(lookingAhead: c).lookAhead.buffer)
    #expect(buffer.maximumRate == 1_000_000)
    #expect(buffer.size == 400_000)
  }

  @Test(
    "A configuration without delay selects the low-latency mode, and HDR metadata is written in this mode as well"
  )
  func streamsWithoutDelayAreOfTheLowLatencyMode() throws {
    var c = Self.settings()
    #expect(c.looksAhead)
    c.maxFrameDelay = 0
    #expect(!c.looksAhead)
    // A duration alone bounds nothing in quality mode.
    c.rate.bufferDuration = 1
    #expect(!c.looksAhead)
    c.hdr.contentLightLevel = [0, 1, 2, 3]
    #expect(!c.looksAhead)
    #expect(try H264EncoderConfiguration(c).contentLightLevel == [0, 1, 2, 3])
    #expect(try H264EncoderConfiguration(lookingAhead: c).contentLightLevel == [0, 1, 2, 3])
  }
}
