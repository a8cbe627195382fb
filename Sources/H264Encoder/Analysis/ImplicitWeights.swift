// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Weights of predictions from two pictures by their distances in time (8.4.2.3.1, weighted_bipred_idc 2).
struct ImplicitWeights {
  /// Weight of list 1 in 64ths, by index in list 0 times 16 plus index in list 1; that of list 0 is the rest.
  let weights: UnsafeMutablePointer<Int16>

  init(memory: inout EncoderMemory) {
    weights = memory.allocate(Int16.self, count: 256)
    weights.update(repeating: 32, count: 256)
  }

  /// Sets the weights for a reconstruction, all of whose references are short-term. Returns whether any differs from a half.
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

  /// `count0` and `count1`: PicOrderCnt of the pictures in list 0 and list 1.
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
  /// Joins the predictions from list 0 and list 1, both with rows of 16 bytes, luma or NV12. `width` is a kernel width
  /// index (0 = 16, 1 = 8).
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
