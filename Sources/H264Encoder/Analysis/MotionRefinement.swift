// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// The last step of the motion search: half- and quarter-sample diamonds.
extension MacroblockCoder {
  /// The state of the search for a block's vector at fractional samples.
  private struct FractionalSearch {
    /// The block's shape (`OVT_16x16` and so on).
    let shape: Int32
    /// The source block, in rows of 16 samples.
    let src: UnsafePointer<UInt8>
    /// The block at the same position in the reference picture.
    let origin: UnsafePointer<UInt8>
    /// The predicted vector.
    let prediction: MotionVector
    /// refIdxL0, or refIdxL1 plus `ReferencePlanes.list1`.
    let reference: Int
    /// The full-sample vector that the search began with, in quarter samples.
    let start: (x: Int, y: Int)
    /// The best vector so far, in quarter samples.
    var x: Int
    var y: Int
    /// The cost of the best vector.
    var cost: Int32
    /// The part of the cost that is SATD of chroma.
    var chroma: Int32 = 0
    /// Whether vectors are compared by SATD now; by SAD otherwise.
    var satd: Bool
    /// The costs of the half-sample positions around the vector that the half-sample step began
    /// with.
    var sides = HalfSampleCosts()

    /// Index of the block's width in the kernels: 0 for 16 samples, 1 for 8.
    var width: Int32 { shape <= 1 ? 0 : 1 }
    /// The rows of the block.
    var height: Int32 { shape & 1 == 0 ? 16 : 8 }
    /// Whether the search has left the full-sample vector.
    var hasMoved: Bool { x != start.x || y != start.y }

    /// Takes a vector that costs less than the best one so far.
    @inline(__always) mutating func take(_ newX: Int, _ newY: Int, cost newCost: Int32) {
      (x, y, cost) = (newX, newY, newCost)
    }
  }

  /// The costs of four positions around a vector; `Int32.max` where one was not measured.
  private struct HalfSampleCosts {
    var up = Int32.max
    var down = Int32.max
    var left = Int32.max
    var right = Int32.max

    /// Sets the cost in a direction: 1 up, 2 down, 3 left, 4 right.
    @inline(__always) mutating func set(_ direction: Int, _ cost: Int32) {
      switch direction {
      case 1: up = cost
      case 2: down = cost
      case 3: left = cost
      default: right = cost
      }
    }

    /// Whether a direction (1 up, 2 down, 3 left, 4 right) is not worth a comparison, as the
    /// opposite one costs less. Where both cost the same, up and left are tried.
    @inline(__always) func isWorseThanOpposite(_ direction: Int) -> Bool {
      switch direction {
      case 1: up > down
      case 2: up <= down
      case 3: left > right
      default: left <= right
      }
    }
  }

  /// Refines a full-sample vector by half-sample, then quarter-sample diamonds.
  ///
  /// - Parameters:
  ///   - shape: the block's shape (`OVT_16x16` and so on).
  ///   - src: the source block, in rows of 16 samples.
  ///   - origin: the block at the same position in the reference picture.
  ///   - x: the vector's horizontal component, in quarter samples.
  ///   - y: the vector's vertical component.
  ///   - cost: the vector's cost by SAD.
  ///   - p: the predicted vector.
  ///   - reference: refIdxL0, or refIdxL1 plus `ReferencePlanes.list1`.
  /// - Returns: the best vector and its cost.
  mutating func refineMotion(
    shape: Int32, src: UnsafePointer<UInt8>, origin: UnsafePointer<UInt8>, x: Int, y: Int, cost: Int32,
    prediction p: MotionVector, reference: Int
  ) -> MotionCandidate {
    let refinesBySATD = picture.settings.motion.usesSATD
    var search = FractionalSearch(
      shape: shape, src: src, origin: origin, prediction: p, reference: reference, start: (x, y), x: x, y: y,
      cost: cost, satd: refinesBySATD && !picture.settings.motion.usesSADForHalfSamples)
    if search.satd { search.cost = fractionalCost(search, x, y) }
    tryPredictedVector(&search)
    if !compareHalfSamplesAtOnce(&search) {
      descendFractional(
        &search, step: 2, rounds: picture.settings.motion.halfSampleRounds, readsChroma: false)
    }
    if search.satd != refinesBySATD { compareBySATD(&search) }
    let readsChroma =
      picture.settings.motion.usesChroma && shape == 0 && !picture.isBidirectional && !stream.is444
    if readsChroma {
      search.chroma = chromaDistortion(search.x, search.y, reference)
      search.cost &+= search.chroma
    }
    descendFractional(
      &search, step: 1, rounds: picture.settings.motion.quarterSampleRounds, readsChroma: readsChroma)
    return MotionCandidate(
      v: MotionVector(Int16(truncatingIfNeeded: search.x), Int16(truncatingIfNeeded: search.y)),
      cost: search.cost &- search.chroma,
      chroma: search.chroma)
  }

  /// The cost of a vector: the distortion of luma, at 4:4:4 of all components, plus lambda times
  /// the bits of mvd.
  ///
  /// - Parameters:
  ///   - search: the block and the measure.
  ///   - x: the vector's horizontal component, in quarter samples.
  ///   - y: the vector's vertical component.
  @inline(__always) private mutating func fractionalCost(
    _ search: FractionalSearch, _ x: Int, _ y: Int
  ) -> Int32 {
    let distortion =
      stream.is444
      ? compareComponents(
        search.shape, search.src, search.origin, x, y, width: search.width, height: search.height,
        satd: search.satd)
      : compare(
        search.shape, search.src, search.origin, x, y, width: search.width, height: search.height,
        satd: search.satd)
    return distortion &+ motionCost(x, y, search.prediction)
  }

  /// Tries the predicted vector, which is often best, as it costs almost nothing to code.
  @inline(__always) private mutating func tryPredictedVector(_ search: inout FractionalSearch) {
    let x = min(max(Int(search.prediction.x), minX), maxX)
    let y = min(max(Int(search.prediction.y), minY), maxY)
    guard (x | y) & 3 != 0 && (x != search.start.x || y != search.start.y) else { return }
    let cost = fractionalCost(search, x, y)
    if cost < search.cost { search.take(x, y, cost: cost) }
  }

  /// Compares the four half-sample positions around a full-sample vector at once, where the
  /// half-sample step is a single round by SAD: they are samples of the planes h and b only
  /// (8.4.2.2.1).
  ///
  /// - Returns: whether the positions were compared.
  @inline(__always) private mutating func compareHalfSamplesAtOnce(_ search: inout FractionalSearch) -> Bool {
    let (x, y) = (search.x, search.y)
    guard
      !search.satd && picture.settings.motion.halfSampleRounds == 1 && (x | y) & 3 == 0 && x &- 2 >= minX
        && x &+ 2 <= maxX && y &- 2 >= minY && y &+ 2 <= maxY
    else { return false }
    let p = search.prediction
    let at = search.origin + ((y >> 2) &* stride &+ (x >> 2))
    let b = at + stream.quarterOffsets[2].0
    let h = at + stream.quarterOffsets[8].0
    ovt_sad_x4(k, search.shape, search.src, h - stride, h, b - 1, b, stride, costs)
    if stream.is444 { addChromaSADs(search.shape, search.src, h - stride, h, b - 1, b) }
    search.sides.up = costs[0] &+ motionCost(x, y &- 2, p)
    search.sides.down = costs[1] &+ motionCost(x, y &+ 2, p)
    search.sides.left = costs[2] &+ motionCost(x &- 2, y, p)
    search.sides.right = costs[3] &+ motionCost(x &+ 2, y, p)
    let sides = search.sides
    if sides.up < search.cost { search.take(x, y &- 2, cost: sides.up) }
    if sides.down < search.cost { search.take(x, y &+ 2, cost: sides.down) }
    if sides.left < search.cost { search.take(x &- 2, y, cost: sides.left) }
    if sides.right < search.cost { search.take(x &+ 2, y, cost: sides.right) }
    return true
  }

  /// Measures the best half-sample vector and the full-sample vector by SATD, and keeps the better.
  @inline(__always) private mutating func compareBySATD(_ search: inout FractionalSearch) {
    search.satd = true
    search.cost = fractionalCost(search, search.x, search.y)
    guard search.hasMoved else { return }
    let fullSampleCost = fractionalCost(search, search.start.x, search.start.y)
    if fullSampleCost < search.cost { search.take(search.start.x, search.start.y, cost: fullSampleCost) }
  }

  /// Descends on a diamond of half or quarter samples to the nearest minimum.
  ///
  /// - Parameters:
  ///   - search: the best vector so far; is replaced by a better one.
  ///   - step: the distance of the positions that are compared, in quarter samples: 2 or 1.
  ///   - rounds: the most rounds.
  ///   - readsChroma: whether the SATD of chroma counts.
  private mutating func descendFractional(
    _ search: inout FractionalSearch, step: Int, rounds: Int, readsChroma: Bool
  ) {
    // Where the half-sample step has kept its vector, its costs tell which of two opposite
    // quarter-sample positions is compared.
    let both = step == 2 || search.hasMoved || rounds > 1
    var rounds = rounds
    var from = 0
    while rounds > 0 {
      rounds &-= 1
      let (centerX, centerY) = (search.x, search.y)
      var direction = 0
      for d in 1...4 {
        // This position is where the round before came from.
        if d == from { continue }
        if !both && search.sides.isWorseThanOpposite(d) { continue }
        let x = centerX &+ (d == 3 ? -step : d == 4 ? step : 0)
        let y = centerY &+ (d == 1 ? -step : d == 2 ? step : 0)
        if x < minX || x > maxX || y < minY || y > maxY { continue }
        var cost = fractionalCost(search, x, y)
        var chroma: Int32 = 0
        if readsChroma && cost < search.cost {
          chroma = chromaDistortion(x, y, search.reference)
          cost &+= chroma
        }
        if step == 2 && from == 0 { search.sides.set(d, cost) }
        if cost < search.cost {
          search.take(x, y, cost: cost)
          search.chroma = chroma
          direction = d
        }
      }
      if direction == 0 { break }
      from = direction & 1 == 1 ? direction &+ 1 : direction &- 1
    }
  }

  /// SATD of the macroblock's chroma with a vector.
  ///
  /// - Parameters:
  ///   - x: the vector's horizontal component, in quarter samples.
  ///   - y: the vector's vertical component.
  ///   - reference: refIdxL0.
  private mutating func chromaDistortion(_ x: Int, _ y: Int, _ reference: Int) -> Int32 {
    let v = MotionVector(Int16(truncatingIfNeeded: x), Int16(truncatingIfNeeded: y))
    predictChroma(scratch.chromaPrediction, 16, x: 0, y: 0, width: 0, height: 16, v, reference: reference)
    return ovt_satd_nv12(k, sourceChroma, scratch.chromaPrediction, 16)
  }

  /// The distortion of all components of a 4:4:4 picture; parameters are those of `compare`.
  @inline(never) private mutating func compareComponents(
    _ shape: Int32, _ src: UnsafePointer<UInt8>, _ origin: UnsafePointer<UInt8>, _ x: Int, _ y: Int,
    width: Int32, height: Int32, satd: Bool
  ) -> Int32 {
    var sum: Int32 = 0
    for c in 0..<3 {
      sum &+= compare(
        shape, src + c &* MacroblockCoder.componentSamples, origin + c &* stream.componentOffset, x, y,
        width: width, height: height, satd: satd)
    }
    return sum
  }

  /// Compares the source with the prediction of a vector.
  ///
  /// - Parameters:
  ///   - shape: the block's shape (`OVT_16x16` and so on).
  ///   - src: the source block, in rows of 16 samples.
  ///   - origin: the block at the same position in the reference picture.
  ///   - x: the vector's horizontal component, in quarter samples.
  ///   - y: the vector's vertical component.
  ///   - width: index of the width in the kernels: 0 for 16 samples, 1 for 8.
  ///   - height: rows.
  ///   - satd: whether to compare by SATD; by SAD otherwise.
  /// - Returns: the distortion.
  @inline(__always) private mutating func compare(
    _ shape: Int32, _ src: UnsafePointer<UInt8>, _ origin: UnsafePointer<UInt8>, _ x: Int, _ y: Int,
    width: Int32, height: Int32, satd: Bool
  ) -> Int32 {
    let at = origin + ((y >> 2) &* stride &+ (x >> 2))
    let (first, second) = stream.quarterOffsets[(y & 3) &* 4 &+ (x & 3)]
    if first == second {
      return satd ? ovt_satd(k, shape, src, at + first, stride) : ovt_sad(k, shape, src, at + first, stride)
    }
    if shape == 0 {
      return satd
        ? ovt_satd_of_average(k, src, at + first, at + second, stride)
        : ovt_sad_of_average(k, src, at + first, at + second, stride)
    }
    ovt_average(k, width, scratch.prediction, 16, at + first, at + second, stride, height)
    return satd
      ? ovt_satd(k, shape, src, scratch.prediction, 16) : ovt_sad(k, shape, src, scratch.prediction, 16)
  }
}
