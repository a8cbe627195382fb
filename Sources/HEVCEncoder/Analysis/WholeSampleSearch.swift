// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import CVideoKernels
import VideoEncoding

/// The search of a block at whole samples in a reference picture, and the best vector so far.
struct WholeSampleSearch<Sample: HEVCSample>: BitwiseCopyable {
  let source: UnsafePointer<Sample>
  /// The samples of the reference picture at the place of the block.
  let plane: UnsafePointer<Sample>
  let shape: Int32
  let predictor: Motion
  /// The vectors that may be used, in samples.
  let minX: Int
  let maxX: Int
  let minY: Int
  let maxY: Int
  var x = 0
  var y = 0
  /// SAD and the cost of the bits.
  var cost = Int.max
}

/// The search of motion vectors at whole samples, by SAD.
extension CodingTreeCoder {
  /// Begins the search at whole samples in a reference picture.
  @inline(__always) func wholeSampleSearch(
    _ block: PredictionBlock, _ list: Int, _ reference: Int, _ predictor: Motion
  ) -> WholeSampleSearch<Sample> {
    let offset = block.y &* layout.lumaStride &+ block.x
    // Whole samples that may be referred to. A vector has 16 bits (8.5.3.2.1).
    let reach = PlaneLayout.reach &- 1
    let longest = 8188
    var maxY = min(layout.height &+ reach &- block.height &- block.y, longest)
    if referenceEnd != Int.max {
      // The filters reach four rows further down, and the refinement less than two.
      maxY = min(maxY, referenceEnd &- 6 &- block.height &- block.y)
    }
    return WholeSampleSearch(
      source: UnsafePointer(pixels.source.luma + offset),
      plane: UnsafePointer(pixels.reference(list, reference).halfSamples.planes[0] + offset),
      shape: Self.shape(block), predictor: predictor, minX: max(-reach &- block.x, -longest),
      maxX: min(layout.width &+ reach &- block.width &- block.x, longest),
      minY: max(-reach &- block.y, -longest), maxY: maxY)
  }

  /// Compares a vector, rounded to whole samples, with the best one.
  /// - Parameter limit: the cost that it has to be below.
  func test(
    _ candidate: Motion, below limit: Int = .max, _ best: inout WholeSampleSearch<Sample>
  ) {
    let x = min(max((Int(candidate.x) &+ 2) >> 2, best.minX), best.maxX)
    let y = min(max((Int(candidate.y) &+ 2) >> 2, best.minY), best.maxY)
    if best.cost != Int.max && x == best.x && y == best.y { return }
    let stride = layout.lumaStride
    let sad = Int(
      Kernels.sad(kernels, best.shape, best.source, stride, best.plane + y &* stride + x, stride))
    let total = sad &+ costSATD(bits: bits(x &* 4, y &* 4, best.predictor))
    if total < min(best.cost, limit) {
      best.cost = total
      best.x = x
      best.y = y
    }
  }

  /// A diamond: wide steps while they help, then single ones.
  func descend(from first: Int, _ best: inout WholeSampleSearch<Sample>) {
    let stride = layout.lumaStride
    var costs: (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
    var step = first
    var left = settings.searchSteps
    while left > 0 {
      left &-= 1
      let (x, y) = (best.x, best.y)
      guard x &- step >= best.minX, x &+ step <= best.maxX, y &- step >= best.minY,
        y &+ step <= best.maxY
      else { break }
      let at = best.plane + y &* stride + x
      withUnsafeMutablePointer(to: &costs) {
        $0.withMemoryRebound(to: Int32.self, capacity: 4) {
          Kernels.sadX4(
            kernels, best.shape, best.source, stride, at - step &* stride, at + step &* stride,
            at - step, at + step, stride, $0)
        }
      }
      take(costs.0, x, y &- step, &best)
      take(costs.1, x, y &+ step, &best)
      take(costs.2, x &- step, y, &best)
      take(costs.3, x &+ step, y, &best)
      if best.x == x && best.y == y {
        if step == 1 { break }
        step &>>= 1
      }
    }
  }

  @inline(__always) private func take(
    _ sad: Int32, _ x: Int, _ y: Int, _ best: inout WholeSampleSearch<Sample>
  ) {
    let total = Int(sad) &+ costSATD(bits: bits(x &* 4, y &* 4, best.predictor))
    if total < best.cost {
      best.cost = total
      best.x = x
      best.y = y
    }
  }

  private static func shape(_ block: PredictionBlock) -> Int32 {
    let shape =
      switch (block.width, block.height) {
      case (32, 32): OVT_32x32
      case (32, 16): OVT_32x16
      case (16, 32): OVT_16x32
      case (16, 16): OVT_16x16
      case (16, 8): OVT_16x8
      case (8, 16): OVT_8x16
      default: OVT_8x8
      }
    return Int32(shape)
  }
}
