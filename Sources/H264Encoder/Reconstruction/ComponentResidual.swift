// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Coding of the residual of inter macroblocks of 4:4:4 pictures. The components have one
/// coded_block_pattern and one transform.
extension MacroblockCoder {
  /// The results of coding the components with one transform.
  private struct Trials {
    /// The sum of the components' costs.
    var cost = 0
    /// The 8x8 blocks of each component that have levels.
    var patterns: (UInt8, UInt8, UInt8) = (0, 0, 0)
    /// coded_block_pattern
    var pattern: UInt8 { patterns.0 | patterns.1 | patterns.2 }

    /// The pattern of a component.
    func pattern(of c: Int) -> UInt8 { c == 0 ? patterns.0 : c == 1 ? patterns.1 : patterns.2 }
  }

  /// Codes the residual of all components over the predictions in the reconstruction, with the
  /// transform that costs less.
  ///
  /// - Returns: the luma part of coded_block_pattern, transform_size_8x8_flag, and squared error
  ///   plus lambda times bits.
  mutating func codeInterComponentsByCost() -> (pattern: UInt8, transform8x8: Bool, cost: Int) {
    if stream.isLossless { return codeInterLossless() }
    let order = picture.settings.residual.transforms
    let eightFirst = stream.transform8x8Allowed && order == .eightFirst
    var useEight = eightFirst
    var best = tryComponents(eight: eightFirst)
    if stream.transform8x8Allowed && (best.pattern != 0 || order == .both) {
      let other = tryComponents(eight: !eightFirst)
      // Equal costs are decided for the 4x4 transform.
      if other.cost < best.cost || eightFirst && other.cost == best.cost {
        useEight = !eightFirst
        best = other
      }
    }
    clearComponentCounts()
    stream.codedBlocks[m] = 0
    if best.pattern == 0 { return (0, false, best.cost) }
    var coded: UInt16 = 0
    for c in 0..<3 {
      select(c)
      if best.pattern(of: c) != 0 { store(best.pattern(of: c), eight: useEight) }
      if c == 0 { coded = stream.codedBlocks[m] }
    }
    select(0)
    // bS depends on the levels of luma alone (8.7.2.1).
    stream.codedBlocks[m] = coded
    return (best.pattern, useEight, best.cost)
  }

  /// Codes all components with one transform.
  ///
  /// - Parameter eight: whether with the 8x8 transform.
  private mutating func tryComponents(eight: Bool) -> Trials {
    var trials = Trials()
    for c in 0..<3 {
      select(c)
      let zero = predictionErrors()
      let trial = eight ? try8x8(zero) : try4x4(zero)
      trials.cost &+= trial.cost
      switch c {
      case 0: trials.patterns.0 = trial.pattern
      case 1: trials.patterns.1 = trial.pattern
      default: trials.patterns.2 = trial.pattern
      }
    }
    select(0)
    return trials
  }
}
