// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Decides which passes a run makes over its source, and at which bit rate.
///
/// The first pass collects statistics, and the second distributes the bits by them. A third or
/// later pass is made only if the previous one missed the rate: over the parts that the encoder
/// names, or, if it names none, over the whole movie at a rate corrected by the deviation.
struct PassPlan: Sendable {
  /// The bit rate to reach, in bits a second.
  let target: Int
  /// The relative deviation from the bit rate above which another pass is made.
  let tolerance: Double
  let maximum: Int
  /// The highest bit rate of a pass, in bits a second: a higher average would exceed the rate at
  /// which a decoder's buffer fills.
  let highest: Int
  private(set) var number = 1
  /// The bit rate of the next pass, in bits a second.
  private(set) var requestedRate: Int
  /// The relative deviation of the best pass so far.
  private var smallestDeviation = Double.infinity
  /// Whether the last pass deviated at least as much as the best one before it.
  private(set) var isWorse = false
  /// Whether the next pass covers only parts of the movie.
  private(set) var isPartial = false

  /// - Parameters:
  ///   - target: the bit rate to reach, in bits a second.
  ///   - maximum: the largest number of passes.
  ///   - tolerance: the relative deviation that is accepted.
  ///   - highest: the highest bit rate of a pass, in bits a second; nil for no limit.
  ///   - hasStatistics: whether the first pass has already been made.
  init(target: Int, maximum: Int, tolerance: Double, highest: Int? = nil, hasStatistics: Bool = false) {
    (self.target, self.maximum, self.tolerance) = (target, maximum, tolerance)
    self.highest = highest ?? .max
    requestedRate = target
    if hasStatistics { number = 2 }
  }

  var isLast: Bool { number == maximum }

  /// Decides on the next pass after one has ended.
  /// - Parameters:
  ///   - bitRate: the pass's result in bits a second.
  ///   - isWanted: whether the encoder asks for another pass.
  /// - Returns: whether another pass follows.
  mutating func advance(bitRate: Double, isWanted: Bool) -> Bool {
    let deviation = abs(bitRate / Double(target) - 1)
    if number > 1 {
      isWorse = deviation >= smallestDeviation
      smallestDeviation = min(deviation, smallestDeviation)
      guard !isWorse, deviation > tolerance, bitRate > 0 else { return false }
      // An encoder that names parts stops asking when they bring no improvement.
      guard isWanted || !isPartial else { return false }
      isPartial = isWanted
      if isPartial {
        guard number < maximum else { return false }
        number += 1
        return true
      }
      let wanted = Double(requestedRate) * Double(target) / bitRate
      // A corrected rate far above the target means that the content cannot use more bits. A rate
      // far below the target is accepted down to an eighth, because the second pass of libx264 and
      // libx265 can exceed the rate of noisy content by more than a factor of two.
      guard (Double(target) / 8...Double(target) * 2).contains(wanted) else { return false }
      let next = min(Int(wanted.rounded()), highest)
      guard number < maximum, next != requestedRate else { return false }
      requestedRate = next
    } else if !isWanted || number >= maximum {
      return false
    }
    number += 1
    return true
  }
}
