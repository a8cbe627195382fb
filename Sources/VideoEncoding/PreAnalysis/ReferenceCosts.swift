// SPDX-License-Identifier: Apache-2.0
import CVideoKernels

extension LowResolutionAnalysis {
  /// The estimated cost of a second vector, in units of SATD.
  private static let bipredictionOverhead = 6

  /// Fills in a row of `LookAheadPreAnalysis.estimateReferenceCosts`.
  /// - Parameters:
  ///   - picture: the picture; `costs`, `lists`, `forward` and `backward` are written.
  ///   - a: the reference picture of list 0, and by how many pictures it is earlier in output
  ///     order.
  ///   - b: the reference picture of list 1, and by how many pictures it is later; nil for P
  ///     pictures.
  ///   - y: the index of the row.
  ///   - progress: where the row waits for the row below it; nil where there is one thread.
  /// - Returns: the sum of the costs.
  func estimateReferenceCosts(
    _ picture: QueuedPicture, to a: (lowResolution: LowResolutionPicture, before: Int),
    _ b: (lowResolution: LowResolutionPicture, after: Int)?, row y: Int, _ progress: RowProgress?
  ) -> Int {
    var sum = 0
    // The order of `inter`, for the same reason.
    eachMacroblock(ofRow: y, progress) { x in
      fetch(picture.lowResolution, x, y)
      let m = y &* geometry.widthInMbs &+ x
      let v = picture.vectors[m]
      var best = Int(picture.intraCosts[m])
      var lists: UInt8 = 0
      var cost = Int(picture.interCosts[m])
      if a.before == 1 {
        picture.forward[m] = v
      } else {
        cost = interCost(x, y, a.lowResolution, picture.forward, v &* Int16(truncatingIfNeeded: a.before))
      }
      if cost < best {
        best = cost
        lists = 1
      }
      if let b {
        cost = interCost(
          x, y, b.lowResolution, picture.backward, v &* Int16(truncatingIfNeeded: 0 &- b.after))
        if cost < best {
          best = cost
          lists = 2
        }
        cost = bipredictedCost(
          x, y, (a.lowResolution, picture.forward[m]), (b.lowResolution, picture.backward[m]))
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

  /// The SATD of the mean of two predictions, and the cost of a second vector.
  /// - Parameters:
  ///   - x: the column of the macroblock.
  ///   - y: its row.
  ///   - a: the reference picture of list 0, and the vector in half samples.
  ///   - b: the reference picture of list 1, and the vector in half samples.
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
    return Int(kernels.pointee.satd.3!(block, 16, prediction, 16))
      &+ LowResolutionAnalysis.bipredictionOverhead
  }
}
