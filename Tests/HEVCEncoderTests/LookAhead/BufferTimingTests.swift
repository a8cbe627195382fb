// SPDX-License-Identifier: Apache-2.0
import Testing
import ToolSupport

@testable import HEVCEncoder

/// Buffering period and picture timing messages, read by ffmpeg's trace_headers and put through
/// clause C.2 anew.
@Suite("What streams say of the decoder's buffer")
struct BufferTimingTests {
  typealias Frame = LookAheadStreamTests.Encoding.Frame

  /// The form of a stream: whether its rate is constant, and whether it has B pictures and open
  /// GOPs.
  struct Form: Sendable {
    var isConstant = false
    var reorders = false
    var isOpen = false
  }

  @Test(
    "A constant rate with one frame of look-ahead holds at any pace",
    .enabled(if: TracedHeaders.isAvailable))
  func shortLookAhead() throws {
    var configuration = Self.configuration(Form(isConstant: true), maximum: 150_000, seconds: 0.5)
    configuration.lookAhead.frames = 1
    let durations = (0..<60).map { $0 % 9 == 8 ? 0.3 : Pace.uneven.duration($0) }
    let content = Content(kind: .blocks, width: 96, height: 80, seed: 5)
    let encoding = try LookAheadStreamTests.Encoding(configuration, content, pictures: 60) { n in
      var options = HEVCFrameOptions()
      if n > 0 { options.duration = durations[n - 1] }
      return options
    }
    let traced = try TracedHeaders(encoding.stream, format: "hevc")
    try Self.check(traced, encoding.frames, durations, isConstant: true, "one frame")
  }

  static func configuration(_ form: Form, maximum: Int, seconds: Double) -> HEVCEncoderConfiguration {
    var c = HEVCEncoderConfiguration(width: 96, height: 80)
    c.maximumReferences = 4
    c.effort = 1
    c.frameRate = 25
    c.minimumQP = 0
    c.keyFrameInterval = form.isOpen ? 12 : 33
    var ahead = HEVCEncoderConfiguration.LookAhead()
    ahead.frames = form.reorders ? 12 : 4
    ahead.maximumBidirectional = form.reorders ? 3 : 0
    ahead.usesOpenGOP = form.isOpen
    ahead.rate = form.isConstant ? .constant(maximum) : .average(120_000)
    ahead.buffer = .init(
      maximumRate: maximum, size: Int(Double(maximum) * seconds), initialFullness: 0.7)
    ahead.writesBufferTiming = true
    c.lookAhead = ahead
    return c
  }

  /// Durations of frames in seconds; the configuration says 25 frames a second.
  enum Pace: String, CaseIterable {
    /// As configured, and at other constant rates.
    case usual, film, ntsc, double
    /// Any durations, no whole ones of any unit.
    case uneven

    func duration(_ n: Int) -> Double {
      switch self {
      case .usual: 1.0 / 25
      case .film: 1.0 / 24
      case .ntsc: 1001.0 / 30_000
      case .double: 1.0 / 60
      case .uneven: Double([1, 2, 1, 1, 4][n % 5]) / 25 + (n % 2 == 0 ? -0.0041 : 0.0123)
      }
    }
  }

  @Test(
    "It holds in a decoder's buffer, by clause C.2, at the times of the frames",
    .enabled(if: TracedHeaders.isAvailable),
    arguments: [false, true],
    [
      Form(), Form(reorders: true), Form(reorders: true, isOpen: true),
    ])
  func holds(isConstant: Bool, form: Form) throws {
    var form = form
    form.isConstant = isConstant
    for (n, pace) in Pace.allCases.enumerated() {
      let seconds = n % 2 == 0 ? 0.5 : 2.0
      // No multiple of 64.
      let configuration = Self.configuration(form, maximum: 150_017, seconds: seconds)
      let count = 75
      let durations = (0..<count).map(pace.duration)
      let content = Content(kind: .blocks, width: 96, height: 80, seed: 5)
      let encoding = try LookAheadStreamTests.Encoding(configuration, content, pictures: count) { n in
        var options = HEVCFrameOptions()
        if pace != .usual, n > 0 { options.duration = durations[n - 1] }
        return options
      }
      let context = "constant \(isConstant), \(form), \(seconds) s, \(pace)"
      #expect(try encoding.isShownRight(), "\(context)")
      #expect(encoding.frames.contains(where: \.properties.isOpenGOP) == form.isOpen, "\(context)")
      let traced = try TracedHeaders(encoding.stream, format: "hevc")
      #expect(traced.complaints.isEmpty, "\(context)")
      try Self.check(traced, encoding.frames, durations, isConstant: isConstant, context)
    }
  }

  @Test(
    "Pictures that are asked for early change no output times", .enabled(if: TracedHeaders.isAvailable),
    arguments: [[0], [1], [0, 1, 2], [5, 30], [2, 40, 41]])
  func completion(early: [Int]) throws {
    for isUneven in [false, true] {
      let configuration = Self.configuration(Form(reorders: true), maximum: 150_000, seconds: 1)
      let count = 60
      let durations = (0..<count).map { (isUneven ? Pace.uneven : .usual).duration($0) }
      let content = Content(kind: .blocks, width: 96, height: 80, seed: 5)
      let encoding = try LookAheadStreamTests.Encoding(
        configuration, content, pictures: count,
        options: { n in
          var options = HEVCFrameOptions()
          if n > 0 { options.duration = durations[n - 1] }
          return options
        }, completes: { early.contains($0) })
      let traced = try TracedHeaders(encoding.stream, format: "hevc")
      try Self.check(
        traced, encoding.frames, durations, isConstant: false, "through \(early), uneven \(isUneven)")
    }
  }

  /// Recomputes the arrival and the removal of each access unit, and the output of each picture.
  static func check(
    _ traced: TracedHeaders, _ frames: [Frame], _ durations: [Double], isConstant: Bool, _ context: String
  ) throws {
    func one(_ name: String) throws -> Double { Double(try #require(traced[name].last, "\(name)")) }
    let rate = (try one("bit_rate_value_minus1") + 1) * 64
    let size = (try one("cpb_size_value_minus1") + 1) * 16
    let tick = try one("vui_num_units_in_tick") / one("vui_time_scale")
    #expect(try one("cbr_flag") == (isConstant ? 1 : 0))
    let delays = traced["nal_initial_cpb_removal_delay"].map(Double.init)
    let offsets = traced["nal_initial_cpb_removal_offset"].map(Double.init)
    let removals = traced["au_cpb_removal_delay_minus1"].map { Double($0 + 1) }
    let outputs = traced["pic_dpb_output_delay"].map(Double.init)
    #expect(delays.count == frames.count { $0.properties.isKeyFrame }, "\(context)")
    try #require(delays.count > 1 && offsets.count == delays.count)
    try #require(removals.count == frames.count && outputs.count == frames.count, "\(context)")
    #expect(Set(zip(delays, offsets).map { $0 + $1 }).count == 1, "\(context)")
    #expect((delays[0] + offsets[0]) / 90_000 * rate <= size, "\(context)")
    let deltas = traced["au_cpb_removal_delay_delta_minus1"].map { Double($0 + 1) }

    // Ticks of 90 kHz would lose a part of a bit.
    let epsilon = 1e-7
    var period = -1
    var begin = 0.0
    var arrived = 0.0
    var anchor = 0.0
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
          #expect(abs(anchor + tick * deltas[period] - removal) < tick / 2, "\(context), frame \(n)")
          let most = ((removal - arrived) * 90_000 + 1e-4).rounded(.up)
          #expect(delays[period] <= most, "\(context), frame \(n)")
          if isConstant {
            #expect(delays[period] >= ((removal - arrived) * 90_000 - 1e-4).rounded(.down), "\(context)")
          }
        }
      }
      // RASL pictures, and those that no other refers to, count for no difference (D.3.2).
      let isLeading = frame.types.contains(8) || frame.types.contains(9)
      if frame.properties.isReference && !isLeading { anchor = removal }
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

  @Test("A constant rate is kept by filler data, which properties count")
  func filler() throws {
    let form = Form(isConstant: true, reorders: true)
    let configuration = Self.configuration(form, maximum: 400_000, seconds: 0.5)
    let content = Content(kind: .flat, width: 96, height: 80, seed: 5)
    let frames = try LookAheadStreamTests.Encoding(configuration, content, pictures: 100).frames
    let bits = frames.reduce(0) { $0 + $1.data.count * 8 }
    // What was in the buffer at first has come before, and what is in it at the end comes late.
    #expect(abs(Double(bits) - 400_000 * 4) < 400_000 * 0.5)
    for frame in frames {
      #expect(frame.types.contains(38) == (frame.properties.fillerBytes > 0))
      // It comes last, and there is one at most.
      #expect(!frame.types.dropLast().contains(38))
    }
    #expect(frames.filter { $0.properties.fillerBytes > 500 }.count > 50)
  }

  @Test("Filler data has the size that a high rate takes")
  func muchFiller() throws {
    let rate = 400_000_000
    var configuration = Self.configuration(Form(isConstant: true), maximum: rate, seconds: 1)
    configuration.frameRate = 8
    let content = Content(kind: .flat, width: 96, height: 80, seed: 5)
    let frames = try LookAheadStreamTests.Encoding(configuration, content, pictures: 6).frames
    // The buffer, which is filled to 70 % at first, takes what arrives until it is full.
    let bits = frames.dropLast().reduce(0.0) { $0 + Double($1.data.count * 8) }
    #expect(abs(bits - Double(rate) * (5.0 / 8 - 0.3)) < 1e4)
    #expect(frames.contains { $0.types.count { $0 == 38 } > 1 })
  }

  @Test("Buffering periods need a buffer that they can tell, and that stays")
  func changes() throws {
    var c = Self.configuration(Form(reorders: true), maximum: 100_000, seconds: 1)
    let encoder = try HEVCEncoder(configuration: c)
    var wider = c
    wider.lookAhead.buffer?.size += 1000
    #expect(throws: HEVCEncoderError.self) { try encoder.reconfigure(wider) }
    var slower = c
    slower.lookAhead.rate = .average(50_000)
    try encoder.reconfigure(slower)
    c.lookAhead.partRate = 1000
    #expect(throws: HEVCEncoderError.self) { try HEVCEncoder(configuration: c) }
    c.lookAhead.partRate = nil
    c.lookAhead.buffer?.size = 100_000 * 181
    #expect(throws: HEVCEncoderError.self) { try HEVCEncoder(configuration: c) }
    c.lookAhead.buffer = nil
    #expect(throws: HEVCEncoderError.self) { try HEVCEncoder(configuration: c) }
    // What fills the buffer until the next removal takes the time of that.
    var constant = Self.configuration(Form(isConstant: true), maximum: 100_000, seconds: 1)
    constant.lookAhead.frames = 1
    _ = try HEVCEncoder(configuration: constant)
    constant.lookAhead.frames = 0
    #expect(throws: HEVCEncoderError.self) { try HEVCEncoder(configuration: constant) }
    c.lookAhead.writesBufferTiming = false
    c.lookAhead.rate = .constant(100_000)
    #expect(throws: HEVCEncoderError.self) { try HEVCEncoder(configuration: c) }
  }
}
