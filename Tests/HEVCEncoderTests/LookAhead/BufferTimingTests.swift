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

  @Test(
    "It holds in a decoder's buffer, by clause C.2", .enabled(if: TracedHeaders.isAvailable),
    arguments: [false, true],
    [
      Form(), Form(reorders: true), Form(reorders: true, isOpen: true),
    ])
  func holds(isConstant: Bool, form: Form) throws {
    var form = form
    form.isConstant = isConstant
    for (seconds, isUneven) in [(0.5, false), (2.0, true)] {
      // No multiple of 64.
      let configuration = Self.configuration(form, maximum: 150_017, seconds: seconds)
      let count = 75
      let lengths = (0..<count).map { isUneven ? [1, 2, 1, 1, 4][$0 % 5] : 1 }
      let content = Content(kind: .blocks, width: 96, height: 80, seed: 5)
      let encoding = try LookAheadStreamTests.Encoding(configuration, content, pictures: count) { n in
        var options = HEVCFrameOptions()
        // Off by less than half a tick of 1/25 s.
        if isUneven, n > 0 {
          options.duration = Double(lengths[n - 1]) / 25 + (n % 2 == 0 ? 0.004 : -0.004)
        }
        return options
      }
      let context = "constant \(isConstant), \(form), \(seconds) s"
      #expect(try encoding.isShownRight(), "\(context)")
      #expect(encoding.frames.contains(where: \.properties.isOpenGOP) == form.isOpen, "\(context)")
      let traced = try TracedHeaders(encoding.stream, format: "hevc")
      #expect(traced.complaints.isEmpty, "\(context)")
      try Self.check(traced, encoding.frames, lengths, isConstant: isConstant, context)
    }
  }

  /// Recomputes the arrival and the removal of each access unit, and the output of each picture.
  private static func check(
    _ traced: TracedHeaders, _ frames: [Frame], _ lengths: [Int], isConstant: Bool, _ context: String
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
    for n in 1..<shown.count {
      let length = ((shown[n] - shown[n - 1]) / tick).rounded()
      #expect(length == Double(lengths[n - 1]), "\(context): picture \(n - 1)")
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
    c.lookAhead.writesBufferTiming = false
    c.lookAhead.rate = .constant(100_000)
    #expect(throws: HEVCEncoderError.self) { try HEVCEncoder(configuration: c) }
  }
}
