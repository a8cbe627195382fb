// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import CVideoKernels
import VideoEncoding

/// Writes residual_coding() (7.3.8.11) with sign data hiding and transform skip.
struct ResidualWriter: BitwiseCopyable {
  private let tables: ScanTables
  private let kernels: UnsafePointer<OVTHEVCResidualKernels>

  init(
    kernels: UnsafePointer<OVTHEVCResidualKernels>, tables: ScanTables
  ) {
    self.kernels = kernels
    self.tables = tables
  }

  /// The group of a last position (7.4.9.11: last_sig_coeff_x_prefix or last_sig_coeff_y_prefix).
  @inline(__always) static func lastPrefix(_ position: Int) -> Int {
    if position < 4 { return position }
    let log2 = Int.bitWidth - 1 - position.leadingZeroBitCount
    return 2 &* log2 &+ (position >> (log2 &- 1) & 1)
  }

  @inline(__always) private static func writeLastPrefix(
    _ prefix: Int, _ engine: inout CABACEngine, _ context: Int, shift: Int, most: Int
  ) {
    var i = 0
    while i < prefix {
      engine.encode(1, context &+ (i &>> shift))
      i &+= 1
    }
    if prefix < most { engine.encode(0, context &+ (prefix &>> shift)) }
  }

  @inline(__always) private static func writeLastSuffix(
    _ position: Int, _ prefix: Int, _ engine: inout CABACEngine
  ) {
    guard prefix > 3 else { return }
    let bits = (prefix &>> 1) &- 1
    engine.bypass(UInt32(truncatingIfNeeded: position & ((1 &<< bits) &- 1)), bits)
  }

  /// coeff_abs_level_remaining (9.3.3.11).
  @inline(__always) private static func writeRemaining(
    _ value: Int, rice: Int, _ engine: inout CABACEngine
  ) {
    if value < 3 &<< rice {
      let prefix = value &>> rice
      // `prefix` ones, a zero, and `rice` bits.
      let bins = ((1 &<< (prefix &+ 1)) &- 2) &<< rice | (value & ((1 &<< rice) &- 1))
      engine.bypass(UInt32(truncatingIfNeeded: bins), prefix &+ 1 &+ rice)
      return
    }
    var rest = value &- 3 &<< rice
    var length = rice
    while rest >= 1 &<< length {
      rest &-= 1 &<< length
      length &+= 1
    }
    let prefix = 4 &+ length &- rice
    var ones = (1 &<< prefix) &- 2
    var left = prefix
    if left > 16 {
      engine.bypass(UInt32(truncatingIfNeeded: ones &>> 16), left &- 16)
      ones &= 0xFFFF
      left = 16
    }
    engine.bypass(UInt32(truncatingIfNeeded: ones), left)
    if length > 16 {
      engine.bypass(UInt32(truncatingIfNeeded: rest &>> 16), length &- 16)
      rest &= 0xFFFF
      length = 16
    }
    engine.bypass(UInt32(truncatingIfNeeded: rest), length)
  }

  /// Writes a transform block that has levels.
  /// - Parameters:
  ///   - levels: the levels in raster order.
  ///   - log2Size: log2 of the size, 2...5.
  ///   - isChroma: whether it is of Cb or Cr.
  ///   - scan: scanIdx, OVT_HEVC_SCAN_*.
  ///   - skipsTransform: transform_skip_flag, which blocks of 4x4 samples have.
  ///   - outer: the engine.
  func write(
    _ levels: UnsafePointer<Int16>, log2Size: Int, isChroma: Bool, scan: Int,
    skipsTransform: Bool = false, _ outer: inout CABACEngine
  ) {
    var engine = outer
    if log2Size == 2 {
      engine.encode(skipsTransform ? 1 : 0, Contexts.transformSkip &+ (isChroma ? 1 : 0))
    }
    var info = OVTHEVCLevels()
    kernels.pointee.describe(levels, Int32(log2Size), &info)
    let groups = info.groups
    let size = 1 &<< log2Size
    let groupOrder = tables.groupPlaces + (scan &* 4 + log2Size &- 2) &* 64
    let inGroup = tables.places + scan &* 16

    // The last group in scan order that has a level.
    var lastGroup = 1 &<< (2 &* (log2Size &- 2)) &- 1
    while groups &>> UInt64(groupOrder[lastGroup]) & 1 == 0 { lastGroup &-= 1 }

    withUnsafeTemporaryAllocation(of: Int16.self, capacity: 16) { buffer in
      guard let values = buffer.baseAddress else { return }
      var group = lastGroup
      var hasPrevious = false
      var previousGreater1 = 1
      let significanceBase = Contexts.significant &+ (isChroma ? 27 : 0)
      while group >= 0 {
        let place = Int(groupOrder[group])
        let (gx, gy) = (place & 7, place &>> 3)
        var isCoded = groups &>> UInt64(place) & 1 == 1
        let right = gx < (size &>> 2) &- 1 ? Int(groups &>> UInt64(place &+ 1) & 1) : 0
        let below = gy < (size &>> 2) &- 1 ? Int(groups &>> UInt64(place &+ 8) & 1) : 0
        var mask: UInt32 = 0
        if isCoded {
          mask = kernels.pointee.scanGroup(
            values, levels + (gy &* 4 &* size + gx &* 4), size, Int32(scan))
        }
        if group < lastGroup && group > 0 {
          engine.encode(
            isCoded ? 1 : 0, Contexts.codedGroup &+ (isChroma ? 2 : 0) &+ (right | below))
          if !isCoded {
            group &-= 1
            continue
          }
        }
        // The group of the first coefficient counts as coded, whether it has a level or not.
        isCoded = true
        let sigMap = tables.significance + (log2Size == 2 ? 0 : 16 + 16 &* (right | below &<< 1))
        var sigOffset = significanceBase
        if log2Size > 2 {
          if isChroma {
            sigOffset &+= log2Size == 3 ? 9 : 12
          } else {
            if place != 0 { sigOffset &+= 3 }
            sigOffset &+= log2Size == 3 ? (scan == 0 ? 9 : 15) : 21
          }
        }
        var position = 15
        if group == lastGroup {
          position = 31 &- mask.leadingZeroBitCount
          let at = Int(inGroup[position])
          var x = gx &* 4 &+ (at & 3)
          var y = gy &* 4 &+ (at &>> 2)
          if scan == 2 { swap(&x, &y) }
          let (px, py) = (Self.lastPrefix(x), Self.lastPrefix(y))
          let most = 2 &* log2Size &- 1
          let offset = isChroma ? 15 : 3 &* (log2Size &- 2) &+ ((log2Size &- 1) &>> 2)
          let shift = isChroma ? log2Size &- 2 : (log2Size &+ 1) &>> 2
          Self.writeLastPrefix(px, &engine, Contexts.lastX &+ offset, shift: shift, most: most)
          Self.writeLastPrefix(py, &engine, Contexts.lastY &+ offset, shift: shift, most: most)
          Self.writeLastSuffix(x, px, &engine)
          Self.writeLastSuffix(y, py, &engine)
          position &-= 1
        }
        // Whether the first coefficient of the group is known to be significant.
        let infers = group > 0 && group < lastGroup
        while position > 0 {
          let bit = mask &>> UInt32(position) & 1
          engine.encode(bit, sigOffset &+ Int(sigMap[Int(inGroup[position])]))
          position &-= 1
        }
        if position == 0 && !(infers && mask == 1) {
          let context =
            place == 0 ? significanceBase : sigOffset &+ Int(sigMap[0])
          engine.encode(mask & 1, context)
        }
        if mask == 0 {
          group &-= 1
          continue
        }
        // Magnitudes, the last in scan order first.
        var contextSet = place == 0 && group == 0 || isChroma ? 0 : 2
        if hasPrevious && previousGreater1 == 0 { contextSet &+= 1 }
        hasPrevious = true
        var greater1 = 1
        let greater1Base = Contexts.greater1 &+ contextSet &* 4 &+ (isChroma ? 16 : 0)
        var rest = mask
        var signs: UInt32 = 0
        var count = 0
        var firstGreater = -1
        let lastPosition = 31 &- mask.leadingZeroBitCount
        let firstPosition = mask.trailingZeroBitCount
        while rest != 0 {
          let at = 31 &- rest.leadingZeroBitCount
          rest &= ~(1 &<< UInt32(at))
          let value = Int(values[at])
          let magnitude = value < 0 ? 0 &- value : value
          signs = signs &<< 1 | (value < 0 ? 1 : 0)
          if count < 8 {
            let isGreater = magnitude > 1
            engine.encode(isGreater ? 1 : 0, greater1Base &+ greater1)
            if isGreater {
              greater1 = 0
              if firstGreater < 0 { firstGreater = at }
            } else if greater1 > 0 && greater1 < 3 {
              greater1 &+= 1
            }
          }
          count &+= 1
        }
        previousGreater1 = greater1
        if firstGreater >= 0 {
          let value = Int(values[firstGreater])
          let magnitude = value < 0 ? 0 &- value : value
          engine.encode(
            magnitude > 2 ? 1 : 0, Contexts.greater2 &+ contextSet &+ (isChroma ? 4 : 0))
        }
        if lastPosition &- firstPosition > 3 {
          engine.bypass(signs &>> 1, count &- 1)
        } else {
          engine.bypass(signs, count)
        }
        rest = mask
        var index = 0
        var rice = 0
        while rest != 0 {
          let at = 31 &- rest.leadingZeroBitCount
          rest &= ~(1 &<< UInt32(at))
          let value = Int(values[at])
          let magnitude = value < 0 ? 0 &- value : value
          let base = index < 8 ? (at == firstGreater ? 3 : 2) : 1
          if magnitude >= base {
            Self.writeRemaining(magnitude &- base, rice: rice, &engine)
            if magnitude > 3 &<< rice && rice < 4 { rice &+= 1 }
          }
          index &+= 1
        }
        group &-= 1
      }
    }
    outer = engine
  }
}
