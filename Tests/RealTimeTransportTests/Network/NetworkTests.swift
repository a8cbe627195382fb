// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RealTimeTransport

@Suite struct NetworkTests {
  @Test("Losses come at their rate, and in bursts of their length")
  func lossesComeAtTheirRate() {
    for (model, rate, length) in [
      (LossModel.random(0.05), 0.05, 1 / 0.95), (.bursts(rate: 0.1, length: 4), 0.1, 4),
      (.bursts(rate: 0.05, length: 8), 0.05, 8), (.none, 0, 0),
    ] {
      var process = LossProcess(model, seed: 3)
      let lost = (0..<400_000).map { _ in process.losesNext() }
      let count = lost.count { $0 }
      #expect(abs(Double(count) / 400_000 - rate) <= rate * 0.1)
      #expect(abs(model.meanRate - rate) < 1e-9)
      guard count > 0 else { continue }
      let bursts = zip([false] + lost, lost).count { !$0 && $1 }
      #expect(abs(Double(count) / Double(bursts) / length - 1) < 0.1)
    }
  }

  @Test("The line takes its time, over changes of its rate too, and its queue has an end")
  func theLineTakesItsTime() throws {
    let schedule = try #require(
      BandwidthSchedule([.init(time: 1, bitsPerSecond: 1000), .init(time: 0, bitsPerSecond: 8000)]))
    #expect(schedule.rate(at: -1) == 8000 && schedule.rate(at: 0.99) == 8000 && schedule.rate(at: 1) == 1000)
    #expect(schedule.finish(bits: 8000, from: 0.5) == 1 + 4)
    #expect(BandwidthSchedule([]) == nil)
    #expect(BandwidthSchedule([.init(time: 0, bitsPerSecond: 0)]) == nil)

    var configuration = NetworkLink.Configuration(bandwidth: BandwidthSchedule(constant: 8000))
    configuration.delay = 0.1
    configuration.queueLimit = 0.2
    var link = NetworkLink(configuration, seed: 1)
    // 100 bytes take 0.1 s.
    func arrival(_ delivery: NetworkLink.Delivery) -> Double? {
      if case .arrives(let time) = delivery { return time }
      return nil
    }
    for n in 1...3 {
      let time = arrival(link.send(bytes: 100, at: 0))
      #expect(abs((time ?? 0) - (0.1 * Double(n) + 0.1)) < 1e-9)
    }
    let full = link.send(bytes: 100, at: 0)
    #expect(full == .dropped)
    #expect(abs(link.queueingDelay(at: 0.1) - 0.2) < 1e-9)
    let later = arrival(link.send(bytes: 100, at: 1))
    #expect(abs((later ?? 0) - 1.2) < 1e-9)
    #expect(link.droppedPackets == 1)
  }

  @Test("Jitter delays by its mean, and changes the order only where it may", arguments: [false, true])
  func jitterDelaysByItsMean(_ reorders: Bool) {
    var configuration = NetworkLink.Configuration(bandwidth: BandwidthSchedule(constant: 1e9))
    configuration.delay = 0.05
    configuration.jitter = 0.01
    configuration.reorders = reorders
    var link = NetworkLink(configuration, seed: 2)
    var last = 0.0
    var overtaken = 0
    var sum = 0.0
    for n in 0..<10_000 {
      // Far enough apart, where order is kept, that waiting adds little.
      let time = Double(n) * (reorders ? 0.005 : 0.2)
      guard case .arrives(let arrival) = link.send(bytes: 100, at: time) else { continue }
      if arrival < last { overtaken += 1 }
      last = arrival
      sum += arrival - time
    }
    #expect(abs(sum / 10_000 - 0.06) < 0.001)
    #expect(reorders ? overtaken > 1000 : overtaken == 0)
  }

  @Test("Events happen in the order of their times, and of their planning where times are equal")
  func eventsHappenInTheOrderOfTheirTimes() throws {
    let loop = EventLoop()
    var log: [String] = []
    for (time, name) in [(3.0, "c"), (1, "a"), (2, "b1"), (2, "b2"), (2, "b3")] {
      loop.schedule(at: time) { log.append("\(name)@\(loop.now)") }
    }
    loop.schedule(at: 1.5) { loop.schedule(at: 0) { log.append("late@\(loop.now)") } }
    try loop.run()
    #expect(log == ["a@1.0", "late@1.5", "b1@2.0", "b2@2.0", "b3@2.0", "c@3.0"])
    struct Stop: Error {}
    loop.schedule(at: 4) { throw Stop() }
    #expect(throws: Stop.self) { try loop.run() }

    var generator = SeededGenerator(seed: 4)
    let other = EventLoop()
    var last = 0.0
    var count = 0
    for _ in 0..<5000 {
      other.schedule(at: generator.unit()) {
        #expect(other.now >= last)
        last = other.now
        count += 1
      }
    }
    try other.run()
    #expect(count == 5000)
  }
}
