// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import Testing

@testable import H264Encoder
@testable import VideoEncoding

/// The effort follows the time that frames take; here time is what a fake clock says.
@Suite struct EffortControlTests {
  /// A machine on which a frame takes so many seconds at each effort, from 0 on.
  private struct Machine {
    var seconds: [Double]
    func times(_ factor: Double) -> Machine { Machine(seconds: seconds.map { $0 * factor }) }
    /// About as the encoder's efforts are to each other.
    static let typical = Machine(seconds: [7, 9, 11, 17, 20, 24, 38, 44, 57, 74].map { $0 * 1e-3 })
  }

  private static func control(share: Double? = 0.5, effort: Int = 3, frameRate: Double = 30) -> EffortControl
  {
    EffortControl(effort: effort, timeFraction: share, frameRate: frameRate)
  }

  /// Runs frames through, and returns the level and the load of each.
  private func run(
    _ control: inout EffortControl, _ machine: Machine, frames: Int, noise: (Int) -> Double = { _ in 1 }
  ) -> [(effort: Int, seconds: Double)] {
    (0..<frames).map { n in
      let effort = control.effort
      let seconds = machine.seconds[effort] * noise(n)
      control.record(seconds: seconds, interval: 1 / 30)
      return (effort, seconds)
    }
  }

  @Test(
    "On machines of any speed 95 of 100 frames take less than half of the interval",
    arguments: [
      0.05, 0.2, 0.45, 0.7, 1.0, 1.4, 1.9,
    ])
  func framesOfAnyMachineTakeLessThanHalfOfTheInterval(_ factor: Double) {
    var control = Self.control()
    // Frames differ by a fifth either way.
    let machine = Machine.typical.times(factor)
    let all = run(&control, machine, frames: 1800) { 1 + 0.2 * Double(($0 &* 7919) % 101 - 50) / 50 }
    let settled = all.dropFirst(300)
    let late = settled.filter { $0.seconds > 0.5 / 30 }.count
    #expect(Double(late) <= 0.05 * Double(settled.count), "\(late) of \(settled.count)")
    // The highest effort that leaves a quarter of the time to spare, or a higher one.
    let wanted = machine.seconds.lastIndex { $0 * 1.2 < 0.7 * 0.5 / 30 } ?? 0
    let typical = settled.filter { $0.effort >= wanted }.count
    #expect(
      Double(typical) > 0.8 * Double(settled.count), "\(typical), wanted \(wanted), \(settled.map(\.effort))")
  }

  @Test("When the machine becomes busy it gives way at once, and comes back when there is time again")
  func whenTheMachineBecomesBusyItGivesWayAtOnce() {
    var control = Self.control()
    _ = run(&control, Machine.typical.times(0.3), frames: 600)
    let before = control.effort
    #expect(before >= 6)
    let busy = run(&control, Machine.typical.times(1.5), frames: 60)
    let late = busy.filter { $0.seconds > 0.5 / 30 }.count
    #expect(late <= 15 && control.effort <= 2, "\(busy.map(\.effort))")
    _ = run(&control, Machine.typical.times(0.3), frames: 600)
    #expect(control.effort == before)
  }

  @Test("An effort that is too slow is tried less and less often")
  func anEffortThatIsTooSlowIsTriedLessAndLessOften() {
    var control = Self.control()
    // At effort 3 there seems to be time enough for effort 4, which takes three times as long.
    let machine = Machine(seconds: [7, 8, 9, 10, 36, 50, 60, 70, 80, 90].map { $0 * 1e-3 })
    let all = run(&control, machine, frames: 9000)
    var tries: [Int] = []
    for n in 1..<all.count where all[n].effort > all[n - 1].effort && all[n].effort == 4 { tries.append(n) }
    #expect(tries.count >= 1 && tries.count <= 8, "\(tries)")
    #expect(all.filter { $0.effort == 3 }.count > 8500)
  }

  @Test("A few slow frames change nothing")
  func aFewSlowFramesChangeNothing() {
    var control = Self.control(effort: 6)
    let all = run(&control, Machine.typical.times(0.3), frames: 900) { $0 % 30 == 29 ? 20 : 1 }
    #expect(all.allSatisfy { $0.effort >= 6 })
  }

  @Test("Without a share the effort stays; one that is asked for later holds at once")
  func withoutAShareTheEffortStays() {
    var control = Self.control(share: nil)
    #expect(run(&control, Machine.typical.times(10), frames: 200).allSatisfy { $0.effort == 3 })
    control.reconfigure(effort: 5, timeFraction: nil, frameRate: 30)
    #expect(control.effort == 5)
  }

  // MARK: - In the encoder

  /// A clock that advances by a fixed time each time it is asked: twice for each frame.
  private final class Clock: @unchecked Sendable {
    var now: UInt64 = 0
    var step: UInt64 = 0
    func read() -> UInt64 {
      now += step
      return now
    }
  }

  /// The stream's bytes and each frame's effort, with a clock that says a frame takes
  /// `milliseconds(n)`. A decoder shows each frame as the encoder has it, if there is one.
  private func stream(
    _ configuration: H264EncoderConfiguration, frames: Int, milliseconds: (Int) -> Double
  ) throws -> (bytes: [[UInt8]], efforts: [Int]) {
    let decoder = ReferenceDecoder(.libavcodec)
    let clock = Clock()
    let encoder = try LowLatencyEncoder(
      configuration: configuration, cpu: ovt_cpu_detect(), clock: { clock.read() })
    let content = SyntheticContent(
      kind: .motion, width: configuration.width, height: configuration.height, seed: 5)
    var bytes: [[UInt8]] = []
    var efforts: [Int] = []
    for n in 0..<frames {
      clock.step = UInt64(milliseconds(n) * 1e6)
      try content.frame(n).withSource(planar: true, padding: 0) {
        let frame = try encoder.encode($0)
        bytes.append(frame.data)
        efforts.append(frame.properties.effort)
        guard let decoder else { return }
        let decoded = try #require(try decoder.decode(frame.data))
        let own = try #require(
          encoder.reconstruction(width: configuration.width, height: configuration.height))
        #expect(own.firstDifference(decoded) == nil, "frame \(n)")
      }
    }
    return (bytes, efforts)
  }

  @Test("The stream stays right through every change of the effort, and goes through all of them")
  func theStreamStaysRightThroughEveryChangeOfTheEffort() throws {
    var c = H264EncoderConfiguration(width: 96, height: 80)
    c.encodeTimeShare = 0.5
    c.maximumReferences = 4
    c.lowLatency.rateControl = .averageBitRate(150_000)
    let (_, efforts) = try stream(c, frames: 560) { $0 < 200 ? 1 : $0 < 300 ? 40 : 2 }
    #expect(Set(efforts) == Set(0...H264EncoderConfiguration.maxEffort), "\(efforts)")
    // One step at a time where there is time, and the last frames are back at high efforts.
    for (a, b) in zip(efforts, efforts.dropFirst()) where b > a { #expect(b - a == 1) }
    #expect(efforts[299] == 0 && efforts[559] > 3)
  }

  @Test("With a fixed effort the clock changes nothing")
  func withAFixedEffortTheClockChangesNothing() throws {
    var c = H264EncoderConfiguration(width: 96, height: 80)
    c.lowLatency.rateControl = .averageBitRate(150_000)
    let a = try stream(c, frames: 60) { _ in 1 }
    let b = try stream(c, frames: 60) { $0 % 2 == 0 ? 90 : 0 }
    #expect(a.bytes == b.bytes && b.efforts.allSatisfy { $0 == c.effort })
  }

  @Test("A share out of range is refused", arguments: [0, -1, 1.5, Double.nan, .infinity])
  func aShareOutOfRangeIsRefused(_ share: Double) {
    var c = H264EncoderConfiguration(width: 64, height: 64)
    c.encodeTimeShare = share
    #expect(throws: H264EncoderError.self) { try LowLatencyEncoder(configuration: c) }
  }
}
