// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Which passes a run makes over its source, and at which rate each.
///
/// The first learns, the second shares the bits out. From the third on a pass is made only where the one before has
/// missed the rate: over those parts that the encoder names, or, where it names none, over the whole at a rate corrected
/// by the miss.
struct PassPlan: Sendable {
  let target: Int
  /// A miss that another pass is spent on, as a share of the rate.
  let tolerance: Double
  let most: Int
  /// Bits a second that no pass may ask for more than: at a higher average a decoder's buffer would fill faster.
  let highest: Int
  private(set) var number = 1
  private(set) var asked: Int
  /// How far the best pass so far has missed.
  private var leastMiss = Double.infinity
  /// The last pass is worse than the one before.
  private(set) var isWorse = false
  /// The next pass is over parts of the movie.
  private(set) var isPartial = false

  /// - Parameter isLearned: the first pass has been made.
  init(target: Int, most: Int, tolerance: Double, highest: Int? = nil, isLearned: Bool = false) {
    (self.target, self.most, self.tolerance) = (target, most, tolerance)
    self.highest = highest ?? .max
    asked = target
    if isLearned { number = 2 }
  }

  var isLast: Bool { number == most }

  /// - Parameters:
  ///   - bitRate: what the pass gave.
  ///   - isWanted: the encoder asks for another one.
  /// - Returns: Whether another pass follows.
  mutating func advance(bitRate: Double, isWanted: Bool) -> Bool {
    let miss = abs(bitRate / Double(target) - 1)
    if number > 1 {
      isWorse = miss >= leastMiss
      leastMiss = min(miss, leastMiss)
      guard !isWorse, miss > tolerance, bitRate > 0 else { return false }
      // The encoder that names parts knows when they bring nothing any more.
      guard isWanted || !isPartial else { return false }
      isPartial = isWanted
      if isPartial {
        guard number < most else { return false }
        number += 1
        return true
      }
      let wanted = Double(asked) * Double(target) / bitRate
      // A rate that the content makes nothing of is not chased.
      guard (Double(target) / 2...Double(target) * 2).contains(wanted) else { return false }
      let next = min(Int(wanted.rounded()), highest)
      guard number < most, next != asked else { return false }
      asked = next
    } else if !isWanted || number >= most {
      return false
    }
    number += 1
    return true
  }
}
