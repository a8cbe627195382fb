// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// How direct blocks of a B picture take the motion of the colocated reconstruction, the first of list 1 (8.4.1.2.3), by
/// what that refers to (`StoredMotion.references`).
struct TemporalDirect {
  /// MapColToList0: the least index in list 0 of the same picture; -1 where list 0 does not have it.
  let indices: UnsafeMutablePointer<Int8>
  /// DistScaleFactor (8-197); `unscaled` where the vector is taken as it is.
  let scales: UnsafeMutablePointer<Int16>

  /// No DistScaleFactor, which are -1024...1023.
  static let unscaled = Int16.max

  init(memory: inout EncoderMemory) {
    indices = memory.allocate(Int8.self, count: 2 * ReferencePlanes.list1)
    scales = memory.allocate(Int16.self, count: 2 * ReferencePlanes.list1)
  }

  /// Makes ready for a B reconstruction, all of whose references are short-term. Pictures are told apart by PicOrderCnt, which no two
  /// that a B picture and its colocated picture refer to share.
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

  /// `count0` and `count1`: PicOrderCnt of the pictures in list 0 and list 1.
  static func scale(current: Int, _ count0: Int, _ count1: Int) -> Int16 {
    let tb = min(max(current - count0, -128), 127)
    let td = min(max(count1 - count0, -128), 127)
    if td == 0 { return unscaled }
    let tx = (16384 + abs(td / 2)) / td
    return Int16(min(max((tb * tx + 32) >> 6, -1024), 1023))
  }
}

/// What macroblocks cost with spatial and with temporal direct, or by whatever is cheaper than that.
struct DirectCosts: Equatable {
  var spatial = 0
  var temporal = 0

  static func += (a: inout DirectCosts, b: DirectCosts) {
    a.spatial &+= b.spatial
    a.temporal &+= b.temporal
  }
}

extension MacroblockCoder {
  /// Bits that direct prediction is taken to cost.
  static let directBits: Int32 = 2

  /// Whether both ways are compared for the macroblock at hand: one in four.
  @inline(__always) var comparesDirect: Bool { picture.comparesDirect && (mbX &+ 2 &* mbY) & 3 == 0 }

  /// The distortion that the way would leave which the slice does not take. Overwrites the macroblock's luma, its grids
  /// and `directMotion`.
  mutating func otherDirectCost() -> Int32 {
    let other = picture.infersTemporally ? inferSpatialMotion() : inferTemporalMotion()
    if !other.isAllowed { return Int32.max }
    setDirect()
    predictLumaBoth(other.division)
    return distortion(shape: 0, source, reconstruction, stride) &+ (lambda &* MacroblockCoder.directBits) >> 4
  }

  /// Notes what direct costs by the slice's way and by the other; `limit`: what does without direct.
  mutating func noteDirect(_ own: Int32, other: Int32, limit: Int32) {
    let own = Int(min(own, limit))
    let other = Int(min(other, limit))
    directCosts +=
      picture.infersTemporally
      ? DirectCosts(spatial: other, temporal: own) : DirectCosts(spatial: own, temporal: other)
  }

  /// Temporal direct (8.4.1.2.3): the colocated motion, divided by time.
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
      // An intra block stands still, and refers to index 0.
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
