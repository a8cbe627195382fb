// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RealTimeTransport

/// Encoders that keep to their rate, one line that they share, and what the controllers make of
/// it.
private final class SharedLine {
  struct Flow {
    var controller: CongestionController
    var start: Double
    var history: [(sent: Double, arrived: Double?, bits: Int)] = []
    var reported = 0
    var rates: [(time: Double, rate: Double)] = []
    var queueing: [(time: Double, delay: Double)] = []
    /// Bits that arrived.
    var carried: [(time: Double, bits: Int)] = []
  }

  let loop = EventLoop()
  private(set) var flows: [Flow]
  private var link: NetworkLink
  private let delay: Double
  /// The frames of encoders that use their rate.
  private let makes: Double
  private var generator: SeededGenerator

  init(
    _ bandwidth: BandwidthSchedule, delay: Double = 0.02, loss: LossModel = .none, starts: [Double] = [0],
    seed: UInt64 = 1, makes: Double = 1
  ) {
    var configuration = NetworkLink.Configuration(bandwidth: bandwidth)
    configuration.delay = delay
    configuration.loss = loss
    link = NetworkLink(configuration, seed: seed)
    self.delay = delay
    self.makes = makes
    generator = SeededGenerator(seed: seed)
    flows = starts.map { Flow(controller: CongestionController(), start: $0) }
  }

  func run(seconds: Double) throws {
    for index in flows.indices {
      // Cameras do not take their pictures at the same moment.
      let phase = flows[index].start + 0.011 * Double(index)
      for frame in 0..<Int((seconds - phase) * 30) {
        loop.schedule(at: phase + Double(frame) / 30) { [self] in send(index) }
      }
      for tick in 0..<Int((seconds - phase) * 20) {
        loop.schedule(at: phase + Double(tick) / 20) { [self] in report(index) }
      }
    }
    try loop.run()
  }

  private func send(_ index: Int) {
    let now = loop.now
    // An encoder hits its rate in the mean, not with each frame.
    var bits = Int(flows[index].controller.targetRate * makes / 30 * (0.7 + 0.6 * generator.unit()))
    flows[index].rates.append((now, flows[index].controller.targetRate))
    flows[index].queueing.append((now, link.queueingDelay(at: now)))
    while bits > 0 {
      let size = min(bits, 1200 * 8)
      bits -= size
      var arrived: Double?
      if case .arrives(let time) = link.send(bytes: size / 8 + 28, at: now) {
        arrived = time
        flows[index].carried.append((time, size))
      }
      // The receiver's clock is another.
      flows[index].history.append((now, arrived.map { $0 + 1234 }, size))
    }
  }

  private func report(_ index: Int) {
    let now = loop.now
    let flow = flows[index]
    // The packets that have arrived, and losses before the last of them.
    guard
      let last = flow.history.indices.dropFirst(flow.reported).last(where: {
        flow.history[$0].arrived.map { $0 - 1234 <= now } ?? false
      })
    else { return }
    let results = flow.history[flow.reported...last].map {
      CongestionController.PacketResult(sent: $0.sent, arrived: $0.arrived, bits: $0.bits)
    }
    flows[index].reported = last + 1
    loop.schedule(at: now + delay) { [self] in
      flows[index].controller.update(results, at: loop.now, roundTrip: 2 * delay + 0.05)
    }
  }

  /// Bits a second that arrived between two times.
  func rate(_ index: Int, _ range: ClosedRange<Double>) -> Double {
    Double(flows[index].carried.reduce(0) { $0 + (range.contains($1.time) ? $1.bits : 0) })
      / (range.upperBound - range.lowerBound)
  }

  func queueing(_ share: Double, _ range: ClosedRange<Double>) -> Double {
    let values = flows.flatMap(\.queueing).filter { range.contains($0.time) }.map(\.delay).sorted()
    return values[min(Int(Double(values.count) * share), values.count - 1)]
  }
}

@Suite struct CongestionTests {
  @Test("A steady line is used, and its queue stays short", arguments: [300_000.0, 1_500_000, 6_000_000])
  func aSteadyLineIsUsed(bandwidth: Double) throws {
    let line = SharedLine(.init(constant: bandwidth))
    try line.run(seconds: 30)
    #expect(line.rate(0, 10...30) > 0.75 * bandwidth, "\(line.rate(0, 10...30))")
    #expect(line.queueing(0.95, 5...30) < 0.15, "\(line.queueing(0.95, 5...30))")
  }

  @Test("A line that falls to a third and comes back", arguments: [0.02, 0.05], [1, 2, 3] as [UInt64])
  func aLineThatFallsToAThirdAndComesBackIsFollowed(delay: Double, seed: UInt64) throws {
    let schedule = try #require(
      BandwidthSchedule([
        .init(time: 0, bitsPerSecond: 1_500_000), .init(time: 10, bitsPerSecond: 500_000),
        .init(time: 20, bitsPerSecond: 1_500_000),
      ]))
    let line = SharedLine(schedule, delay: delay, seed: seed)
    try line.run(seconds: 30)
    #expect(line.queueing(0.95, 5...30) < 0.15, "\(line.queueing(0.95, 5...30))")
    #expect(line.rate(0, 5...10) > 0.75 * 1_500_000)
    #expect(line.rate(0, 13...20) > 0.75 * 500_000)
    // Three seconds after it came back it is used.
    #expect(line.rate(0, 23...24.5) > 0.75 * 1_500_000, "\(line.rate(0, 23...24.5))")
  }

  @Test("Two flows share a line, though one was there first", arguments: [0.0, 10])
  func twoFlowsShareALine(second: Double) throws {
    let line = SharedLine(.init(constant: 2_000_000), starts: [0, second])
    try line.run(seconds: 90)
    let (one, two) = (line.rate(0, 60...90), line.rate(1, 60...90))
    // Each has its half, but for a fifth of it.
    let half = (one + two) / 2
    #expect(abs(one - half) < 0.2 * half, "\(one) \(two)")
    #expect(one + two > 0.75 * 2_000_000 && line.queueing(0.95, 20...90) < 0.15)
  }

  @Test("Random losses are not congestion", arguments: [0.01, 0.05])
  func randomLossesAreNoCongestion(rate: Double) throws {
    let line = SharedLine(.init(constant: 1_500_000), loss: .random(rate))
    try line.run(seconds: 30)
    #expect(line.rate(0, 10...30) > 0.7 * 1_500_000, "\(line.rate(0, 10...30))")
  }

  @Test(
    "A wrong clock at the other end does not stop the pictures", arguments: [3600.0, -3600, 3], [1, 10_000])
  func aWrongClockAtTheOtherEndDoesNotStopThePictures(error: Double, reports: Int) {
    var controller = CongestionController()
    var time = 0.0
    var stopped = 0
    for step in 0..<1200 {
      time = Double(step) * 0.05
      let isOverfull = controller.isOverfull(at: time)
      if isOverfull { stopped += 1 }
      let wrong = (200..<200 + reports).contains(step) ? error : 0
      var results: [CongestionController.PacketResult] = []
      // Where pictures are left out nothing is sent, and nothing is reported.
      for index in 0..<(isOverfull ? 0 : 4) {
        let sent = time + Double(index) * 0.01
        controller.noteSent(bits: 8000, at: sent)
        results.append(.init(sent: sent, arrived: sent + 0.03 + wrong, bits: 8000))
      }
      controller.update(results, at: time + 0.05, roundTrip: 0.06)
    }
    // Three seconds may be a queue for as long as the least delay is remembered.
    #expect(Double(stopped) * 0.05 < (abs(error) > 10 ? 1 : 33), "\(stopped)")
    #expect(!controller.isOverfull(at: time + 0.3))
  }

  @Test(
    "A line that was used alone, and is faster again, is used within three seconds",
    arguments: [1, 2, 3] as [UInt64])
  func aLineThatIsFasterAgainIsUsedWithinThreeSeconds(seed: UInt64) throws {
    let schedule = try #require(
      BandwidthSchedule([
        .init(time: 0, bitsPerSecond: 1_500_000), .init(time: 8, bitsPerSecond: 500_000),
        .init(time: 16, bitsPerSecond: 1_500_000),
      ]))
    func line(_ makes: Double) throws -> SharedLine {
      let line = SharedLine(schedule, seed: seed, makes: makes)
      try line.run(seconds: 24)
      return line
    }
    let (exact, modest) = (try line(1), try line(0.75))
    #expect(exact.rate(0, 17...18) > 0.8 * 1_500_000, "\(exact.rate(0, 17...18))")
    #expect(modest.rate(0, 18...19) > 0.68 * 1_500_000, "\(modest.rate(0, 18...19))")
  }

  @Test("An encoder that makes three quarters of what it may does not hold the rate where it is")
  func aModestEncoderDoesNotHoldTheRateWhereItIs() {
    var controller = CongestionController()
    for step in 0..<200 {
      let time = Double(step) * 0.05
      let bits = Int(0.74 * controller.targetRate * 0.05 / 4)
      let results = (0..<4).map { index in
        let sent = time + Double(index) * 0.01
        controller.noteSent(bits: bits, at: sent)
        return CongestionController.PacketResult(sent: sent, arrived: sent + 0.03, bits: bits)
      }
      controller.update(results, at: time + 0.05, roundTrip: 0.06)
    }
    #expect(controller.targetRate > 2_000_000, "\(controller.targetRate)")
  }

  @Test("Nonsense in reports keeps the rate within its limits")
  func nonsenseInReportsKeepsTheRateWithinItsLimits() {
    var controller = CongestionController()
    var generator = SeededGenerator(seed: 6)
    for step in 0..<5000 {
      let results = (0..<Int(generator.next() % 20)).map { _ in
        CongestionController.PacketResult(
          sent: generator.unit() * 1e6,
          arrived: generator.next() % 3 == 0 ? nil : generator.unit() * 1e6 - 5e5,
          bits: Int(generator.next() % 100_000))
      }
      controller.update(results, at: Double(step) * generator.unit(), roundTrip: generator.unit())
      #expect((50_000...20_000_000).contains(controller.targetRate) && controller.queueDelay.isFinite)
    }
    for step in 0..<100 { controller.noteSilence(at: 1e7 + Double(step)) }
    #expect(controller.targetRate == 50_000)
  }
}
