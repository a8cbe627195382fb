// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Rate-distortion optimised levels.
///
/// Quantisation rounds nearly to the nearest level; here each level may become one smaller, and the list may
/// end earlier, where that saves more bits than it costs error. Errors are counted in units of the step
/// size, which makes lambda the same for every QP: lambda = 0.85 * 2^((QP - 12) / 3) over step squared.
extension MacroblockCoder {
  /// lambda per sixteenth of a bit, errors being squares of 1/256 steps. In theory 0.136 * 65536 / 16 = 557;
  /// what is lost here is also lost to the pictures that refer to this one, so about 0.7 of that is best.
  static let usualRDOQLambda = 390
  /// The same in B pictures that no other refers to: what is lost there is lost to one picture alone.
  static let rdoqLambdaNonReference = 500

  /// - Parameters:
  ///   - level: the list in scan order, changed in place.
  ///   - coef: the same levels in raster order, changed alike.
  ///   - original: the coefficients before quantisation, raster order.
  ///   - first: first position of the list (1 where DC is apart).
  /// - Returns: a bit for each level that is not zero.
  @inline(__always) mutating func optimiseLevels(
    _ level: UnsafeMutablePointer<Int16>, _ coef: UnsafeMutablePointer<Int16>,
    original: UnsafePointer<Int16>, multiplier: UnsafePointer<UInt16>, scan: UnsafePointer<UInt8>,
    mask: UInt64, first: Int, is8x8: Bool, lambda: Int
  ) -> UInt64 {
    let zeroFlag = is8x8 ? 7 : 11
    var rest = mask
    var result = mask
    // Cost of everything coded so far less what leaving it out would cost; the list as it stands ends at
    // the position where this is least.
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
        // Zero, with one more flag for an empty position.
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
        // Its position costs a flag if anything follows; its error is there in any case.
        continue
      }
      saved &+= gap &+ cost &- e0 &* e0
      next = i &+ 1
      if saved < best {
        best = saved
        bestMask = result & ((2 << UInt64(i)) &- 1)
      }
    }
    // Leave out what comes after the best end.
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
