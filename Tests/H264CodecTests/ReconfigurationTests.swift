// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import EncoderAdapter
import H264Encoder
import Testing

@testable import H264Codec

/// Settings that change in mid-stream: what the rates leave room for is no reason for a new stream.
@Suite struct ReconfigurationTests {
  struct Change: CustomTestStringConvertible, Sendable {
    var width = 320
    var height = 180
    var from: (frames: Double, bits: Int)
    var to: (frames: Double, bits: Int)
    var testDescription: String {
      "\(width)x\(height), \(from.frames) at \(from.bits) to \(to.frames) at \(to.bits)"
    }
  }

  /// At the lower rates a stream would begin with a lower level, which has room for fewer
  /// references.
  static let changes = [
    Change(from: (30, 250_000), to: (10, 100_000)),
    Change(width: 176, height: 144, from: (15, 250_000), to: (15, 150_000)),
  ]

  private func settings(_ change: Change) -> VideoEncoderConfiguration {
    var c = VideoEncoderConfiguration(
      codec: .h264, width: change.width, height: change.height, format: .nv12VideoRange, profile: .h264High)
    c.timescale = 90_000
    c.frameRate = change.from.frames
    c.rate.mode = .average(change.from.bits)
    return c
  }

  private func apply(_ to: (frames: Double, bits: Int), _ c: inout VideoEncoderConfiguration) {
    c.frameRate = to.frames
    c.rate.mode = .average(to.bits)
  }

  @Test("A call continues at lower rates, and back", arguments: changes, [true, false])
  func call(_ change: Change, longTerm: Bool) throws {
    var wanted = settings(change)
    wanted.lowLatency = LowLatencyRequest()
    wanted.lowLatency?.enablesLongTermReferences = longTerm
    let sender = try Sender(SmallClip(width: change.width, height: change.height)) { $0 = wanted }
    let first = sender.encoder.engine.configuration
    var keys = 0
    for (frames, bits) in [change.from, change.to, change.from] {
      apply((frames, bits), &wanted)
      #expect(try sender.encoder.reconfigure(wanted) == .applied)
      for _ in 0..<4 where try sender.send()?.properties.isKeyFrame == true { keys += 1 }
    }
    #expect(keys == 1)
    #expect(sender.encoder.engine.configuration.maximumReferences == first.maximumReferences)
    #expect(
      sender.encoder.engine.configuration.lowLatency.longTermReferences == first.lowLatency.longTermReferences
    )
  }

  @Test("Optional features stay enabled at lower bit rates", arguments: changes)
  func lookAhead(_ change: Change) throws {
    var wanted = settings(change)
    let adapter = try H264Adapter(wanted, looksAhead: true)
    apply(change.to, &wanted)
    #expect(try adapter.reconfigure(wanted) == .applied)
  }

  @Test("A changed number of references take a new stream, and so do long-term ones")
  func references() throws {
    var wanted = settings(Self.changes[0])
    wanted.lowLatency = LowLatencyRequest()
    wanted.referenceFrameCount = 4
    let adapter = try H264Adapter(wanted, looksAhead: false)
    var other = wanted
    other.referenceFrameCount = 2
    #expect(try adapter.reconfigure(other) == .needsNewStream)
    other = wanted
    other.lowLatency?.enablesLongTermReferences = true
    #expect(try adapter.reconfigure(other) == .needsNewStream)
    // A refused change has no effect.
    apply((10, 100_000), &wanted)
    #expect(try adapter.reconfigure(wanted) == .applied)
  }

  @Test(
    "Pictures that are predicted again take a new stream, with the references for it",
    arguments: [true, false])
  func intraOnly(byInterval: Bool) throws {
    var wanted = settings(Self.changes[0])
    let original = wanted
    if byInterval { wanted.maxKeyFrameInterval = 1 } else { wanted.allowsTemporalCompression = false }
    let adapter = try H264Adapter(wanted, looksAhead: true)
    #expect(try adapter.reconfigure(original) == .needsNewStream)
  }
}
