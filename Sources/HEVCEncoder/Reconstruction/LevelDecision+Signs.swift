// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels

/// Rate-distortion optimised sign data hiding (signHidden, 7.3.8.11).
extension LevelDecision {
  /// Makes the parity of the levels of each group that hides a sign tell that sign: the sum of
  /// magnitudes is even for a positive first level.
  /// - Parameters:
  ///   - groups: the groups that have levels.
  ///   - lastPlace: the group of the last level, behind which no level may come.
  /// - Returns: the bits that this adds, in 256ths, less those of the hidden signs.
  func hideSigns(
    _ levels: UnsafeMutablePointer<Int16>, _ coefficients: UnsafePointer<Int16>, _ block: Block,
    _ order: UnsafePointer<UInt8>, groups: UInt64, lastPlace: Int, _ distortionScale: DistortionScale
  ) -> Int {
    let log2Size = block.log2Size
    var added = 0
    var rest = groups
    while rest != 0 {
      let place = rest.trailingZeroBitCount
      rest &= rest &- 1
      let origin = (place &>> 3) &* 4 &<< log2Size &+ (place & 7) &* 4
      let mask = kernels.pointee.scanGroup(values, levels + origin, 1 &<< log2Size, Int32(block.scan))
      let first = mask.trailingZeroBitCount
      let last = 31 &- mask.leadingZeroBitCount
      guard last &- first > 3 else { continue }
      added &-= 256
      let isNegative = values[first] < 0
      var sum = 0
      for i in first...last { sum &+= Int(values[i]) }
      // A sum of levels has the parity of the sum of their magnitudes.
      guard (sum & 1 != 0) != isNegative else { continue }
      var best = Int.max
      var bestAt = -1
      var bestChange = 0
      var bestBits = 0
      var i = place == lastPlace ? last : 15
      while i >= 0 {
        let at = Int(order[i])
        let index = origin &+ (at &>> 2) &<< log2Size &+ (at & 3)
        let level = Int(values[i])
        let magnitude = level < 0 ? 0 &- level : level
        let coefficient = Int(coefficients[index])
        let absolute = coefficient < 0 ? 0 &- coefficient : coefficient
        let error = (absolute &* distortionScale.factor) &>> distortionScale.shift &- magnitude &<< 8
        // The squared error changes by 256 (256 -+ 2 error).
        if magnitude == 0 {
          if error > 32 && (i > first || (coefficient < 0) == isNegative) {
            let bits = newLevelBits(block, place: place, at: at, isFirst: i == 0)
            let cost = 256 &* (256 &- 2 &* error) &+ (distortionScale.lambda &* bits) &>> 8
            if cost < best { (best, bestAt, bestChange, bestBits) = (cost, index, 1, bits) }
          }
          i &-= 1
          continue
        }
        let context = contexts[index]
        let present = levelBits(magnitude, context)
        if error > 0 && magnitude < 32766 {
          let bits = levelBits(magnitude &+ 1, context) &- present
          let cost = 256 &* (256 &- 2 &* error) &+ (distortionScale.lambda &* bits) &>> 8
          if cost < best { (best, bestAt, bestChange, bestBits) = (cost, index, 1, bits) }
        }
        // Without its first level the group would hide another sign.
        if !(i == first && magnitude == 1) {
          let bits: Int
          if magnitude > 1 {
            bits = levelBits(magnitude &- 1, context) &- present
          } else {
            let significance = Int(context.significance)
            bits = costs.bits(0, significance) &- costs.bits(1, significance) &- present
          }
          let cost = 256 &* (256 &+ 2 &* error) &+ (distortionScale.lambda &* bits) &>> 8
          if cost < best { (best, bestAt, bestChange, bestBits) = (cost, index, -1, bits) }
        }
        i &-= 1
      }
      guard bestAt >= 0 else { continue }
      let level = Int(levels[bestAt])
      added &+= bestBits
      let isDown = level != 0 ? level < 0 : coefficients[bestAt] < 0
      levels[bestAt] = Int16(truncatingIfNeeded: isDown ? level &- bestChange : level &+ bestChange)
    }
    return added
  }

  /// The bits that a level takes where there was none, in 256ths, as if it followed levels of one.
  private func newLevelBits(_ block: Block, place: Int, at: Int, isFirst: Bool) -> Int {
    let contexts = Int(groupContexts[place])
    let map = tables.significance + (block.log2Size == 2 ? 0 : 16 &+ 16 &* (contexts & 3))
    var significance = Contexts.significant &+ (block.isChroma ? 27 : 0)
    if !isFirst || place != 0 {
      significance &+= Self.significanceOffset(block, place: place) &+ Int(map[at])
    }
    let greater1 = Contexts.greater1 &+ contexts &>> 2 &* 4 &+ (block.isChroma ? 17 : 1)
    return costs.bits(1, significance) &- costs.bits(0, significance) &+ 256 &+ costs.bits(0, greater1)
  }
}
