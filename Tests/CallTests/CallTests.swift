// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport
import Testing
import VideoToolbox

@testable import vtencode

/// `vtencode call`, within this process.
@Suite struct CallTests {
  /// A call of which nothing is shown is frozen from its first picture to its last.
  @Test func freezesOfACall() throws {
    var record = CallRecord()
    record.frameRate = 20
    record.frames = (0..<40).map { CallRecord.Frame(time: Double($0) / 20, rate: 100_000) }
    func freezes(_ isShown: (Int) -> Bool) -> [[Double]] {
      var receiver = CallRecord.Receiver(name: "one", bandwidth: BandwidthSchedule(constant: 1_000_000))
      receiver.shown = (0..<40).map { CallRecord.Shown(time: isShown($0) ? Double($0) / 20 + 0.1 : nil) }
      return record.freezes(of: receiver).map { [$0.start, $0.end].map { ($0 * 1000).rounded() / 1000 } }
    }
    #expect(freezes { _ in false } == [[0, 2]])
    #expect(freezes { _ in true }.isEmpty)
    #expect(freezes { $0 % 3 == 0 }.isEmpty)
    #expect(freezes { !(10..<20).contains($0) } == [[0.55, 1.1]])
  }

  @Test(
    "Without losses every frame is shown as it was made, a delay and its own time on the line later",
    arguments: Codec.allCases)
  func quiet(codec: Codec) throws {
    let record = try CallPlan.small(.ltr) { $0.codec = codec }.run()
    #expect(record.frames.count == 120 && record.frames.count { $0.isKeyFrame } == 1)
    #expect(record.repairs.isEmpty)
    let receiver = record.receivers[0]
    #expect(receiver.decoded == 120 && receiver.incomplete == 0 && receiver.requests == 0)
    #expect(receiver.shown.allSatisfy { $0.time != nil && !$0.isDamaged })
    #expect(receiver.acknowledgements > 3)
    for (frame, shown) in zip(record.frames, receiver.shown) {
      let least = 0.05 + Double(frame.bytes) * 8 / 400_000
      #expect((shown.time ?? 0) - frame.time >= least - 1e-9)
      #expect(abs((shown.quality ?? 0) - (frame.quality ?? 1)) < 0.001)
    }
    // The line is never asked for more than it carries in the window.
    #expect(receiver.shown.allSatisfy { $0.queueingDelay < 0.3 })
    #expect(record.freezes(of: receiver).isEmpty)
  }

  @Test(
    "What is shown under loss is exactly what the encoder made",
    arguments: [RecoveryMode.keyframe, .ltr, .invalidate], Codec.allCases)
  func losses(_ mode: RecoveryMode, codec: Codec) throws {
    for seed in 1...4 as ClosedRange<UInt64> {
      let record = try CallPlan.small(mode) {
        $0.codec = codec
        $0.link.loss = seed % 2 == 0 ? .random(0.06) : .bursts(rate: 0.06, length: 4)
        $0.link.jitter = 0.004
        $0.link.reorders = seed > 2
        $0.feedbackLoss = .random(0.1)
        $0.seed = seed
        $0.hasLayers = seed == 4
        $0.bottleneck = seed == 4 ? BandwidthSchedule(constant: 300_000) : nil
      }.run()
      for receiver in record.receivers {
        #expect(receiver.lostPackets > 3 && receiver.requests > 0)
        #expect(receiver.decodeErrors == 0 && receiver.malformedPackets == 0)
        #expect(receiver.shown.allSatisfy { !$0.isDamaged })
        // It always comes back.
        #expect(receiver.shown.suffix(40).contains { $0.time != nil })
      }
      #expect(!record.repairs.isEmpty)
      switch mode {
      case .keyframe: #expect(record.repairs.allSatisfy { $0.isKeyFrame })
      case .ltr: #expect(record.repairs.contains { !$0.isKeyFrame })
      default: break
      }
    }
  }

  @Test("Lost packets that are sent once more keep the picture moving", arguments: [false, true])
  func retransmission(inBursts: Bool) throws {
    func run(_ retransmits: Bool, delay: Double = 0.03, seed: UInt64) throws -> CallRecord {
      try CallPlan.small(.ltr, frames: 240) {
        $0.link.loss = inBursts ? .bursts(rate: 0.05, length: 4) : .random(0.05)
        $0.link.delay = delay
        $0.feedbackLoss = .random(0.02)
        $0.seed = seed
        $0.retransmits = retransmits
        $0.keepsPackets = true
      }.run()
    }
    var (stillWith, stillWithout) = (0.0, 0.0)
    for seed in 1...3 as ClosedRange<UInt64> {
      let (with, without) = try (run(true, seed: seed), run(false, seed: seed))
      let (repaired, lossy) = (with.receivers[0], without.receivers[0])
      #expect(repaired.decodeErrors == 0 && repaired.shown.allSatisfy { !$0.isDamaged })
      #expect(repaired.recoveredPackets > 5 && repaired.resentPackets >= repaired.recoveredPackets)
      #expect(lossy.requestedPackets == 0 && lossy.resentPackets == 0)
      #expect(repaired.decoded >= 220 && repaired.decoded > lossy.decoded)
      #expect((with.quality(of: repaired) ?? 0) > (without.quality(of: lossy) ?? 99))
      stillWith += with.freezes(of: repaired).reduce(0) { $0 + $1.length }
      stillWithout += without.freezes(of: lossy).reduce(0) { $0 + $1.length }
      // Retransmissions used a stream of their own.
      let packets = with.packets.filter { $0.channel == .media }.compactMap { RTPPacket($0.payload) }
      let again = packets.filter { $0.payloadType == RTPPayloadType.retransmission }
      #expect(again.count == repaired.recoveredPackets)
      #expect(Set(again.map(\.source)).isDisjoint(with: packets.filter { !again.contains($0) }.map(\.source)))
    }
    // A burst takes as long as it takes.
    #expect(stillWith < stillWithout * (inBursts ? 0.8 : 0.5), "\(stillWith) of \(stillWithout) s")
    // Where the way is too long, it is not tried for long.
    let far = try run(true, delay: 0.2, seed: 5).receivers[0]
    #expect(far.requestedPackets <= 24 && far.requests > 0)
  }

  @Test("Intra refresh shows damage, and heals without a word", arguments: Codec.allCases)
  func intraRefresh(codec: Codec) throws {
    let record = try CallPlan.small(.intraRefresh, frames: 150) {
      $0.codec = codec
      $0.intraRefreshFrames = 10
      $0.link.loss = .random(0.01)
      $0.seed = 7
    }.run()
    let receiver = record.receivers[0]
    #expect(receiver.lostPackets > 0 && receiver.requests == 0 && record.repairs.isEmpty)
    let damaged = receiver.shown.indices.filter { receiver.shown[$0].isDamaged }
    #expect(!damaged.isEmpty && damaged.count < 100)
    // A sweep after each loss, nothing is left of it.
    let lost = receiver.shown.indices.filter { receiver.shown[$0].time == nil }
    for index in damaged { #expect(lost.contains { $0 < index && $0 >= index - 21 }) }
  }

  @Test("The same seed gives the same call, another one another")
  func determinism() throws {
    func run(_ seed: UInt64) throws -> CallRecord {
      try CallPlan.small(.invalidate, frames: 60) {
        $0.link.loss = .random(0.05)
        $0.link.jitter = 0.003
        $0.seed = seed
        $0.keepsPackets = true
      }.run()
    }
    let (one, two, other) = try (run(3), run(3), run(4))
    #expect(one.packets == two.packets && !one.packets.isEmpty)
    #expect(one.receivers[0].shown.map(\.time) == two.receivers[0].shown.map(\.time))
    #expect(one.packets != other.packets)
  }

  @Test("Behind a bottleneck the base layer comes whole and in time")
  func layers() throws {
    let record = try CallPlan.small(.ltr) {
      $0.hasLayers = true
      $0.bottleneck = BandwidthSchedule(constant: 280_000)
    }.run()
    #expect(record.receivers.count == 2)
    let (free, narrow) = (record.receivers[0], record.receivers[1])
    #expect(free.shown.count { $0.time != nil } > 110)
    #expect(narrow.shown.contains { $0.isDroppedForLink })
    for (frame, shown) in zip(record.frames, narrow.shown) {
      if frame.layer == 0 {
        #expect(shown.time != nil)
      } else {
        #expect(shown.time != nil || shown.isDroppedForLink)
      }
      #expect(!shown.isDamaged)
    }
    #expect(narrow.shown.dropFirst(30).allSatisfy { $0.queueingDelay < 0.2 })
    #expect(narrow.decodeErrors == 0 && narrow.requests == 0)
  }

  @Test("After the line falls to a third the queue stays short")
  func steps() throws {
    let steps = [(0.0, 600_000.0), (1.5, 200_000), (3, 600_000)]
    let record = try CallPlan.small(.keyframe, frames: 135) {
      guard let line = BandwidthSchedule(steps.map { .init(time: $0.0, bitsPerSecond: $0.1) }) else { return }
      $0.link.bandwidth = line
    }.run()
    let down = try #require(record.frames.firstIndex { $0.rate < 200_000 })
    let budget = Double(record.frames[down].rate) / 30 * 10
    let sent = record.frames[down..<(down + 10)].reduce(0) { $0 + $1.bytes } * 8
    #expect(Double(sent) <= budget)
    // Packets sent before the sender noticed take three times as long, and no more
    // comes on top.
    #expect(record.receivers[0].shown.allSatisfy { $0.queueingDelay < 0.45 })
    #expect(record.frames.count { $0.isKeyFrame } == 1)
  }

  @Test("What an encoder cannot do is an error that says so")
  func unsupported() throws {
    for (mode, layers) in [
      (RecoveryMode.ltr, false), (.invalidate, false), (.intraRefresh, false), (.keyframe, true),
    ] {
      let plan = CallPlan.small(mode, frames: 5) {
        $0.encoderID = "org.openvideotoolbox.videoencoder.h264"
        $0.hasLayers = layers
      }
      #expect(throws: Failure.self) { _ = try plan.run() }
    }
    let nobody = CallPlan.small(.keyframe) { $0.encoderID = "nobody" }
    #expect(throws: Failure.self) { _ = try nobody.run() }
  }
}
