// SPDX-License-Identifier: Apache-2.0

/// The constants of quantisation.
enum Quantiser {
  private static var factors: (Int, Int, Int, Int, Int, Int) {
    (26214, 23302, 20560, 18396, 16384, 14564)
  }

  /// The factor of a QP (that of `OVTHEVCResidualKernels.quantise`).
  @inline(__always) static func factor(_ qp: Int) -> Int {
    switch qp % 6 {
    case 0: factors.0
    case 1: factors.1
    case 2: factors.2
    case 3: factors.3
    case 4: factors.4
    default: factors.5
    }
  }
}

/// Sign data hiding where levels are not chosen by rate and distortion.
extension BlockCoder {
  /// Makes the parity of the levels of each group that hides a sign tell that sign (7.3.8.11: the
  /// sum of magnitudes is even for a positive first level). The level is changed that costs least.
  /// - Parameter qp: the QP of the component with QpBdOffset.
  /// - Returns: whether a level was changed.
  func hideSigns(
    _ levels: UnsafeMutablePointer<Int16>, log2Size: Int, qp: Int, groups: UInt64, scan: Int
  ) -> Bool {
    let order = tables.places + scan &* 16
    let shift = 29 &+ qp / 6 &- Sample.bitDepth &- log2Size
    let factor = Quantiser.factor(qp)
    var isChanged = false
    // The last group in scan order has no levels after its last one.
    let lastGroup = lastGroup(groups, log2Size, scan)
    var rest = groups
    while rest != 0 {
      let place = rest.trailingZeroBitCount
      rest &= rest &- 1
      let origin = (place &>> 3) &* 4 &<< log2Size &+ (place & 7) &* 4
      let mask = residualKernels.pointee.scanGroup(
        scanned, levels + origin, 1 &<< log2Size, Int32(scan))
      let first = mask.trailingZeroBitCount
      let last = 31 &- mask.leadingZeroBitCount
      guard last &- first > 3 else { continue }
      let isNegative = scanned[first] < 0
      var sum = 0
      for i in first...last { sum &+= Int(scanned[i]) }
      // A sum of levels has the parity of the sum of their magnitudes.
      guard (sum & 1 != 0) != isNegative else { continue }
      var best = Int.max
      var bestAt = -1
      var bestChange = 0
      var i = place == lastGroup ? last : 15
      while i >= 0 {
        let at = Int(order[i])
        let index = origin &+ (at &>> 2) &<< log2Size &+ (at & 3)
        let level = Int(scanned[i])
        let magnitude = level < 0 ? 0 &- level : level
        let coefficient = Int(coefficients[index])
        let absolute = coefficient < 0 ? 0 &- coefficient : coefficient
        // The distance to the unquantised value in 256ths of a step.
        let distance = (absolute &* factor) &>> (shift &- 8) &- magnitude &<< 8
        var cost = Int.max
        var change = 1
        if magnitude != 0 {
          if distance > 0 {
            cost = 0 &- distance
          } else if !(i == first && magnitude == 1) {
            cost = distance
            change = -1
            // A level that vanishes saves its bits.
            if magnitude == 1 { cost &-= 128 }
          }
          if change == 1 && magnitude >= 32766 { cost = Int.max }
        } else if i > first || (coefficient < 0) == isNegative {
          // A new level costs more bits than a larger one.
          cost = 128 &- distance
        }
        if cost < best {
          best = cost
          bestAt = index
          bestChange = change
        }
        i &-= 1
      }
      guard bestAt >= 0 else { continue }
      let level = Int(levels[bestAt])
      let isDown = level != 0 ? level < 0 : coefficients[bestAt] < 0
      levels[bestAt] = Int16(truncatingIfNeeded: isDown ? level &- bestChange : level &+ bestChange)
      isChanged = true
    }
    return isChanged
  }

  /// The place of the last group in scan order.
  @inline(__always) private func lastGroup(_ groups: UInt64, _ log2Size: Int, _ scan: Int) -> Int {
    if log2Size == 2 { return 0 }
    var rest = groups
    var best = 0
    var bestPosition = -1
    while rest != 0 {
      let place = rest.trailingZeroBitCount
      rest &= rest &- 1
      let (x, y) = (place & 7, place &>> 3)
      let position: Int
      switch scan {
      case 1: position = y &* 8 &+ x
      case 2: position = x &* 8 &+ y
      // Up-right diagonals: from below left to above right.
      default: position = (x &+ y) &* 16 &+ x
      }
      if position > bestPosition {
        bestPosition = position
        best = place
      }
    }
    return best
  }
}
