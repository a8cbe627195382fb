// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoEncoding

/// Tables for temporal direct prediction (8.4.1.2.3) from the colocated picture, the first of list
/// 1. They are indexed by the reference of a colocated block as `StoredMotion.references` has it.
struct TemporalDirect {
  /// refIdxL0 (MapColToList0): the lowest index in list 0 of the picture that the colocated block
  /// refers to; -1 where list 0 does not have it.
  let indices: UnsafeMutablePointer<Int8>
  /// DistScaleFactor (8-197); `unscaled` where mvL0 is mvCol itself.
  let scales: UnsafeMutablePointer<Int16>

  /// Stands for a vector that is not scaled; DistScaleFactor itself is -1024 to 1023.
  static let unscaled = Int16.max

  /// Allocates the tables.
  ///
  /// - Parameter memory: owns the tables.
  init(memory: inout EncoderMemory) {
    indices = memory.allocate(Int8.self, count: 2 * ReferencePlanes.list1)
    scales = memory.allocate(Int16.self, count: 2 * ReferencePlanes.list1)
  }

  /// Fills the tables for a B picture, all of whose reference pictures are short-term.
  ///
  /// Pictures are identified by PicOrderCnt, which is unique among the reference pictures of a B
  /// picture and of its colocated picture.
  ///
  /// - Parameters:
  ///   - plan: the picture's plan: its PicOrderCnt and number of reference pictures.
  ///   - references: the reference pictures, those of list 1 from `ReferencePlanes.list1` on.
  func set(_ plan: PicturePlan, _ references: UnsafePointer<ReferencePlanes>) {
    let colocated = references[ReferencePlanes.list1]
    for i in 0..<2 * ReferencePlanes.list1 { indices[i] = -1 }
    guard let stored = colocated.storedMotion else { return }
    for i in 0..<2 * ReferencePlanes.list1 {
      for j in 0..<plan.referenceCount where references[j].orderCount == stored.orderCounts[i] {
        indices[i] = Int8(j)
        scales[i] = Self.scale(
          current: plan.orderCount, Int(references[j].orderCount), Int(colocated.orderCount))
        break
      }
    }
  }

  /// Computes DistScaleFactor (8.4.1.2.3).
  ///
  /// - Parameters:
  ///   - current: PicOrderCnt of the current picture.
  ///   - count0: PicOrderCnt of the reference picture in list 0.
  ///   - count1: PicOrderCnt of the reference picture in list 1.
  /// - Returns: the factor, -1024 to 1023, or `unscaled` where both reference pictures have the
  ///   same PicOrderCnt.
  static func scale(current: Int, _ count0: Int, _ count1: Int) -> Int16 {
    let tb = min(max(current - count0, -128), 127)
    let td = min(max(count1 - count0, -128), 127)
    if td == 0 { return unscaled }
    let tx = (16384 + abs(td / 2)) / td
    return Int16(min(max((tb * tx + 32) >> 6, -1024), 1023))
  }
}

/// The costs of macroblocks of a B picture, added up, if direct prediction were spatial and if it
/// were temporal: for each macroblock the cost of direct prediction, or that of its other motion
/// where this is cheaper.
struct DirectCosts: Equatable {
  /// The costs with spatial direct prediction: SAD or SATD plus lambda times bits.
  var spatial = 0
  /// The costs with temporal direct prediction, in the unit of `spatial`.
  var temporal = 0

  static func += (a: inout DirectCosts, b: DirectCosts) {
    a.spatial &+= b.spatial
    a.temporal &+= b.temporal
  }
}

extension MacroblockCoder {
  /// The estimated bits of a macroblock with direct prediction, without its residual.
  static let directBits: Int32 = 2

  /// Whether spatial and temporal direct prediction are compared for this macroblock: one in four
  /// is, where the picture asks for it.
  @inline(__always) var comparesDirect: Bool { picture.comparesDirect && (mbX &+ 2 &* mbY) & 3 == 0 }

  /// Computes the cost of the direct prediction that the slice does not use (temporal if it is
  /// spatial, and the other way round). Overwrites the macroblock's reconstructed luma, its grids
  /// and `directMotion`.
  ///
  /// - Returns: distortion plus lambda times bits; `Int32.max` where the prediction is not
  ///   possible.
  mutating func otherDirectCost() -> Int32 {
    let other = picture.usesTemporalDirect ? inferSpatialMotion() : inferTemporalMotion()
    if !other.isAllowed { return Int32.max }
    setDirect()
    predictLumaBidirectional(other.division)
    return distortion(shape: 0, source, reconstruction, stride) &+ (lambda &* MacroblockCoder.directBits) >> 4
  }

  /// Adds the macroblock to `directCosts`.
  ///
  /// - Parameters:
  ///   - own: the cost of direct prediction as the slice does it.
  ///   - other: the cost of the other direct prediction.
  ///   - limit: the cost of the best motion without direct prediction.
  mutating func addDirectCosts(_ own: Int32, other: Int32, limit: Int32) {
    let own = Int(min(own, limit))
    let other = Int(min(other, limit))
    directCosts +=
      picture.usesTemporalDirect
      ? DirectCosts(spatial: other, temporal: own) : DirectCosts(spatial: own, temporal: other)
  }

  /// Derives the motion of temporal direct prediction (8.4.1.2.3) into `directMotion`: the
  /// colocated vectors, scaled by distances in time.
  ///
  /// - Returns: whether the motion is uniform and possible.
  mutating func inferTemporalMotion() -> DirectMotion {
    let d = directMotion
    var result = DirectMotion(isUniform: true, isAllowed: true)
    guard let colocated = stream.references[ReferencePlanes.list1].storedMotion else {
      return DirectMotion(isUniform: true, isAllowed: false)
    }
    for i in 0..<4 {
      var index: Int8 = 0
      var (v0, v1) = (MotionVector.zero, MotionVector.zero)
      let reference = Int(colocated.references[m &* 4 &+ i])
      // A colocated intra block gives zero vectors and refIdxL0 0.
      if reference >= 0 {
        index = stream.temporalDirect.indices[reference]
        let v = colocated.vectors[m &* 4 &+ i]
        if index < 0 {
          result.isAllowed = false
          index = 0
        } else if v != .zero {
          let scale = stream.temporalDirect.scales[reference]
          v0 = v
          if scale != TemporalDirect.unscaled {
            let x = (Int(scale) &* Int(v.x) &+ 128) >> 8
            let y = (Int(scale) &* Int(v.y) &+ 128) >> 8
            v0 = MotionVector(Int16(clamping: x), Int16(clamping: y))
            v1 = MotionVector(Int16(clamping: x &- Int(v.x)), Int16(clamping: y &- Int(v.y)))
          }
          if !isWithinLimits(v0) || !isWithinLimits(v1) { result.isAllowed = false }
        }
      }
      d.vectors[i] = v0
      d.vectors[i &+ 4] = v1
      d.references[i] = index
      d.references[i &+ 4] = 0
      if index != d.references[0] || v0 != d.vectors[0] || v1 != d.vectors[4] { result.isUniform = false }
    }
    return result
  }
}
