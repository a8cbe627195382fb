// SPDX-License-Identifier: Apache-2.0
/// The bandwidth of a link over time, as a step function.
public struct BandwidthSchedule: Equatable, Sendable {
  public struct Step: Equatable, Sendable {
    public var time: Double
    public var bitsPerSecond: Double

    public init(time: Double, bitsPerSecond: Double) {
      self.time = time
      self.bitsPerSecond = bitsPerSecond
    }
  }

  /// The steps in order of time. The first one's rate also applies before it.
  public let steps: [Step]

  /// Creates a schedule; nil if there is no step, or a rate is not above 0 or a time not finite.
  /// - Parameter steps: The steps, in any order.
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

  /// Computes when the last of some bits has left the link.
  /// - Parameters:
  ///   - bits: The number of bits.
  ///   - start: The time when the first one enters.
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
