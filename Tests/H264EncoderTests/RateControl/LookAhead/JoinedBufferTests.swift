// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolSupport
import VideoBitstream

@testable import H264Encoder

/// Streams that are encoded by themselves and joined: the decoder's buffer over all of them.
@Suite struct JoinedBufferTests {
  /// Each by itself; then their frames, one after the other.
  private static func join(
    _ c: H264EncoderConfiguration, lengths: [Int], content: (Int) -> PlanarFrame = BufferTimingTests.content
  ) throws -> (frames: [LookAheadRun.Frame], starts: [Int]) {
    var frames: [LookAheadRun.Frame] = []
    var starts: [Int] = []
    for (n, length) in lengths.enumerated() {
      var own = c
      own.lookAhead.hasFramesBefore = n > 0
      own.lookAhead.hasFramesAfter = n < lengths.count - 1
      let start = frames.count
      starts.append(start)
      let run = try LookAheadRun(own, count: length, begin: Double(start) / 25) { _ in
        H264FrameOptions()
      } content: {
        content(start + $0)
      }
      #expect(run.encoder.bufferMiss == 0, "stream \(n)")
      frames += run.frames.map {
        var frame = $0
        frame.properties.index += UInt64(start)
        return frame
      }
    }
    return (frames, starts)
  }

  /// A leaky bucket over all frames, 25 a second, in the order of decoding.
  /// - Returns: Bits in the buffer before each frame is taken out.
  private static func bucket(
    _ frames: [LookAheadRun.Frame], _ buffer: H264EncoderConfiguration.LookAhead.Buffer, isConstant: Bool
  ) -> [Double] {
    var held = Double(buffer.size) * buffer.initialFullness
    var all: [Double] = []
    for (n, frame) in frames.enumerated() {
      all.append(held)
      held -= Double(frame.data.count * 8)
      #expect(held > -0.5, "frame \(n) is late")
      held += Double(buffer.maximumRate) / 25
      if isConstant { #expect(held < Double(buffer.size) + 0.5, "no room after frame \(n)") }
      held = min(held, Double(buffer.size))
    }
    return all
  }

  @Test(
    "Streams that know nothing of each other keep to one buffer over all of them",
    arguments: [false, true], [false, true])
  func joinedStreamsKeepToOneBuffer(isConstant: Bool, reorders: Bool) throws {
    // Bits of a frame are no whole number of bytes.
    for (maximum, seconds, lookAhead) in [(150_017, 0.5, 12), (90_001, 2.0, 30), (200_003, 0.4, 2)] {
      var c = BufferTimingTests.configuration(
        isConstant ? .constant(maximum) : .average(maximum * 9 / 10), maximum: maximum, seconds: seconds,
        reorders: reorders)
      c.lookAhead.writesBufferTiming = false
      c.lookAhead.buffer?.initialFullness = 0.9
      c.lookAhead.frames = lookAhead
      let (frames, starts) = try Self.join(c, lengths: [31, 50, 7, 44, 25, 3, 60])
      let buffer = try #require(c.lookAhead.buffer)
      let held = Self.bucket(frames, buffer, isConstant: isConstant)
      for start in starts {
        let agreed = Double(buffer.size) * 0.9
        #expect(held[start] > agreed - 0.5, "\(maximum), frame \(start)")
        if isConstant { #expect(held[start] < agreed + 8, "\(maximum), frame \(start)") }
      }
    }
  }

  @Test("Without a word of frames after it a stream leaves its buffer as it comes")
  func aStreamWithoutSuccessorsLeavesItsBufferAsItComes() throws {
    var c = BufferTimingTests.configuration(
      .constant(150_000), maximum: 150_000, seconds: 0.5, reorders: true)
    c.lookAhead.writesBufferTiming = false
    c.lookAhead.buffer?.initialFullness = 0.9
    let buffer = try #require(c.lookAhead.buffer)
    let run = try LookAheadRun(c, count: 50, content: BufferTimingTests.content)
    let held = Self.bucket(run.frames + run.frames.prefix(1), buffer, isConstant: false)
    #expect(abs((held.last ?? 0) - Double(buffer.size) * 0.9) > 8)
  }

  @Test(
    "Buffering periods of streams that are joined hold in a decoder's, by clause C.1",
    .enabled(if: TracedHeaders.isAvailable), arguments: [false, true])
  func bufferingPeriodsOfJoinedStreamsHoldInTheHypotheticalDecoder(isConstant: Bool) throws {
    let maximum = 150_017
    var c = BufferTimingTests.configuration(
      isConstant ? .constant(maximum) : .average(120_000), maximum: maximum, seconds: 0.5, reorders: true)
    c.lookAhead.buffer?.initialFullness = 0.9
    var (frames, starts) = try Self.join(c, lengths: [31, 50, 40, 20])
    let sets = try LookAheadEncoder(configuration: c).parameterSets
    let sps = try H264SequenceParameterSet(nalUnit: sets.sequence)
    let hrd = try #require(sps.vui?.nalHRD)
    // The ticks of the frames since the last one with a buffering period.
    for start in starts.dropFirst() {
      let last = try #require(frames[..<start].lastIndex { $0.properties.isKeyFrame })
      let size = frames[start].data.count
      try Self.replace(&frames[start].data, removalDelay: (start - last) * 3600, hrd)
      #expect(frames[start].data.count == size)
    }
    let traced = try TracedHeaders(frames.flatMap(\.data), format: "h264")
    #expect(traced.complaints.isEmpty)
    try BufferTimingTests.check(
      traced, frames, [Double](repeating: 1.0 / 25, count: frames.count), isConstant: isConstant,
      "constant \(isConstant)")
  }

  /// In a byte stream with start codes of four bytes.
  private static func replace(
    _ data: inout [UInt8], removalDelay: Int, _ hrd: H264HypotheticalDecoder
  ) throws {
    var starts = data.indices.filter {
      $0 + 4 <= data.count && data[$0..<($0 + 4)].elementsEqual([0, 0, 0, 1])
    }
    starts.append(data.count)
    for (start, end) in zip(starts, starts.dropFirst()) {
      let unit = data[(start + 4)..<end]
      if let new = H264PictureTiming.replacingRemovalDelay(removalDelay, in: unit, hrd: hrd) {
        data.replaceSubrange((start + 4)..<end, with: new)
        return
      }
    }
    Issue.record("no picture timing")
  }

  @Test("A buffer that streams are joined in has room for a frame, and an end is seen before it comes")
  func aBufferThatStreamsAreJoinedInHasRoomForAFrame() throws {
    var c = BufferTimingTests.configuration(
      .constant(150_000), maximum: 150_000, seconds: 0.5, reorders: false)
    c.lookAhead.hasFramesAfter = true
    _ = try LookAheadEncoder(configuration: c)
    c.lookAhead.frames = 0
    #expect(throws: H264EncoderError.self) { try LookAheadEncoder(configuration: c) }
    c.lookAhead.hasFramesAfter = false
    c.lookAhead.hasFramesBefore = true
    c.lookAhead.writesBufferTiming = false
    _ = try LookAheadEncoder(configuration: c)
    c.lookAhead.buffer?.size = 8000
    #expect(throws: H264EncoderError.self) { try LookAheadEncoder(configuration: c) }
    c.lookAhead.buffer = nil
    c.lookAhead.rate = .average(100_000)
    _ = try LookAheadEncoder(configuration: c)
  }

  @Test("A removal delay takes the room of another")
  func aRemovalDelayTakesTheRoomOfAnother() throws {
    let hrd = H264HypotheticalDecoder(bitRate: 128_000, cpb: 350_000, isConstantBitRate: true)
    for old in [0, 1, 2, 255, 256, 65535] {
      var timing = H264PictureTiming()
      timing.removalDelay = old
      timing.outputDelay = 4
      let payload = BitWriter.bytes {
        SupplementalInformation.write(
          H264PictureTiming.messagesWithReplaceableDelay(timing, hrd: hrd), to: &$0)
      }
      let unit = EmulationPrevention.adding(header: [6], payload: payload)
      for new in [0, 1, 3, 4, 60, 768, 70_000] {
        let replaced = try #require(H264PictureTiming.replacingRemovalDelay(new, in: unit, hrd: hrd))
        #expect(replaced.count == unit.count)
        var expected = timing
        expected.removalDelay = new
        #expect(H264PictureTiming(nalUnit: replaced, hrd: hrd) == expected)
      }
    }
    #expect(H264PictureTiming.replacingRemovalDelay(1, in: [6, 1, 1, 0, 128], hrd: hrd) == nil)
  }
}
