// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Estimates the residual of each macroblock on pictures at half size: the SATD after intra
/// prediction from the source picture itself, and after motion compensation in half samples from
/// another source picture.
package struct LowResolutionAnalysis {
  /// The size of the pictures.
  package let geometry: PictureGeometry
  /// The functions that compare and predict samples.
  package let kernels: UnsafePointer<OVTKernels>
  /// The samples of the present macroblock and their prediction, with a stride of 16.
  package let block: UnsafeMutablePointer<UInt8>
  package let prediction: UnsafeMutablePointer<UInt8>
  /// The neighbouring samples that intra prediction reads, and the same after the filter of
  /// 8.3.2.2.1.
  private let edge: UnsafeMutablePointer<UInt8>
  private let filtered: UnsafeMutablePointer<UInt8>

  /// The estimated cost of mb_type and the prediction mode of an intra macroblock, in units of
  /// SATD.
  private static let intraOverhead = 10
  /// The SAD below which the zero vector is taken without a search.
  private static let still = 48
  /// The most samples by which a block may extend beyond the edge of the picture.
  private static let reach = LowResolutionPicture.padding - 8

  /// Allocates the scratch memory of one thread.
  package init(_ geometry: PictureGeometry, kernels: UnsafePointer<OVTKernels>, memory: inout EncoderMemory) {
    self.geometry = geometry
    self.kernels = kernels
    block = memory.allocate(UInt8.self, count: 128)
    prediction = memory.allocate(UInt8.self, count: 256)
    edge = memory.allocate(UInt8.self, count: 64)
    filtered = memory.allocate(UInt8.self, count: 64)
  }

  /// Fills in the costs of intra prediction of a row of macroblocks.
  /// - Parameters:
  ///   - picture: the picture; `intraCosts` is written.
  ///   - y: the index of the row.
  /// - Returns: the sum of the costs.
  package func intra(_ picture: QueuedPicture, row y: Int) -> Int {
    var sum = 0
    for x in 0..<geometry.widthInMbs {
      fetch(picture.half, x, y)
      let cost = intraCost(picture.half, x, y) &+ LowResolutionAnalysis.intraOverhead
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
  package func inter(
    _ picture: QueuedPicture, from reference: LowResolutionPicture, row y: Int, _ progress: RowProgress?
  ) -> Int {
    var sum = 0
    eachMacroblock(ofRow: y, progress) { x in
      fetch(picture.half, x, y)
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
  @inline(__always) package func eachMacroblock(
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
  package func sample(_ picture: QueuedPicture, from reference: LowResolutionPicture) -> Int {
    var sum = 0
    for y in stride(from: 0, to: geometry.heightInMbs, by: 2) {
      for x in stride(from: y >> 1 & 1, to: geometry.widthInMbs, by: 2) {
        fetch(picture.half, x, y)
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
      cost: Int(sad(block, reference.luma + origin, stride)), least: (0 &- left &- reach, 0 &- top &- reach),
      most: (reference.width &- 8 &- left &+ reach, reference.height &- 8 &- top &+ reach))
    if best.cost > LowResolutionAnalysis.still {
      best.diamondSearch(from: 4) {
        Int(sad(block, reference.luma + (origin &+ $1 &* stride &+ $0), stride))
      }
    }
    let at = origin &+ best.y &* stride &+ best.x
    return Int(kernels.pointee.satd.3!(block, reference.luma + at, stride))
  }

  /// Copies the samples of a macroblock to `block`.
  @inline(__always) package func fetch(_ half: LowResolutionPicture, _ x: Int, _ y: Int) {
    let at = half.luma + (y &* 8 &* half.stride &+ x &* 8)
    for row in 0..<8 {
      UnsafeMutableRawPointer(block + row &* 16).copyMemory(from: at + row &* half.stride, byteCount: 8)
    }
  }

  /// The least SATD of the nine Intra_8x8 predictions (8.3.2.2), from the neighbouring samples of
  /// the half-size source picture.
  @inline(__always) private func intraCost(_ half: LowResolutionPicture, _ x: Int, _ y: Int) -> Int {
    let satd = kernels.pointee.satd.3!
    let at = half.luma + (y &* 8 &* half.stride &+ x &* 8)
    // The padding repeats the edge, so neighbouring samples exist everywhere.
    let center = edge + 16
    let above = at - half.stride
    for i in -1..<16 { center[i &+ 1] = above[i] }
    for i in 0..<8 { center[-1 &- i] = at[i &* half.stride &- 1] }
    kernels.pointee.filterEdge8x8(filtered + 16, center, 7)
    var best = Int.max
    func attempt(_ predict: OVTPredictFromEdge) {
      predict(prediction, 16, filtered + 16)
      best = min(best, Int(satd(block, prediction, 16)))
    }
    let modes = kernels.pointee.intra8x8
    attempt(modes.0!)
    attempt(modes.1!)
    attempt(modes.2!)
    attempt(modes.3!)
    attempt(modes.4!)
    attempt(modes.5!)
    attempt(modes.6!)
    attempt(modes.7!)
    attempt(modes.8!)
    return best
  }

  /// The approximate number of bits of a vector component that differs from its prediction by a
  /// number of half samples.
  @inline(__always) private static func bits(_ difference: Int) -> Int {
    let magnitude = Int(difference.magnitude)
    return magnitude == 0 ? 1 : 2 &* (Int.bitWidth &- magnitude.leadingZeroBitCount) &+ 1
  }

  /// The cost of motion compensation with the best vector that was found: its SATD and the bits of
  /// the vector.
  /// - Parameters:
  ///   - x: the column of the macroblock.
  ///   - y: its row.
  ///   - reference: the picture to predict from.
  ///   - vectors: the vectors of the picture in half samples; that of the macroblock is written.
  ///   - guess: a further candidate in half samples; zero: none.
  @inline(__always) package func interCost(
    _ x: Int, _ y: Int, _ reference: LowResolutionPicture, _ vectors: UnsafeMutablePointer<SIMD2<Int16>>,
    _ guess: SIMD2<Int16>
  ) -> Int {
    let sad = kernels.pointee.sad.3!
    let satd = kernels.pointee.satd.3!
    let stride = reference.stride
    let w = geometry.widthInMbs
    let m = y &* w &+ x
    let leastX = 0 &- x &* 8 &- LowResolutionAnalysis.reach
    let leastY = 0 &- y &* 8 &- LowResolutionAnalysis.reach
    let mostX = reference.width &- 8 &- x &* 8 &+ LowResolutionAnalysis.reach
    let mostY = reference.height &- 8 &- y &* 8 &+ LowResolutionAnalysis.reach
    let base = reference.luma + (y &* 8 &* stride &+ x &* 8)

    // The neighbours that have a vector already: right, below, and below on the left.
    let right = x < w &- 1 ? vectors[m &+ 1] : .zero
    let hasBelow = y < geometry.heightInMbs &- 1
    let below = hasBelow ? vectors[m &+ w] : .zero
    let belowLeft = hasBelow && x > 0 ? vectors[m &+ w &- 1] : below
    func median(_ a: Int16, _ b: Int16, _ c: Int16) -> Int { Int(max(min(a, b), min(max(a, b), c))) }
    let px = median(right.x, below.x, belowLeft.x)
    let py = median(right.y, below.y, belowLeft.y)

    var best = Int(sad(block, base, stride))
    var bestX = 0
    var bestY = 0
    if best > LowResolutionAnalysis.still {
      best &+= LowResolutionAnalysis.bits(px) &+ LowResolutionAnalysis.bits(py)
      func attempt(_ vx: Int, _ vy: Int) {
        let cx = min(max(vx, leastX), mostX)
        let cy = min(max(vy, leastY), mostY)
        if cx == bestX && cy == bestY { return }
        let cost =
          Int(sad(block, base + (cy &* stride &+ cx), stride))
          &+ LowResolutionAnalysis.bits(2 &* cx &- px) &+ LowResolutionAnalysis.bits(2 &* cy &- py)
        if cost < best {
          best = cost
          bestX = cx
          bestY = cy
        }
      }
      attempt(px >> 1, py >> 1)
      if guess != .zero { attempt(Int(guess.x) >> 1, Int(guess.y) >> 1) }
      attempt(Int(right.x) >> 1, Int(right.y) >> 1)
      attempt(Int(below.x) >> 1, Int(below.y) >> 1)
      attempt(Int(belowLeft.x) >> 1, Int(belowLeft.y) >> 1)
      var step = best > 640 ? 8 : 2
      while step > 0 {
        var rounds = step == 1 ? 8 : 3
        while rounds > 0 {
          let (cx, cy) = (bestX, bestY)
          attempt(cx &- step, cy)
          attempt(cx &+ step, cy)
          attempt(cx, cy &- step)
          attempt(cx, cy &+ step)
          if bestX == cx && bestY == cy { break }
          rounds &-= 1
        }
        step >>= 1
      }
    }

    // Half-sample positions are averages of full samples.
    let at = base + (bestY &* stride &+ bestX)
    var vx = 2 &* bestX
    var vy = 2 &* bestY
    func bits(_ vx: Int, _ vy: Int) -> Int {
      LowResolutionAnalysis.bits(vx &- px) &+ LowResolutionAnalysis.bits(vy &- py)
    }
    var least = Int(satd(block, at, stride)) &+ bits(vx, vy)
    if best > LowResolutionAnalysis.still {
      let average = kernels.pointee.average.1!
      func attempt(_ dx: Int, _ dy: Int) {
        let a = at + ((dy < 0 ? 0 &- stride : 0) &+ (dx < 0 ? -1 : 0))
        let b = at + ((dy > 0 ? stride : 0) &+ (dx > 0 ? 1 : 0))
        average(prediction, 16, a, b, stride, 8)
        let cost =
          Int(satd(block, prediction, 16)) &+ bits(2 &* bestX &+ dx, 2 &* bestY &+ dy)
        if cost < least {
          least = cost
          vx = 2 &* bestX &+ dx
          vy = 2 &* bestY &+ dy
        }
      }
      attempt(-1, 0)
      attempt(1, 0)
      attempt(0, -1)
      attempt(0, 1)
      attempt(-1, -1)
      attempt(1, 1)
    }
    vectors[m] = SIMD2(Int16(truncatingIfNeeded: vx), Int16(truncatingIfNeeded: vy))
    return least
  }
}
