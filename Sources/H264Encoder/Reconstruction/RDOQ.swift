// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Rate-distortion optimised quantisation.
///
/// Levels are first rounded to the nearest. Then each level may be lowered by one, and the list may
/// end earlier, where lambda times the bits that this saves exceeds the added squared error. Errors
/// are in units of the quantisation step, so that lambda is the same for all QPs: 0.85 * 2^((QP -
/// 12) / 3) / step^2.
extension MacroblockCoder {
  /// Lambda for a sixteenth of a bit, where errors are in squares of 1/256 step. The theoretical
  /// value is 0.136 * 65536 / 16 = 557. About 0.7 of it is best, as errors are propagated to the
  /// pictures that refer to this one.
  static let defaultRDOQLambda = 390
  /// The same lambda in B pictures that no other picture refers to, whose errors are not
  /// propagated.
  static let rdoqLambdaNonReference = 500

  /// Chooses the levels of a block by rate and distortion.
  ///
  /// - Parameters:
  ///   - level: the levels in scan order; is changed.
  ///   - coef: the same levels in raster order; is changed alike.
  ///   - original: the coefficients before quantisation, in raster order.
  ///   - multiplier: the multipliers of quantisation, in raster order.
  ///   - scan: the raster position of each scan position.
  ///   - mask: a bit for each level that is not zero, in scan order.
  ///   - first: the first scan position that counts: 1 where DC is coded separately, else 0.
  ///   - is8x8: whether the transform is 8x8.
  ///   - lambda: lambda for a sixteenth of a bit, in the units of `defaultRDOQLambda`.
  /// - Returns: a bit for each level that is not zero now, in scan order.
  @inline(__always) mutating func optimiseLevels(
    _ level: UnsafeMutablePointer<Int16>, _ coef: UnsafeMutablePointer<Int16>,
    original: UnsafePointer<Int16>, multiplier: UnsafePointer<UInt16>, scan: UnsafePointer<UInt8>,
    mask: UInt64, first: Int, is8x8: Bool, lambda: Int
  ) -> UInt64 {
    let zeroFlag = is8x8 ? 7 : 11
    var rest = mask
    var result = mask
    // The cost of all levels so far minus the cost without them. The list ends at the position
    // where this is least.
    var saved = 0
    var best = lambda &* 8
    var bestMask: UInt64 = 0
    var next = first
    saved = lambda &* 14
    while rest != 0 {
      let i = rest.trailingZeroBitCount
      rest &= rest &- 1
      let r = Int(scan[i])
      let magnitude = Int(original[r].magnitude)
      let exact = (magnitude &* Int(multiplier[r])) >> 8
      let size = Int(level[i].magnitude)
      let e = exact &- size &* 256
      var cost = e &* e &+ lambda &* (28 &+ Int(ovt_level_size_bits(Int32(size))))
      let e0 = exact
      let gap = (i &- next) &* zeroFlag &* lambda
      var kept = size
      if size > 1 {
        let e1 = e &+ 256
        let lower = e1 &* e1 &+ lambda &* (28 &+ Int(ovt_level_size_bits(Int32(size &- 1))))
        if lower < cost {
          cost = lower
          kept = size &- 1
        }
      } else {
        // Zero: the flag of an empty position.
        let none = e0 &* e0 &+ lambda &* zeroFlag
        if none < cost {
          kept = 0
        }
      }
      if kept != size {
        let sign: Int16 = level[i] < 0 ? -1 : 1
        let value = sign &* Int16(truncatingIfNeeded: kept)
        level[i] = value
        coef[r] = value
      }
      if kept == 0 {
        result &= ~(1 << UInt64(i))
        // Its position takes a flag only if a level follows, for which `gap` counts it. Its error
        // does not depend on where the list ends.
        continue
      }
      saved &+= gap &+ cost &- e0 &* e0
      next = i &+ 1
      if saved < best {
        best = saved
        bestMask = result & ((2 << UInt64(i)) &- 1)
      }
    }
    // Drop the levels after the best end.
    var drop = result & ~bestMask
    while drop != 0 {
      let i = drop.trailingZeroBitCount
      drop &= drop &- 1
      level[i] = 0
      coef[Int(scan[i])] = 0
    }
    return bestMask
  }
}
