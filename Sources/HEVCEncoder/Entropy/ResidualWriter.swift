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
    let order = UnsafePointer(tables.places + scan &* 16)

    // The last group in scan order that has a level.
    var lastGroup = 1 &<< (2 &* (log2Size &- 2)) &- 1
    while groups &>> UInt64(groupOrder[lastGroup]) & 1 == 0 { lastGroup &-= 1 }

    withUnsafeTemporaryAllocation(of: Int16.self, capacity: 16) { buffer in
      guard let values = buffer.baseAddress else { return }
      var group = lastGroup
      // Whether the group before ended with greater1Ctx equal to 0.
      var followsGreater = false
      while group >= 0 {
        let place = Int(groupOrder[group])
        let (gx, gy) = (place & 7, place &>> 3)
        let isCoded = groups &>> UInt64(place) & 1 == 1
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
        let map = UnsafePointer(
          tables.significance + (log2Size == 2 ? 0 : 16 + 16 &* (right | below &<< 1)))
        let offset = Self.significanceOffset(
          log2Size: log2Size, isChroma: isChroma, scan: scan, place: place)
        var position = 15
        if group == lastGroup {
          position = 31 &- mask.leadingZeroBitCount
          let at = Int(order[position])
          var (x, y) = (gx &* 4 &+ (at & 3), gy &* 4 &+ (at &>> 2))
          if scan == 2 { swap(&x, &y) }
          Self.writeLast(x, y, log2Size: log2Size, isChroma: isChroma, &engine)
          position &-= 1
        }
        Self.writeSignificance(
          mask, from: position, order, map, offset, isFirst: place == 0, isChroma: isChroma,
          infers: group > 0 && group < lastGroup, &engine)
        if mask != 0 {
          let set = (group == 0 || isChroma ? 0 : 2) &+ (followsGreater ? 1 : 0)
          followsGreater = Self.writeLevels(values, mask, set: set, isChroma: isChroma, &engine)
        }
        group &-= 1
      }
    }
    outer = engine
  }

  /// The part of the context of sig_coeff_flag that follows from the block and the group.
  @inline(__always) private static func significanceOffset(
    log2Size: Int, isChroma: Bool, scan: Int, place: Int
  ) -> Int {
    var offset = Contexts.significant &+ (isChroma ? 27 : 0)
    if log2Size > 2 {
      if isChroma {
        offset &+= log2Size == 3 ? 9 : 12
      } else {
        if place != 0 { offset &+= 3 }
        offset &+= log2Size == 3 ? (scan == 0 ? 9 : 15) : 21
      }
    }
    return offset
  }

  /// The position of the last level: last_sig_coeff_x_prefix and following.
  @inline(__always) private static func writeLast(
    _ x: Int, _ y: Int, log2Size: Int, isChroma: Bool, _ engine: inout CABACEngine
  ) {
    let (px, py) = (lastPrefix(x), lastPrefix(y))
    let most = 2 &* log2Size &- 1
    let offset = isChroma ? 15 : 3 &* (log2Size &- 2) &+ ((log2Size &- 1) &>> 2)
    let shift = isChroma ? log2Size &- 2 : (log2Size &+ 1) &>> 2
    writeLastPrefix(px, &engine, Contexts.lastX &+ offset, shift: shift, most: most)
    writeLastPrefix(py, &engine, Contexts.lastY &+ offset, shift: shift, most: most)
    writeLastSuffix(x, px, &engine)
    writeLastSuffix(y, py, &engine)
  }

  /// sig_coeff_flag of the positions of a group.
  /// - Parameters:
  ///   - mask: the positions that have levels.
  ///   - first: the first position to write, in decreasing order.
  ///   - isFirst: whether the group contains the DC coefficient.
  ///   - infers: whether position 0 is known to have a level where no other has one.
  @inline(__always) private static func writeSignificance(
    _ mask: UInt32, from first: Int, _ order: UnsafePointer<UInt8>, _ map: UnsafePointer<UInt8>,
    _ offset: Int, isFirst: Bool, isChroma: Bool, infers: Bool, _ engine: inout CABACEngine
  ) {
    var position = first
    while position > 0 {
      let bit = mask &>> UInt32(position) & 1
      engine.encode(bit, offset &+ Int(map[Int(order[position])]))
      position &-= 1
    }
    if position == 0 && !(infers && mask == 1) {
      let context =
        isFirst ? Contexts.significant &+ (isChroma ? 27 : 0) : offset &+ Int(map[0])
      engine.encode(mask & 1, context)
    }
  }

  /// Magnitudes and signs of a group, the last in scan order first.
  /// - Parameters:
  ///   - values: the levels in scan order.
  ///   - mask: the positions that have levels; not 0.
  ///   - set: the context set (9.3.4.2.6).
  /// - Returns: whether greater1Ctx is 0 after the last of them.
  @inline(__always) private static func writeLevels(
    _ values: UnsafePointer<Int16>, _ mask: UInt32, set: Int, isChroma: Bool,
    _ engine: inout CABACEngine
  ) -> Bool {
    var greater1 = 1
    let greater1Base = Contexts.greater1 &+ set &* 4 &+ (isChroma ? 16 : 0)
    var rest = mask
    var signs: UInt32 = 0
    var count = 0
    var firstGreater = -1
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
    if firstGreater >= 0 {
      let value = Int(values[firstGreater])
      let magnitude = value < 0 ? 0 &- value : value
      engine.encode(magnitude > 2 ? 1 : 0, Contexts.greater2 &+ set &+ (isChroma ? 4 : 0))
    }
    // The sign of the first level is hidden (signHidden).
    let span = 31 &- mask.leadingZeroBitCount &- mask.trailingZeroBitCount
    if span > 3 {
      engine.bypass(signs &>> 1, count &- 1)
    } else {
      engine.bypass(signs, count)
    }
    writeRemaining(values, mask, firstGreater: firstGreater, &engine)
    return greater1 == 0
  }

  /// coeff_abs_level_remaining of the levels of a group.
  /// - Parameter firstGreater: the position of the level with coeff_abs_level_greater2_flag; -1
  ///   where there is none.
  @inline(__always) private static func writeRemaining(
    _ values: UnsafePointer<Int16>, _ mask: UInt32, firstGreater: Int, _ engine: inout CABACEngine
  ) {
    var rest = mask
    var index = 0
    var rice = 0
    while rest != 0 {
      let at = 31 &- rest.leadingZeroBitCount
      rest &= ~(1 &<< UInt32(at))
      let value = Int(values[at])
      let magnitude = value < 0 ? 0 &- value : value
      let base = index < 8 ? (at == firstGreater ? 3 : 2) : 1
      if magnitude >= base {
        writeRemaining(magnitude &- base, rice: rice, &engine)
        if magnitude > 3 &<< rice && rice < 4 { rice &+= 1 }
      }
      index &+= 1
    }
  }
}
