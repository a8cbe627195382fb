// SPDX-License-Identifier: Apache-2.0
import Testing
import ToolSupport
import VideoBitstream

@testable import HEVCEncoder

/// The decoder's buffer over streams that are encoded by themselves and then joined.
@Suite("Joined streams")
struct JoinedBufferTests {
  private typealias Encoding = LookAheadStreamTests.Encoding

  private static let content = Content(kind: .blocks, width: 96, height: 80, seed: 5)

  /// Encodes streams, each by itself, and puts their frames one after the other.
  /// - Returns: the frames, and the index of the first one of each stream.
  private static func join(
    _ c: HEVCEncoderConfiguration, lengths: [Int]
  ) throws -> (encoding: Encoding, starts: [Int]) {
    var frames: [Encoding.Frame] = []
    var starts: [Int] = []
    var last: Encoding?
    for (n, length) in lengths.enumerated() {
      var own = c
      own.lookAhead.hasFramesBefore = n > 0
      own.lookAhead.hasFramesAfter = n < lengths.count - 1
      let start = frames.count
      starts.append(start)
      let encoding = try Encoding(
        own, content, pictures: length, from: start, prepare: { $0.begin(at: Double(start) / 25) })
      #expect(encoding.bufferMiss == 0, "stream \(n)")
      frames += encoding.frames.map {
        var frame = $0
        frame.properties.index += UInt64(start)
        return frame
      }
      last = encoding
    }
    var joined = try #require(last)
    joined.frames = frames
    return (joined, starts)
  }

  /// A leaky bucket over all frames, 25 a second, in decoding order.
  /// - Returns: the bits in the buffer before each frame is removed.
  private static func bucket(
    _ frames: [Encoding.Frame], _ buffer: HEVCEncoderConfiguration.LookAhead.Buffer, isConstant: Bool
  ) -> [Double] {
    var held = Double(buffer.size) * buffer.initialFullness
    var all: [Double] = []
    for (n, frame) in frames.enumerated() {
      all.append(held)
      held -= Double(frame.data.count * 8)
      #expect(held > -0.5, "frame \(n) is late")
      held += Double(buffer.maximumRate) / 25
      if isConstant { #expect(held < Double(buffer.size) + 0.5, "no room behind frame \(n)") }
      held = min(held, Double(buffer.size))
    }
    return all
  }

  private static func configuration(
    isConstant: Bool, reorders: Bool, maximum: Int, seconds: Double
  ) -> HEVCEncoderConfiguration {
    var c = BufferTimingTests.configuration(
      .init(isConstant: isConstant, reorders: reorders), maximum: maximum, seconds: seconds)
    if !isConstant { c.lookAhead.rate = .average(maximum * 9 / 10) }
    c.lookAhead.buffer?.initialFullness = 0.9
    return c
  }

  @Test(
    "Streams that know nothing of each other keep to one buffer over all of them",
    arguments: [false, true], [false, true])
  func oneBuffer(isConstant: Bool, reorders: Bool) throws {
    // Bits of a frame are no whole number of bytes.
    for (maximum, seconds, lookAhead) in [(150_017, 0.5, 12), (90_001, 2.0, 30), (200_003, 0.4, 2)] {
      var c = Self.configuration(
        isConstant: isConstant, reorders: reorders, maximum: maximum, seconds: seconds)
      c.lookAhead.writesBufferTiming = false
      c.lookAhead.frames = lookAhead
      c.lookAhead.maximumBidirectional = reorders ? min(lookAhead, 3) : 0
      let (encoding, starts) = try Self.join(c, lengths: [31, 50, 7, 44, 25, 3, 60])
      #expect(try encoding.isShownRight(), "\(maximum)")
      let buffer = try #require(c.lookAhead.buffer)
      let held = Self.bucket(encoding.frames, buffer, isConstant: isConstant)
      for start in starts {
        let agreed = Double(buffer.size) * 0.9
        #expect(held[start] > agreed - 0.5, "\(maximum), frame \(start)")
        if isConstant { #expect(held[start] < agreed + 8, "\(maximum), frame \(start)") }
      }
    }
  }

  @Test("A stream that none follows leaves its buffer as it comes")
  func withoutSuccessor() throws {
    var c = Self.configuration(isConstant: true, reorders: true, maximum: 150_000, seconds: 0.5)
    c.lookAhead.writesBufferTiming = false
    let buffer = try #require(c.lookAhead.buffer)
    let frames = try Encoding(c, Self.content, pictures: 50).frames
    let held = Self.bucket(frames + frames.prefix(1), buffer, isConstant: false)
    #expect(abs((held.last ?? 0) - Double(buffer.size) * 0.9) > 8)
  }

  @Test(
    "Buffering periods of joined streams hold in a decoder's buffer, by clause C.2",
    .enabled(if: TracedHeaders.isAvailable), arguments: [false, true], [false, true])
  func bufferingPeriods(isConstant: Bool, isOpen: Bool) throws {
    var c = Self.configuration(
      isConstant: isConstant, reorders: true, maximum: 150_017, seconds: 0.5)
    c.keyFrameInterval = isOpen ? 12 : 33
    c.lookAhead.usesOpenGOP = isOpen
    var (encoding, starts) = try Self.join(c, lengths: [31, 50, 40, 20])
    let sps = try HEVCSequenceParameterSet(
      nalUnit: HEVCEncoder(configuration: c).parameterSets.sequence)
    let hrd = try #require(sps.vui?.timing?.hrd?.common)
    for start in starts.dropFirst() {
      let before = encoding.frames[..<start]
      let period = try #require(before.lastIndex { $0.properties.isKeyFrame })
      // RASL pictures, and those that no other refers to, count for no difference.
      let anchor = try #require(
        before.lastIndex { $0.properties.isReference && Set($0.types).isDisjoint(with: [8, 9]) })
      var units = Self.units(encoding.frames[start].data)
      let size = encoding.frames[start].data.count
      #expect(
        HEVCJoinedTiming.set(
          removalDelay: (start - period) * 3600, removalDelayDelta: (start - anchor) * 3600, in: &units,
          hrd: hrd))
      encoding.frames[start].data = units.flatMap { [0, 0, 0, 1] + $0 }
      #expect(encoding.frames[start].data.count == size)
    }
    #expect(try encoding.isShownRight())
    #expect(encoding.frames.contains(where: \.properties.isOpenGOP) == isOpen)
    let traced = try TracedHeaders(encoding.stream, format: "hevc")
    #expect(traced.complaints.isEmpty)
    try BufferTimingTests.check(
      traced, encoding.frames, [Double](repeating: 1.0 / 25, count: encoding.frames.count),
      isConstant: isConstant, "constant \(isConstant)")
  }

  /// The NAL units of a byte stream with start codes of four bytes.
  private static func units(_ data: [UInt8]) -> [[UInt8]] {
    var starts = data.indices.filter {
      $0 + 4 <= data.count && data[$0..<($0 + 4)].elementsEqual([0, 0, 0, 1])
    }
    starts.append(data.count)
    return zip(starts, starts.dropFirst()).map { Array(data[($0 + 4)..<$1]) }
  }

  @Test("A buffer that streams are joined in has room for a frame, and an end is seen before it comes")
  func refusals() throws {
    var c = Self.configuration(isConstant: true, reorders: false, maximum: 150_000, seconds: 0.5)
    c.lookAhead.hasFramesAfter = true
    let encoder = try HEVCEncoder(configuration: c)
    // Others rely on the buffer, whether the stream describes it or not.
    for describes in [true, false] {
      c.lookAhead.writesBufferTiming = describes
      let joined = describes ? encoder : try HEVCEncoder(configuration: c)
      var wider = c
      wider.lookAhead.buffer?.size += 8000
      #expect(throws: HEVCEncoderError.self) { try joined.reconfigure(wider) }
    }
    c.lookAhead.frames = 0
    #expect(throws: HEVCEncoderError.self) { try HEVCEncoder(configuration: c) }
    c.lookAhead.hasFramesAfter = false
    c.lookAhead.hasFramesBefore = true
    _ = try HEVCEncoder(configuration: c)
    c.lookAhead.buffer?.size = 8000
    #expect(throws: HEVCEncoderError.self) { try HEVCEncoder(configuration: c) }
    c.lookAhead.buffer = nil
    c.lookAhead.rate = .average(100_000)
    _ = try HEVCEncoder(configuration: c)
  }

  @Test("Delays are set in the room of others, and nothing is changed where a message is missing")
  func delays() throws {
    let hrd =
      BufferTiming.parameters(
        HEVCEncoderConfiguration.LookAhead.Buffer(maximumRate: 128_000, size: 350_000), isConstant: true
      ).common ?? .init()
    func unit(_ write: (inout BitWriter) -> Void) -> [UInt8] {
      EmulationPrevention.adding(
        header: HEVCNALUnitHeader(type: .prefixSEI).bytes, payload: BitWriter.bytes(write))
    }
    func units(_ delay: Int, _ delta: Int) -> [[UInt8]] {
      var period = HEVCBufferingPeriod()
      period.initialRemovalDelay = 90_000
      period.initialRemovalOffset = 5
      period.removalDelayDelta = delta
      var timing = HEVCPictureTiming()
      timing.removalDelay = delay
      timing.outputDelay = 4
      return [
        [0x46, 1, 0x10], unit { period.write(to: &$0, hrd: hrd) }, unit { timing.write(to: &$0, hrd: hrd) },
        unit { HEVCJoinedTiming.writeFiller(to: &$0) }, [0x28, 1, 0xAF],
      ]
    }
    let delays = [1, 2, 3, 4, 5, 60, 257, 768, 65_536, 70_000, 1 << 31]
    for old in delays {
      for new in delays {
        var changed = units(old, old)
        #expect(
          HEVCJoinedTiming.set(removalDelay: new, removalDelayDelta: old, in: &changed, hrd: hrd))
        #expect(changed.map(\.count).reduce(0, +) == units(old, old).map(\.count).reduce(0, +))
        #expect(Array(changed[..<3]) == Array(units(new, old)[..<3]) && changed[4] == units(old, old)[4])
        #expect(
          SupplementalInformation.messages(nalUnit: changed[3], headerLength: 2).map(\.type) == [3])
      }
    }
    for missing in 1...3 {
      var less = units(1, 1)
      less.remove(at: missing)
      let before = less
      #expect(
        !HEVCJoinedTiming.set(removalDelay: 9, removalDelayDelta: 9, in: &less, hrd: hrd))
      #expect(less == before)
    }
  }
}
