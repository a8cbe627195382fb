// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

extension LowResolutionAnalysis {
  /// Cost of a second vector.
  private static let bipredictionOverhead = 6

  /// A row of `LookAheadPreAnalysis.estimateReferenceCosts`, behind the row below it.
  func estimateReferenceCosts(
    _ picture: QueuedPicture, to a: (half: LowResolutionPicture, before: Int),
    _ b: (half: LowResolutionPicture, after: Int)?, row y: Int, _ progress: RowProgress?
  ) -> Int {
    var sum = 0
    // In the order of `inter`, for the same reason.
    eachMacroblock(ofRow: y, progress) { x in
      fetch(picture.half, x, y)
      let m = y &* geometry.widthInMbs &+ x
      let v = picture.vectors[m]
      var best = Int(picture.intraCosts[m])
      var lists: UInt8 = 0
      var cost = Int(picture.interCosts[m])
      if a.before == 1 {
        picture.forward[m] = v
      } else {
        cost = interCost(x, y, a.half, picture.forward, v &* Int16(truncatingIfNeeded: a.before))
      }
      if cost < best {
        best = cost
        lists = 1
      }
      if let b {
        cost = interCost(x, y, b.half, picture.backward, v &* Int16(truncatingIfNeeded: 0 &- b.after))
        if cost < best {
          best = cost
          lists = 2
        }
        cost = bipredictedCost(x, y, (a.half, picture.forward[m]), (b.half, picture.backward[m]))
        if cost < best {
          best = cost
          lists = 3
        }
      }
      picture.costs[m] = Int32(truncatingIfNeeded: best)
      picture.lists[m] = lists
      sum &+= best
    }
    return sum
  }

  /// SATD of the mean of two predictions.
  @inline(__always) private func bipredictedCost(
    _ x: Int, _ y: Int, _ a: (LowResolutionPicture, SIMD2<Int16>), _ b: (LowResolutionPicture, SIMD2<Int16>)
  ) -> Int {
    let average = kernels.pointee.average.1!
    let second = prediction + 128
    func predict(_ to: UnsafeMutablePointer<UInt8>, _ reference: LowResolutionPicture, _ v: SIMD2<Int16>) {
      let (vx, vy) = (Int(v.x), Int(v.y))
      let at = reference.luma + ((y &* 8 &+ vy >> 1) &* reference.stride &+ x &* 8 &+ vx >> 1)
      average(to, 16, at, at + ((vy & 1) &* reference.stride &+ vx & 1), reference.stride, 8)
    }
    predict(prediction, a.0, a.1)
    predict(second, b.0, b.1)
    average(prediction, 16, prediction, second, 16, 8)
    return Int(kernels.pointee.satd.3!(block, prediction, 16)) &+ LowResolutionAnalysis.bipredictionOverhead
  }
}
