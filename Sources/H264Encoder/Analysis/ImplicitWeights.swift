// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoEncoding

/// The weights of implicit weighted prediction (8.4.2.3.1; weighted_bipred_idc 2), which follow
/// from the pictures' distances in time.
struct ImplicitWeights {
  /// The weight of list 1 in 64ths, by refIdxL0 * 16 + refIdxL1. The weight of list 0 is 64 minus
  /// that.
  let weights: UnsafeMutablePointer<Int16>

  /// Allocates the weights; all are a half.
  ///
  /// - Parameter memory: owns the weights.
  init(memory: inout EncoderMemory) {
    weights = memory.allocate(Int16.self, count: 256)
    weights.update(repeating: 32, count: 256)
  }

  /// Computes the weights for a B picture, all of whose reference pictures are short-term.
  ///
  /// - Parameters:
  ///   - plan: the picture's plan: its PicOrderCnt and numbers of reference pictures.
  ///   - references: the reference pictures, those of list 1 from `ReferencePlanes.list1` on.
  /// - Returns: whether any weight differs from a half.
  func set(_ plan: PicturePlan, _ references: UnsafePointer<ReferencePlanes>) -> Bool {
    var differs = false
    for i in 0..<plan.referenceCount {
      for j in 0..<plan.referenceCountL1 {
        let weight = Self.weight(
          current: plan.orderCount, Int(references[i].orderCount),
          Int(references[ReferencePlanes.list1 + j].orderCount))
        weights[i * 16 + j] = Int16(weight)
        if weight != 32 { differs = true }
      }
    }
    return differs
  }

  /// Computes the implicit weight of list 1 (8.4.2.3.1).
  ///
  /// - Parameters:
  ///   - current: PicOrderCnt of the current picture.
  ///   - count0: PicOrderCnt of the reference picture in list 0.
  ///   - count1: PicOrderCnt of the reference picture in list 1.
  /// - Returns: the weight in 64ths, -64 to 128; 32 where the standard asks for the default.
  static func weight(current: Int, _ count0: Int, _ count1: Int) -> Int {
    let tb = min(max(current - count0, -128), 127)
    let td = min(max(count1 - count0, -128), 127)
    if td == 0 { return 32 }
    let tx = (16384 + abs(td / 2)) / td
    let weight = min(max((tb * tx + 32) >> 6, -1024), 1023) >> 2
    return weight < -64 || weight > 128 ? 32 : weight
  }
}

extension MacroblockCoder {
  /// Combines the predictions from list 0 and list 1 with explicit, implicit or no weights.
  ///
  /// - Parameters:
  ///   - isChroma: whether the samples are NV12 chroma; luma otherwise.
  ///   - dst: receives the combined prediction.
  ///   - dstStride: bytes from one row of `dst` to the next.
  ///   - a: the prediction from list 0, in rows of 16 bytes.
  ///   - b: the prediction from list 1, in rows of 16 bytes.
  ///   - width: index of the width in the kernels: 0 for 16 bytes, 1 for 8.
  ///   - height: rows.
  ///   - r0: refIdxL0.
  ///   - r1: refIdxL1.
  @inline(__always) mutating func joinPredictions(
    isChroma: Bool, _ dst: UnsafeMutablePointer<UInt8>, _ dstStride: Int, _ a: UnsafePointer<UInt8>,
    _ b: UnsafePointer<UInt8>,
    width: Int, height: Int, _ r0: Int, _ r1: Int
  ) {
    if picture.isWeighted,
      joinWeighted(
        isChroma: isChroma, dst, dstStride, a, b, width: width, height: height, r0,
        r1 &+ ReferencePlanes.list1)
    {
      return
    }
    if picture.hasImplicitWeights {
      let weight = Int32(stream.implicitWeights[r0 &* 16 &+ r1])
      if weight != 32 {
        ovt_weigh_both(
          dst, dstStride, a, b, 16, 16 >> Int32(width), Int32(height), 64 &- weight, weight)
        return
      }
    }
    ovt_average(k, Int32(width), dst, dstStride, a, b, 16, Int32(height))
  }
}
