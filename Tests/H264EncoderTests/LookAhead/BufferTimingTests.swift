// SPDX-License-Identifier: Apache-2.0
import Testing
import ToolSupport

@testable import H264Encoder

/// Buffering period and picture timing messages, read by ffmpeg's trace_headers and put through
/// clause C.1 again.
@Suite struct BufferTimingTests {
  static let (width, height) = (96, 80)

  static func configuration(
    _ rate: H264EncoderConfiguration.LookAhead.Rate, maximum: Int, seconds: Double, reorders: Bool,
    isOpen: Bool = false
  ) -> H264EncoderConfiguration {
    var c = H264EncoderConfiguration.lookAhead(width: width, height: height)
    c.maximumReferences = 4
    c.effort = 1
    c.frameRate = 25
    c.keyFrameInterval = isOpen ? 12 : 33
    c.lookAhead.frames = reorders ? 12 : 4
    c.lookAhead.maximumBidirectional = reorders ? 3 : 0
    c.lookAhead.usesOpenGOP = isOpen
    c.lookAhead.rate = rate
    c.lookAhead.buffer = .init(
      maximumRate: maximum, size: Int(Double(maximum) * seconds), initialFullness: 0.7)
    c.lookAhead.writesBufferTiming = true
    return c
  }

  static func content(_ n: Int) -> PlanarFrame {
    SyntheticContent(
      kind: n % 60 < 30 ? .mixed : .motion, width: width, height: height, seed: UInt64(n / 30)
    ).frame(n)
  }

  /// Durations of frames in seconds; the configuration says 25 frames a second.
  enum Pace: String, CaseIterable {
    /// As configured, and at other constant rates.
    case regular, film, ntsc, fast
    /// Any durations, no whole ones of any unit.
    case uneven

    func duration(_ n: Int) -> Double {
      switch self {
      case .regular: 1.0 / 25
      case .film: 1.0 / 24
      case .ntsc: 1001.0 / 30_000
      case .fast: 1.0 / 120
      case .uneven: Double([2, 3, 2, 1, 7][n % 5]) / 50 + (n % 2 == 0 ? -0.0041 : 0.0123)
      }
    }
  }

  @Test(
    "What frames say of the buffer holds in a decoder's, by clause C.1, at the times of the frames",
    .enabled(if: TracedHeaders.isAvailable),
    arguments: [false, true], [(false, false), (true, false), (true, true)])
  func bufferTimingHoldsInTheHypotheticalDecoder(isConstant: Bool, structure: (reorders: Bool, isOpen: Bool))
    throws
  {
    let (reorders, isOpen) = structure
    for (n, pace) in Pace.allCases.enumerated() {
      let seconds = n % 2 == 0 ? 0.5 : 2.0
      // No multiple of 64.
      let maximum = 150_017
      let c = Self.configuration(
        isConstant ? .constant(maximum) : .average(120_000), maximum: maximum, seconds: seconds,
        reorders: reorders, isOpen: isOpen)
      let count = 75
      let durations = (0..<count).map(pace.duration)
      let run = try LookAheadRun(c, count: count) { n in
        var options = H264FrameOptions()
        if pace != .regular, n > 0 { options.duration = durations[n - 1] }
        return options
      } content: {
        Self.content($0)
      }
      try run.check(count: count, "\(isConstant) \(reorders)")
      let context = "constant \(isConstant), reordered \(reorders), open \(isOpen), \(seconds) s, \(pace)"
      let traced = try TracedHeaders(run.frames.flatMap(\.data), format: "h264")
      #expect(traced.complaints.isEmpty, "\(context)")
      #expect(run.frames.contains(where: \.properties.isOpenGOP) == isOpen, "\(context)")
      try Self.check(traced, run.frames, durations, isConstant: isConstant, context)
    }
  }

  @Test(
    "Pictures that are asked for early change no output times", .enabled(if: TracedHeaders.isAvailable),
    arguments: [[0], [1], [0, 1, 2], [5, 30], [2, 40, 41]])
  func picturesThatAreAskedForEarlyChangeNoOutputTimes(early: [Int]) throws {
    for isUneven in [false, true] {
      let c = Self.configuration(.average(120_000), maximum: 150_000, seconds: 1, reorders: true)
      let count = 60
      let durations = (0..<count).map { (isUneven ? Pace.uneven : .regular).duration($0) }
      let run = try LookAheadRun(c, count: count) { n in
        var options = H264FrameOptions()
        if n > 0 { options.duration = durations[n - 1] }
        return options
      } completes: {
        early.contains($0)
      } content: {
        Self.content($0)
      }
      let traced = try TracedHeaders(run.frames.flatMap(\.data), format: "h264")
      try Self.check(
        traced, run.frames, durations, isConstant: false, "through \(early), uneven \(isUneven)")
    }
  }

  @Test(
    "A constant rate with one frame of look-ahead holds at any pace",
    .enabled(if: TracedHeaders.isAvailable))
  func aConstantRateWithOneFrameOfLookAheadHoldsAtAnyPace() throws {
    var c = Self.configuration(.constant(150_000), maximum: 150_000, seconds: 0.5, reorders: false)
    c.lookAhead.frames = 1
    let durations = (0..<60).map { $0 % 9 == 8 ? 0.3 : Pace.uneven.duration($0) }
    let run = try LookAheadRun(c, count: 60) { n in
      var options = H264FrameOptions()
      if n > 0 { options.duration = durations[n - 1] }
      return options
    } content: {
      Self.content($0)
    }
    let traced = try TracedHeaders(run.frames.flatMap(\.data), format: "h264")
    try Self.check(traced, run.frames, durations, isConstant: true, "one frame")
    c.lookAhead.frames = 0
    #expect(throws: H264EncoderError.self) { try LookAheadEncoder(configuration: c) }
  }

  @Test("Filler data has the size that a high rate takes")
  func fillerDataHasTheSizeThatAHighRateTakes() throws {
    let rate = 400_000_000
    var c = Self.configuration(.constant(rate), maximum: rate, seconds: 1, reorders: false)
    c.frameRate = 8
    c.level = 62
    let still = Self.content(0)
    let frames = try LookAheadRun(c, count: 6) { _ in still }.frames
    // The buffer, which is filled to 70 % at first, takes what arrives until it is full.
    let bits = frames.dropLast().reduce(0.0) { $0 + Double($1.data.count * 8) }
    #expect(abs(bits - Double(rate) * (5.0 / 8 - 0.3)) < 1e4)
  }

  static func check(
    _ traced: TracedHeaders, _ frames: [LookAheadRun.Frame], _ durations: [Double], isConstant: Bool,
    _ context: String
  ) throws {
    func one(_ name: String) throws -> Double { Double(try #require(traced[name].last, "\(name)")) }
    let rate = (try one("bit_rate_value_minus1") + 1) * 64
    let size = (try one("cpb_size_value_minus1") + 1) * 16
    let tick = try one("num_units_in_tick") / one("time_scale")
    #expect(try one("cbr_flag") == (isConstant ? 1 : 0))
    let delays = traced["initial_cpb_removal_delay"].map(Double.init)
    let offsets = traced["initial_cpb_removal_delay_offset"].map(Double.init)
    let removals = traced["cpb_removal_delay"].map(Double.init)
    let outputs = traced["dpb_output_delay"].map(Double.init)
    #expect(delays.count == frames.count { $0.properties.isKeyFrame }, "\(context)")
    try #require(delays.count > 1 && offsets.count == delays.count)
    try #require(removals.count == frames.count && outputs.count == frames.count, "\(context)")
    #expect(Set(zip(delays, offsets).map { $0 + $1 }).count == 1, "\(context)")
    #expect((delays[0] + offsets[0]) / 90_000 * rate <= size, "\(context)")

    // Ticks of 90 kHz would lose a part of a bit.
    let epsilon = 1e-7
    var period = -1
    var begin = 0.0
    var arrived = 0.0
    /// Of each access unit: arrival of its first and last bit, removal.
    var times: [(first: Double, last: Double, removal: Double)] = []
    var shown = [Double](repeating: 0, count: frames.count)
    for (n, frame) in frames.enumerated() {
      let isKey = frame.properties.isKeyFrame
      let removal = n == 0 ? delays[0] / 90_000 : begin + tick * removals[n]
      if isKey {
        period += 1
        begin = removal
        if n > 0 {
          let maximum = ((removal - arrived) * 90_000 + 1e-4).rounded(.up)
          #expect(delays[period] <= maximum, "\(context), frame \(n)")
          if isConstant {
            #expect(delays[period] >= ((removal - arrived) * 90_000 - 1e-4).rounded(.down), "\(context)")
          }
        }
      }
      let earliest = removal - (delays[period] + (isKey ? 0 : offsets[period])) / 90_000
      let first = isConstant ? arrived : max(arrived, earliest)
      arrived = first + Double(frame.data.count * 8) / rate
      times.append((first, arrived, removal))
      #expect(arrived <= removal + epsilon, "\(context): frame \(n) is late")
      shown[Int(frame.properties.index)] = removal + tick * outputs[n]
    }
    // Before each removal the buffer holds what has come in of this frame and those after it.
    for (n, time) in times.enumerated() {
      var held = 0.0
      for (frame, other) in zip(frames[n...], times[n...]) where other.first < time.removal {
        let part = min((time.removal - other.first) / max(other.last - other.first, 1e-12), 1)
        held += part * Double(frame.data.count * 8)
      }
      #expect(held <= size + 1, "\(context): overflow before frame \(n)")
    }
    var time = 0.0
    for n in 1..<shown.count {
      time += durations[n - 1]
      #expect(abs(shown[n] - shown[0] - time) < 1e-5, "\(context): picture \(n)")
    }
  }

  @Test("Buffering periods need a buffer that they can tell, and that stays")
  func bufferingPeriodsNeedABufferThatTheyCanTell() throws {
    var c = Self.configuration(.average(100_000), maximum: 100_000, seconds: 1, reorders: true)
    let encoder = try LookAheadEncoder(configuration: c)
    var wider = encoder.configuration
    wider.lookAhead.buffer?.size += 1000
    #expect(throws: H264EncoderError.self) { try encoder.reconfigure(wider) }
    var slower = encoder.configuration
    slower.lookAhead.rate = .average(50_000)
    try encoder.reconfigure(slower)
    c.lookAhead.part = .init(rate: 1000, pictureID: 4)
    #expect(throws: H264EncoderError.self) { try LookAheadEncoder(configuration: c) }
    c.lookAhead.part = nil
    c.lookAhead.buffer?.size = 100_000 * 181
    #expect(throws: H264EncoderError.self) { try LookAheadEncoder(configuration: c) }
    c.lookAhead.buffer = nil
    #expect(throws: H264EncoderError.self) { try LookAheadEncoder(configuration: c) }
  }
}
