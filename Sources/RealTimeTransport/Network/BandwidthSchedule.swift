// SPDX-License-Identifier: Apache-2.0
/// Bits a second that a link carries, in steps over time.
public struct BandwidthSchedule: Equatable, Sendable {
  public struct Step: Equatable, Sendable {
    public var time: Double
    public var bitsPerSecond: Double

    public init(time: Double, bitsPerSecond: Double) {
      self.time = time
      self.bitsPerSecond = bitsPerSecond
    }
  }

  /// In order of time. Before the first its rate holds too.
  public let steps: [Step]

  /// - Parameter steps: at least one with a rate above 0, which is what those without become.
  public init?(_ steps: [Step]) {
    guard !steps.isEmpty, steps.allSatisfy({ $0.bitsPerSecond > 0 && $0.time.isFinite }) else { return nil }
    self.steps = steps.sorted { $0.time < $1.time }
  }

  public init(constant bitsPerSecond: Double) {
    steps = [Step(time: 0, bitsPerSecond: max(bitsPerSecond, 1))]
  }

  public func rate(at time: Double) -> Double {
    (steps.last { $0.time <= time } ?? steps[0]).bitsPerSecond
  }

  /// When so many bits are through that began at `start`.
  public func finish(bits: Double, from start: Double) -> Double {
    var time = start
    var left = bits
    while true {
      let rate = rate(at: time)
      guard let next = steps.first(where: { $0.time > time }) else { return time + left / rate }
      let room = (next.time - time) * rate
      if left <= room { return time + left / rate }
      left -= room
      time = next.time
    }
  }
}
