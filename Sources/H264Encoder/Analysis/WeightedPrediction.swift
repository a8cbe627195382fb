// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoBitstream
import VideoEncoding

extension PredictionWeight {
  /// The entry of pred_weight_table() (7.3.3.2).
  var entry: H264PredictionWeights.Entry {
    func weight(_ c: Component) -> H264PredictionWeights.Weight {
      .init(weight: Int(c.weight), offset: Int(c.offset))
    }
    var entry = H264PredictionWeights.Entry()
    if !isDefault(luma) { entry.luma = weight(luma) }
    if !isDefault(cb) || !isDefault(cr) {
      var chroma = H264PredictionWeights.Chroma()
      chroma.cb = weight(cb)
      chroma.cr = weight(cr)
      entry.chroma = chroma
    }
    return entry
  }
}

extension OVTPairWeight {
  /// Joins a component's weights of two reference pictures; the offset is their rounded mean
  /// (8.4.2.3.2).
  @inline(__always) init(_ a: PredictionWeight.Component, _ b: PredictionWeight.Component) {
    self.init(w0: a.weight, w1: b.weight, o: (a.offset &+ b.offset &+ 1) >> 1)
  }
}

extension MacroblockCoder {
  /// Applies a reference picture's weight to a luma prediction, in place.
  ///
  /// - Parameters:
  ///   - dst: the prediction.
  ///   - dstStride: bytes from one row to the next.
  ///   - width: index of the width in the kernels: 0 for 16 samples, 1 for 8.
  ///   - height: rows.
  ///   - reference: refIdxL0, or refIdxL1 plus `ReferencePlanes.list1`.
  mutating func weighLuma(
    _ dst: UnsafeMutablePointer<UInt8>, _ dstStride: Int, width: Int, height: Int, reference: Int
  ) {
    let w = stream.weights + reference
    if w.pointee.isDefault { return }
    ovt_weight(
      dst, dstStride, 16 >> Int32(width), Int32(height), w.pointee.shift, w.pointee.luma.weight,
      w.pointee.luma.offset)
  }

  /// Applies a reference picture's weights to an NV12 chroma prediction, in place.
  ///
  /// - Parameters:
  ///   - dst: the prediction.
  ///   - dstStride: bytes from one row to the next.
  ///   - width: index of the width in the kernels: 0 for 16 bytes, 1 for 8.
  ///   - height: chroma rows.
  ///   - reference: refIdxL0, or refIdxL1 plus `ReferencePlanes.list1`.
  mutating func weighChroma(
    _ dst: UnsafeMutablePointer<UInt8>, _ dstStride: Int, width: Int, height: Int, reference: Int
  ) {
    let w = stream.weights + reference
    if w.pointee.isDefault { return }
    ovt_weight_nv12(
      dst, dstStride, 16 >> Int32(width), Int32(height), w.pointee.shift, w.pointee.cb.weight,
      w.pointee.cb.offset, w.pointee.cr.weight, w.pointee.cr.offset)
  }

  /// Combines two predictions with the explicit weights of both reference pictures (8.4.2.3.2).
  ///
  /// - Parameters:
  ///   - isChroma: whether the samples are NV12 chroma; luma otherwise.
  ///   - dst: receives the combined prediction.
  ///   - dstStride: bytes from one row of `dst` to the next.
  ///   - a: the prediction from list 0, in rows of 16 bytes.
  ///   - b: the prediction from list 1, in rows of 16 bytes.
  ///   - width: index of the width in the kernels: 0 for 16 bytes, 1 for 8.
  ///   - height: rows.
  ///   - first: refIdxL0.
  ///   - second: refIdxL1 plus `ReferencePlanes.list1`.
  /// - Returns: false, without a prediction, where both have default weights.
  mutating func joinWeighted(
    isChroma: Bool, _ dst: UnsafeMutablePointer<UInt8>, _ dstStride: Int, _ a: UnsafePointer<UInt8>,
    _ b: UnsafePointer<UInt8>, width: Int, height: Int, _ first: Int, _ second: Int
  ) -> Bool {
    let (w0, w1) = (stream.weights + first, stream.weights + second)
    if w0.pointee.isDefault && w1.pointee.isDefault { return false }
    let shift = w0.pointee.shift
    if isChroma {
      ovt_weigh_pair_nv12(
        dst, dstStride, a, b, 16, 16 >> Int32(width), Int32(height), shift,
        .init(w0.pointee.cb, w1.pointee.cb), .init(w0.pointee.cr, w1.pointee.cr))
    } else {
      ovt_weigh_pair(
        dst, dstStride, a, b, 16, 16 >> Int32(width), Int32(height), shift,
        .init(w0.pointee.luma, w1.pointee.luma))
    }
    return true
  }

  /// Searches for the best vector into a weighted reference picture.
  ///
  /// The search compares the reference's samples with the source mapped by the inverse of the
  /// weight. Errors are larger or smaller there by the factor 1 / weight, so lambda is scaled
  /// likewise and the cost is scaled back.
  ///
  /// - Parameters:
  ///   - shape: the block's shape (`OVT_16x16` and so on).
  ///   - x: the block's position in the macroblock, in luma samples.
  ///   - y: the block's position in the macroblock, in luma samples.
  ///   - reference: refIdxL0, or refIdxL1 plus `ReferencePlanes.list1`.
  ///   - p: the predicted vector.
  ///   - starts: the vectors to start from.
  ///   - count: the number of start vectors.
  /// - Returns: the best vector and its cost.
  mutating func searchWeightedMotion(
    shape: Int32, x: Int, y: Int, reference: Int, prediction p: MotionVector,
    starts: UnsafePointer<MotionVector>, count: Int
  ) -> MotionCandidate {
    let w = stream.weights + reference
    if unweightedSourceReference != reference {
      ovt_map(unweightedSource, source, w.pointee.inverse, 256)
      unweightedSourceReference = reference
    }
    let previousLambda = lambda
    lambda = max((lambda << w.pointee.shift) / max(w.pointee.luma.weight, 1), 1)
    var found = searchMotion(
      unweightedSource, shape: shape, x: x, y: y, reference: reference, prediction: p, starts: starts,
      count: count)
    lambda = previousLambda
    found.cost = (found.cost &* w.pointee.luma.weight) >> w.pointee.shift
    return found
  }
}
