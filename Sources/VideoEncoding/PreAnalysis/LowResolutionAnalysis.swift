// SPDX-License-Identifier: Apache-2.0
import CVideoKernels

/// Estimates the residual of each macroblock on pictures at half size: the SATD after intra
/// prediction from the source picture itself, and after motion compensation in half samples from
/// another source picture.
struct LowResolutionAnalysis {
  /// The size of the pictures.
  let geometry: PictureGeometry
  /// The functions that compare and predict samples.
  let kernels: UnsafePointer<OVTVideoKernels>
  /// The samples of the present macroblock and their prediction, with a stride of 16.
  let block: UnsafeMutablePointer<UInt8>
  let prediction: UnsafeMutablePointer<UInt8>
  /// The neighbouring samples that intra prediction reads.
  private let edge: UnsafeMutablePointer<UInt8>

  /// The estimated cost of mb_type and the prediction mode of an intra macroblock, in units of
  /// SATD.
  static let intraOverhead = 10
  /// The SAD below which the zero vector is taken without a search.
  private static let still = 48
  /// The most samples by which a block may extend beyond the edge of the picture.
  private static let reach = LowResolutionPicture.padding - 8

  /// Allocates the scratch memory of one thread.
  init(
    _ geometry: PictureGeometry, kernels: UnsafePointer<OVTVideoKernels>, memory: inout EncoderMemory
  ) {
    self.geometry = geometry
    self.kernels = kernels
    block = memory.allocate(UInt8.self, count: 128)
    prediction = memory.allocate(UInt8.self, count: 256)
    edge = memory.allocate(UInt8.self, count: 64)
  }

  /// Fills in the costs of intra prediction of a row of macroblocks.
  /// - Parameters:
  ///   - picture: the picture; `intraCosts` is written.
  ///   - y: the index of the row.
  /// - Returns: the sum of the costs.
  func intra(_ picture: QueuedPicture, row y: Int) -> Int {
    var sum = 0
    for x in 0..<geometry.widthInMbs {
      fetch(picture.lowResolution, x, y)
      let cost = intraCost(picture.lowResolution, x, y) &+ LowResolutionAnalysis.intraOverhead
      picture.intraCosts[y &* geometry.widthInMbs &+ x] = Int32(truncatingIfNeeded: cost)
      sum &+= cost
    }
    return sum
  }

  /// Fills in the vectors of a row of macroblocks and the costs of inter prediction, which are at
  /// most those of intra prediction.
  /// - Parameters:
  ///   - picture: the picture; `interCosts` and `vectors` are written.
  ///   - reference: the picture to predict from.
  ///   - y: the index of the row.
  ///   - progress: where the row waits for the row below it; nil where there is one thread.
  /// - Returns: the sum of the costs.
  func inter(
    _ picture: QueuedPicture, from reference: LowResolutionPicture, row y: Int, _ progress: RowProgress?
  ) -> Int {
    var sum = 0
    eachMacroblock(ofRow: y, progress) { x in
      fetch(picture.lowResolution, x, y)
      let m = y &* geometry.widthInMbs &+ x
      let cost = min(interCost(x, y, reference, picture.vectors, .zero), Int(picture.intraCosts[m]))
      picture.interCosts[m] = Int32(truncatingIfNeeded: cost)
      sum &+= cost
    }
    return sum
  }

  /// Calls `body` for the macroblocks of a row from right to left, each once its neighbours to the
  /// right, below, and below on the left are done.
  /// - Parameters:
  ///   - y: the index of the row.
  ///   - progress: where the row waits for the row below it; nil where there is one thread.
  ///   - body: gets the column of the macroblock.
  @inline(__always) func eachMacroblock(
    ofRow y: Int, _ progress: RowProgress?, _ body: (_ x: Int) -> Void
  ) {
    let w = geometry.widthInMbs
    let rank = geometry.heightInMbs &- 1 &- y
    var below = rank == 0 ? w : 0
    for n in 0..<w {
      if let progress, below < min(n &+ 2, w) {
        RowProgress.wait {
          below = progress.coded(row: rank &- 1)
          return below >= min(n &+ 2, w)
        }
      }
      body(w &- 1 &- n)
      if let progress { progress.setCoded(row: rank, n &+ 1) }
    }
  }

  /// The sum over every fourth macroblock of the cost of the better of intra prediction and
  /// prediction from another picture.
  func sample(_ picture: QueuedPicture, from reference: LowResolutionPicture) -> Int {
    var sum = 0
    for y in stride(from: 0, to: geometry.heightInMbs, by: 2) {
      for x in stride(from: y >> 1 & 1, to: geometry.widthInMbs, by: 2) {
        fetch(picture.lowResolution, x, y)
        let m = y &* geometry.widthInMbs &+ x
        sum &+= min(search(x, y, reference), Int(picture.intraCosts[m]))
      }
    }
    return sum
  }

  /// The SATD at the full-sample vector with the least SAD that a diamond search from the zero
  /// vector finds.
  @inline(__always) private func search(_ x: Int, _ y: Int, _ reference: LowResolutionPicture) -> Int {
    let sad = kernels.pointee.sad.3!
    let stride = reference.stride
    let (left, top) = (x &* 8, y &* 8)
    let origin = top &* stride &+ left
    let (reach, block) = (LowResolutionAnalysis.reach, block)
    var best = BestVector(
      cost: Int(sad(block, 16, reference.luma + origin, stride)),
      minimum: (0 &- left &- reach, 0 &- top &- reach),
      maximum: (reference.width &- 8 &- left &+ reach, reference.height &- 8 &- top &+ reach))
    if best.cost > LowResolutionAnalysis.still {
      best.diamondSearch(from: 4) {
        Int(sad(block, 16, reference.luma + (origin &+ $1 &* stride &+ $0), stride))
      }
    }
    let at = origin &+ best.y &* stride &+ best.x
    return Int(kernels.pointee.satd.3!(block, 16, reference.luma + at, stride))
  }

  /// Copies the samples of a macroblock to `block`.
  @inline(__always) func fetch(_ lowResolution: LowResolutionPicture, _ x: Int, _ y: Int) {
    let at = lowResolution.luma + (y &* 8 &* lowResolution.stride &+ x &* 8)
    for row in 0..<8 {
      UnsafeMutableRawPointer(block + row &* 16).copyMemory(
        from: at + row &* lowResolution.stride, byteCount: 8)
    }
  }

  /// The least SATD of the nine Intra_8x8 predictions of H.264 (8.3.2.2), from the neighbouring
  /// samples of the half-size source picture.
  @inline(__always) private func intraCost(_ lowResolution: LowResolutionPicture, _ x: Int, _ y: Int) -> Int {
    let at = lowResolution.luma + (y &* 8 &* lowResolution.stride &+ x &* 8)
    // The padding repeats the edge, so neighbouring samples exist everywhere.
    let center = edge + 16
    let above = at - lowResolution.stride
    for i in -1..<16 { center[i &+ 1] = above[i] }
    for i in 0..<8 { center[-1 &- i] = at[i &* lowResolution.stride &- 1] }
    return Int(ovt_intra_cost8x8(kernels, block, 16, center))
  }

  /// The approximate number of bits of a vector component that differs from its prediction by a
  /// number of half samples.
  @inline(__always) private static func bits(_ difference: Int) -> Int {
    let magnitude = Int(difference.magnitude)
    return magnitude == 0 ? 1 : 2 &* (Int.bitWidth &- magnitude.leadingZeroBitCount) &+ 1
  }

  /// The part of a cost of inter prediction that the vector has at least, which is the predicted
  /// one then.
  static let predictedVectorCost = 2

  /// The vectors of the neighbours that are searched before a macroblock, in half samples.
  private struct NeighbourVectors {
    /// The vector of the macroblock to the right; zero at the edge of the picture.
    let right: SIMD2<Int16>
    /// The vector of the macroblock below; zero at the edge of the picture.
    let below: SIMD2<Int16>
    /// The vector of the macroblock below on the left; that of the one below at the edge.
    let belowLeft: SIMD2<Int16>
    /// The median of each component, from which the bits of a vector are estimated.
    let predicted: (x: Int, y: Int)

    /// Reads the vectors of the neighbours of a macroblock.
    @inline(__always) init(
      _ vectors: UnsafeMutablePointer<SIMD2<Int16>>, _ x: Int, _ y: Int, _ geometry: PictureGeometry
    ) {
      let w = geometry.widthInMbs
      let m = y &* w &+ x
      let hasBelow = y < geometry.heightInMbs &- 1
      right = x < w &- 1 ? vectors[m &+ 1] : .zero
      below = hasBelow ? vectors[m &+ w] : .zero
      belowLeft = hasBelow && x > 0 ? vectors[m &+ w &- 1] : below
      func median(_ a: Int16, _ b: Int16, _ c: Int16) -> Int { Int(max(min(a, b), min(max(a, b), c))) }
      predicted = (median(right.x, below.x, belowLeft.x), median(right.y, below.y, belowLeft.y))
    }

    /// The approximate number of bits of a vector in half samples.
    @inline(__always) func bits(_ vx: Int, _ vy: Int) -> Int {
      LowResolutionAnalysis.bits(vx &- predicted.x) &+ LowResolutionAnalysis.bits(vy &- predicted.y)
    }
  }

  /// The cost of motion compensation with the best vector that was found: its SATD and the bits of
  /// the vector.
  /// - Parameters:
  ///   - x: the column of the macroblock.
  ///   - y: its row.
  ///   - reference: the picture to predict from.
  ///   - vectors: the vectors of the picture in half samples; that of the macroblock is written.
  ///   - guess: a further candidate in half samples; zero: none.
  @inline(__always) func interCost(
    _ x: Int, _ y: Int, _ reference: LowResolutionPicture, _ vectors: UnsafeMutablePointer<SIMD2<Int16>>,
    _ guess: SIMD2<Int16>
  ) -> Int {
    let neighbours = NeighbourVectors(vectors, x, y, geometry)
    let full = searchFullSamples(x, y, reference, neighbours, guess)
    let found = searchHalfSamples(x, y, reference, neighbours, from: full)
    vectors[y &* geometry.widthInMbs &+ x] = SIMD2(
      Int16(truncatingIfNeeded: found.x), Int16(truncatingIfNeeded: found.y))
    return found.cost
  }

  /// Searches for the full-sample vector with the least cost: the SAD and the bits of the vector,
  /// or the SAD alone where the zero vector is taken without a search.
  ///
  /// The parameters are those of `interCost`.
  @inline(__always) private func searchFullSamples(
    _ x: Int, _ y: Int, _ reference: LowResolutionPicture, _ neighbours: NeighbourVectors,
    _ guess: SIMD2<Int16>
  ) -> BestVector {
    let sad = kernels.pointee.sad.3!
    let (stride, reach, block) = (reference.stride, LowResolutionAnalysis.reach, block)
    let (left, top) = (x &* 8, y &* 8)
    let origin = reference.luma + (top &* stride &+ left)
    let still = Int(sad(block, 16, origin, stride))
    let isStill = still <= LowResolutionAnalysis.still
    var best = BestVector(
      cost: isStill ? still : still &+ neighbours.bits(0, 0),
      minimum: (0 &- left &- reach, 0 &- top &- reach),
      maximum: (reference.width &- 8 &- left &+ reach, reference.height &- 8 &- top &+ reach))
    if isStill { return best }
    @inline(__always) func cost(_ vx: Int, _ vy: Int) -> Int {
      Int(sad(block, 16, origin + (vy &* stride &+ vx), stride)) &+ neighbours.bits(2 &* vx, 2 &* vy)
    }
    best.tryVector(neighbours.predicted.x >> 1, neighbours.predicted.y >> 1, cost)
    if guess != .zero { best.tryVector(Int(guess.x) >> 1, Int(guess.y) >> 1, cost) }
    best.tryVector(Int(neighbours.right.x) >> 1, Int(neighbours.right.y) >> 1, cost)
    best.tryVector(Int(neighbours.below.x) >> 1, Int(neighbours.below.y) >> 1, cost)
    best.tryVector(Int(neighbours.belowLeft.x) >> 1, Int(neighbours.belowLeft.y) >> 1, cost)
    best.diamondSearch(from: best.cost > 640 ? 8 : 2, lastRounds: 8, cost)
    return best
  }

  /// Compares six of the eight half-sample positions around a full-sample vector, each an average
  /// of two full samples, by SATD and the bits of the vector.
  /// - Parameters:
  ///   - x: the column of the macroblock.
  ///   - y: its row.
  ///   - reference: the picture to predict from.
  ///   - neighbours: the vectors of its neighbours.
  ///   - full: the best full-sample vector.
  /// - Returns: the best vector in half samples, and its cost.
  @inline(__always) private func searchHalfSamples(
    _ x: Int, _ y: Int, _ reference: LowResolutionPicture, _ neighbours: NeighbourVectors,
    from full: BestVector
  ) -> (x: Int, y: Int, cost: Int) {
    let satd = kernels.pointee.satd.3!
    let stride = reference.stride
    let at = reference.luma + ((y &* 8 &+ full.y) &* stride &+ x &* 8 &+ full.x)
    let (fullX, fullY) = (2 &* full.x, 2 &* full.y)
    var best = (x: fullX, y: fullY, cost: Int(satd(block, 16, at, stride)) &+ neighbours.bits(fullX, fullY))
    if full.cost <= LowResolutionAnalysis.still { return best }
    let average = kernels.pointee.average.1!
    func attempt(_ dx: Int, _ dy: Int) {
      let a = at + ((dy < 0 ? 0 &- stride : 0) &+ (dx < 0 ? -1 : 0))
      let b = at + ((dy > 0 ? stride : 0) &+ (dx > 0 ? 1 : 0))
      average(prediction, 16, a, b, stride, 8)
      let cost = Int(satd(block, 16, prediction, 16)) &+ neighbours.bits(fullX &+ dx, fullY &+ dy)
      if cost < best.cost { best = (fullX &+ dx, fullY &+ dy, cost) }
    }
    attempt(-1, 0)
    attempt(1, 0)
    attempt(0, -1)
    attempt(0, 1)
    attempt(-1, -1)
    attempt(1, 1)
    return best
  }
}
