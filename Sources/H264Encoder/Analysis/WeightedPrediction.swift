// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoBitstream

/// Explicit weighted prediction from one reference (8.4.2.3.2): each sample s is predicted by
/// ((s weight + 2^(shift - 1)) >> shift) + offset.
struct PredictionWeight {
  struct Component: Equatable {
    /// In 2^-shift, -128...127.
    var weight: Int32
    var offset: Int32
  }

  var shift: Int32 = 6
  var luma = Component(weight: 64, offset: 0)
  var cb = Component(weight: 64, offset: 0)
  var cr = Component(weight: 64, offset: 0)
  /// All components are as they would be without weights.
  var isDefault = true
  /// For each source sample the reference's sample that predicts it: 256 of them.
  let inverse: UnsafeMutablePointer<UInt8>

  init(inverse: UnsafeMutablePointer<UInt8>) { self.inverse = inverse }

  func isDefault(_ c: Component) -> Bool { c == Component(weight: 1 << shift, offset: 0) }

  mutating func setDefault(shift: Int32) {
    self.shift = shift
    luma = Component(weight: 1 << shift, offset: 0)
    cb = luma
    cr = luma
    isDefault = true
  }

  /// Call when the components have changed.
  mutating func update() {
    isDefault = isDefault(luma) && isDefault(cb) && isDefault(cr)
    let (weight, offset, shift) = (Int(luma.weight), Int(luma.offset), Int(shift))
    for s in 0..<256 {
      let value = weight > 0 ? ((s - offset) << shift + weight / 2) / weight : s
      inverse[s] = UInt8(min(max(value, 0), 255))
    }
  }

  /// What the slice header says of it.
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
  @inline(__always) init(_ a: PredictionWeight.Component, _ b: PredictionWeight.Component) {
    self.init(w0: a.weight, w1: b.weight, o: (a.offset &+ b.offset &+ 1) >> 1)
  }
}

extension MacroblockCoder {
  /// `width`: 0 for 16 samples, 1 for 8.
  mutating func weighLuma(
    _ dst: UnsafeMutablePointer<UInt8>, _ dstStride: Int, width: Int, height: Int, reference: Int
  ) {
    let w = stream.weights + reference
    if w.pointee.isDefault { return }
    ovt_weight(
      dst, dstStride, 16 >> Int32(width), Int32(height), w.pointee.shift, w.pointee.luma.weight,
      w.pointee.luma.offset)
  }

  /// NV12: `width` as above, in bytes.
  mutating func weighChroma(
    _ dst: UnsafeMutablePointer<UInt8>, _ dstStride: Int, width: Int, height: Int, reference: Int
  ) {
    let w = stream.weights + reference
    if w.pointee.isDefault { return }
    ovt_weight_nv12(
      dst, dstStride, 16 >> Int32(width), Int32(height), w.pointee.shift, w.pointee.cb.weight,
      w.pointee.cb.offset, w.pointee.cr.weight, w.pointee.cr.offset)
  }

  /// Joins two predictions by the weights of both references (8.4.2.3.2). Returns false where they have none.
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

  /// Searches in a weighted reference: for the source as the reference would have it, where errors are smaller or
  /// greater by the weight.
  mutating func searchWeightedMotion(
    shape: Int32, x: Int, y: Int, reference: Int, prediction p: MotionVector,
    starts: UnsafePointer<MotionVector>, count: Int
  ) -> MotionCandidate {
    let w = stream.weights + reference
    if matchedReference != reference {
      ovt_map(matchedSource, source, w.pointee.inverse, 256)
      matchedReference = reference
    }
    let usual = lambda
    lambda = max((lambda << w.pointee.shift) / max(w.pointee.luma.weight, 1), 1)
    var found = searchMotion(
      matchedSource, shape: shape, x: x, y: y, reference: reference, prediction: p, starts: starts,
      count: count)
    lambda = usual
    found.cost = (found.cost &* w.pointee.luma.weight) >> w.pointee.shift
    return found
  }
}
