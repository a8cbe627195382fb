// SPDX-License-Identifier: Apache-2.0
/// A model of the packet losses of a network.
public enum LossModel: Equatable, Sendable {
  case none
  /// Each packet is lost with this probability, independently of all others.
  case random(Double)
  /// The Gilbert-Elliott model of losses in bursts: a good and a bad state, with a probability of
  /// changing from one to the other before each packet, and a loss rate in each.
  case gilbertElliott(goodToBad: Double, badToGood: Double, lossInGood: Double, lossInBad: Double)

  /// Makes a model of bursts in which every packet is lost.
  /// - Parameters:
  ///   - rate: The fraction of all packets that is lost, below 1.
  ///   - length: The mean number of packets in a burst, at least 1.
  public static func bursts(rate: Double, length: Double) -> LossModel {
    let leave = 1 / max(length, 1)
    let enter = min(leave * rate / max(1 - rate, 1e-6), 1)
    return .gilbertElliott(goodToBad: enter, badToGood: leave, lossInGood: 0, lossInBad: 1)
  }

  /// The fraction of packets that is lost in the long run.
  public var meanRate: Double {
    switch self {
    case .none: return 0
    case .random(let rate): return rate
    case .gilbertElliott(let enter, let leave, let good, let bad):
      guard enter + leave > 0 else { return good }
      let share = enter / (enter + leave)
      return share * bad + (1 - share) * good
    }
  }
}

/// A random process that follows a loss model.
public struct LossProcess: Sendable {
  private let model: LossModel
  private var generator: SeededGenerator
  private var isBad = false

  public init(_ model: LossModel, seed: UInt64) {
    self.model = model
    generator = SeededGenerator(seed: seed)
  }

  /// Draws whether the next packet is lost.
  public mutating func losesNext() -> Bool {
    switch model {
    case .none: return false
    case .random(let rate): return generator.unit() < rate
    case .gilbertElliott(let enter, let leave, let good, let bad):
      let change = generator.unit()
      let loss = generator.unit()
      if isBad ? change < leave : change < enter { isBad.toggle() }
      return loss < (isBad ? bad : good)
    }
  }
}
