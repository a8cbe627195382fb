// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import CVideoKernels
import VideoEncoding

/// One way to code a coding unit, with its reconstruction and its levels.
struct Trial<Sample: HEVCSample>: BitwiseCopyable {
  /// Luma in rows of 32, Cb and Cr in rows of 16 samples.
  var luma: UnsafeMutablePointer<Sample>
  var cb: UnsafeMutablePointer<Sample>
  var cr: UnsafeMutablePointer<Sample>
  /// Luma first, Cb and Cr at `LevelLayout.cb` and `.cr`.
  let levels: UnsafeMutablePointer<Int16>
  var unit = CodingUnit()
  /// Squared error and lambda times bits; the greatest number where there is no trial.
  var cost = Int.max

  init(memory: inout EncoderMemory) {
    luma = memory.allocate(Sample.self, count: 1024)
    cb = memory.allocate(Sample.self, count: 256)
    cr = memory.allocate(Sample.self, count: 256)
    levels = memory.allocate(Int16.self, count: LevelLayout.count)
  }
}

/// Decides and reconstructs coding tree units of 32x32 samples.
///
/// A unit is tried as a whole first; where that is expensive, it is divided into four, and the
/// cheaper way by squared error and estimated bits is kept. What is decided is in `tree`,
/// the map, and the planes and motion of the picture.
struct CodingTreeCoder<Sample: HEVCSample>: BitwiseCopyable {
  typealias Kernels = Sample.Kernels

  let kernels: UnsafePointer<Kernels>
  let layout: PlaneLayout
  let map: PictureMap
  var settings: EffortSettings
  var motion: MotionCandidates
  /// The samples of the picture.
  var pixels: PictureSamples<Sample>
  var blocks: BlockCoder<Sample>
  /// The bits of CABAC bins.
  let costs: ContextCosts
  /// The bits of motion vector differences in the current picture.
  var motionBits = MotionBits()
  /// Receives the syntax of the present coding tree unit.
  var tree: CodedTreeUnit
  /// Two trials for each depth: the best one so far and the present one.
  let trials: UnsafeMutablePointer<Trial<Sample>>
  /// The prediction of the present trial, in rows of 32 and 16. A unit without a residual takes
  /// these buffers in exchange for its own.
  var prediction: UnsafeMutablePointer<Sample>
  var predictionCb: UnsafeMutablePointer<Sample>
  var predictionCr: UnsafeMutablePointer<Sample>
  /// Scratch: candidates of motion, three predictions of the search, the intermediate values of two
  /// predictions (8.5.3.3.4), neighbours of intra blocks.
  let merges: UnsafeMutablePointer<MotionPair>
  let searchScratch: UnsafeMutablePointer<Sample>
  /// The vectors that the search found for the present unit of each size, by list and reference:
  /// where the search for its quarters begins (`SearchStarts`).
  let starts: SearchStarts
  let intermediates: UnsafeMutablePointer<Int16>
  let edge: UnsafeMutablePointer<Sample>
  let smoothEdge: UnsafeMutablePointer<Sample>
  /// Both in reverse order, and the transposed source, in rows of 32 samples: modes from 2 to 17
  /// are compared so, since prediction from above is faster.
  let reversedEdge: UnsafeMutablePointer<Sample>
  let reversedSmoothEdge: UnsafeMutablePointer<Sample>
  let transposedSource: UnsafeMutablePointer<Sample>

  /// The motion of large parts of the picture.
  var screen = ScreenMotion()
  /// Whether units of the row are coded intra, in a P slice too.
  var mustBeIntra = false
  /// The luma row of reference pictures from which on units of the row must not refer to samples.
  var referenceEnd = Int.max
  /// Whether the slice is an I slice.
  var isIntraSlice = true
  /// QpY and the QP of chroma.
  var qp = 26
  var chromaQP = 26
  /// The squared error that a bit is worth, in 256ths, and the SATD, in 16ths, of samples as they
  /// are.
  var lambda = 256
  var lambdaSATD = 16
  /// The offset from the QP of the row for each block of 16x16 samples; nil: there is none.
  var blockOffsets: UnsafePointer<Int8>?
  /// The range of the QPs of blocks with offsets.
  var minimumQP = 0
  var maximumQP = 51
  /// The cost above which the unit that is decided does not matter. Trials that reach it need not
  /// be complete: they are not committed.
  var costLimit = Int.max
  /// The squared error that a bit is worth, as a multiple of what it is in P pictures.
  var lambdaScale = 1.0
  /// The QP of the row.
  private var rowQP = 26
  /// The columns and rows of `blockOffsets`.
  private let offsetColumns: Int
  private let offsetRows: Int
  /// The rounding offsets of quantisation in intra and inter blocks, in 1/512 of a step.
  let intraDeadZone = 171
  let interDeadZone = 85

  init(
    kernels: UnsafePointer<Kernels>, map: PictureMap, picture: PictureContext,
    pixels: PictureSamples<Sample>, configuration: HEVCEncoderConfiguration, layout: PlaneLayout,
    tree: CodedTreeUnit, costs: ContextCosts, memory: inout EncoderMemory
  ) {
    offsetColumns = (configuration.width + 15) / 16
    offsetRows = (configuration.height + 15) / 16
    self.tree = tree
    self.costs = costs
    self.kernels = kernels
    self.layout = layout
    self.map = map
    settings = EffortSettings(effort: configuration.effort)
    motion = MotionCandidates(map: map, width: layout.width, height: layout.height, picture: picture)
    self.pixels = pixels
    blocks = BlockCoder(kernels: kernels, costs: costs, memory: &memory)
    trials = memory.allocate(Trial<Sample>.self, count: 6)
    for i in 0..<6 { (trials + i).initialize(to: Trial(memory: &memory)) }
    prediction = memory.allocate(Sample.self, count: 1024)
    predictionCb = memory.allocate(Sample.self, count: 256)
    predictionCr = memory.allocate(Sample.self, count: 256)
    merges = memory.allocate(MotionPair.self, count: MotionCandidates.mergeCount)
    starts = SearchStarts(memory: &memory)
    searchScratch = memory.allocate(Sample.self, count: 3072)
    intermediates = memory.allocate(Int16.self, count: 2048)
    edge = memory.allocate(Sample.self, count: 256) + 128
    smoothEdge = memory.allocate(Sample.self, count: 256) + 128
    reversedEdge = memory.allocate(Sample.self, count: 256) + 128
    reversedSmoothEdge = memory.allocate(Sample.self, count: 256) + 128
    transposedSource = memory.allocate(Sample.self, count: 1024)
  }

  var picture: PictureContext { motion.picture }

  /// Sets the QP of the next row of coding tree units.
  mutating func setRow(qp: Int) {
    rowQP = qp
    setQP(qp)
  }

  /// Sets the QP of the next coding units. Above 51 they are quantised with 51, and the QP sets the
  /// multipliers alone.
  private mutating func setQP(_ qp: Int) {
    self.qp = min(qp, 51)
    chromaQP = ChromaQP.of(self.qp)
    // Measured: less than the 0.57 that papers on HEVC's encoder give, as bits are estimated high.
    // Squared errors grow with the square of the range of samples.
    let unit = Double(1 << (2 * Sample.extraBits))
    let value = 0.4 * exp2Approx((Double(qp) - 12) / 3) * lambdaScale * unit
    lambda = max(Int(value * 256), 1)
    lambdaSATD = max(Int((value.squareRoot() * 16).rounded()), 1)
  }

  /// The QP of a block with the mean offset of its 16x16 samples; that of the row where there are
  /// no offsets.
  private func blockQP(_ x: Int, _ y: Int, _ log2Size: Int) -> Int {
    guard let blockOffsets else { return rowQP }
    let side = max(1 &<< (log2Size &- 4), 1)
    let (left, top) = (min(x &>> 4, offsetColumns &- 1), min(y &>> 4, offsetRows &- 1))
    var (sum, count) = (0, 0)
    for row in top..<min(top &+ side, offsetRows) {
      for column in left..<min(left &+ side, offsetColumns) {
        sum &+= Int(blockOffsets[row &* offsetColumns &+ column])
        count &+= 1
      }
    }
    let mean = (2 &* sum &+ count) >> (count == 1 ? 1 : count == 2 ? 2 : 3)
    return min(max(rowQP &+ mean, minimumQP), max(maximumQP, rowQP))
  }

  /// Decides and reconstructs a coding tree unit at a position in luma samples.
  mutating func code(x: Int, y: Int) {
    if blockOffsets != nil { setQP(blockQP(x, y, 5)) }
    _ = decide(x, y, 5, limit: Int.max)
  }

  /// The cost of bits in squared error.
  /// - Parameter bits: sixteenths of a bit.
  @inline(__always) func cost(bits: Int) -> Int { (lambda &* bits) &>> 12 }
  /// The cost of bits in SATD.
  /// - Parameter bits: sixteenths of a bit.
  @inline(__always) func costSATD(bits: Int) -> Int { (lambdaSATD &* bits) &>> 8 }

  /// Codes the block at a position, as one unit or divided.
  /// - Parameters:
  ///   - x: the position in luma samples.
  ///   - y: the position in luma samples.
  ///   - log2Size: log2 of the size.
  ///   - limit: the cost above which the result does not matter.
  /// - Returns: the cost. Where that is `limit` or more, nothing need have been coded.
  private mutating func decide(_ x: Int, _ y: Int, _ log2Size: Int, limit: Int) -> Int {
    let size = 1 &<< log2Size
    guard x &+ size <= layout.width, y &+ size <= layout.height else {
      if !isIntraSlice { starts.forget(log2Size) }
      return divide(x, y, log2Size, limit: limit)
    }
    if limit <= 0 { return limit }
    let best = trials + (5 &- log2Size) &* 2
    best.pointee.cost = Int.max
    (best + 1).pointee.cost = Int.max
    costLimit = limit
    var mayDivide = log2Size > 3
    if isIntraSlice || mustBeIntra {
      tryIntra(x, y, log2Size)
    } else {
      if log2Size <= 3 && settings.smallestInter > 3 {
        // Only intra units are this small: the caller divides where it pays.
        tryIntra(x, y, log2Size)
      } else if tryInter(x, y, log2Size) {
        mayDivide = false
      }
      if log2Size <= settings.smallestInter && best.pointee.unit.kind != .intra {
        mayDivide = mayDivide && settings.smallestInter == 3
      }
    }
    let (wholeBits, dividedBits) = splitBits(x, y, log2Size)
    best.pointee.cost &+= cost(bits: wholeBits)
    if mayDivide {
      let samples = size &* size
      let threshold = (lambda &* settings.splitThreshold &* samples) &>> 12
      if best.pointee.cost > threshold {
        let flag = cost(bits: dividedBits)
        let bound = min(best.pointee.cost, limit)
        let divided = divide(x, y, log2Size, limit: bound &- flag)
        if divided &+ flag < bound { return divided &+ flag }
      }
    }
    if best.pointee.cost < limit { commit(best.pointee) }
    return best.pointee.cost
  }

  /// Codes the four quarters of a block, as far as they are in the picture.
  private mutating func divide(_ x: Int, _ y: Int, _ log2Size: Int, limit: Int) -> Int {
    let half = 1 &<< (log2Size &- 1)
    var total = 0
    for part in 0..<4 {
      let (px, py) = (x &+ (part & 1) &* half, y &+ (part &>> 1) &* half)
      guard px < layout.width, py < layout.height else { continue }
      let left = limit == Int.max ? limit : limit &- total
      let part =
        blockOffsets != nil && log2Size == 5
        ? decideQuarter(px, py, limit: left) : decide(px, py, log2Size &- 1, limit: left)
      if part >= left { return limit }
      total &+= part
    }
    return total
  }

  /// Codes a block of 16x16 samples with a QP of its own.
  /// - Parameters:
  ///   - x: the position in luma samples.
  ///   - y: the position in luma samples.
  ///   - limit: the cost above which the result does not matter.
  /// - Returns: the cost, with a bit worth what it is in the coding tree unit: a lower QP makes
  ///   errors weigh more.
  private mutating func decideQuarter(_ x: Int, _ y: Int, limit: Int) -> Int {
    let (outerQP, outer) = (qp, lambda)
    setQP(blockQP(x, y, 4))
    let inner = lambda
    // Costs of 32x32 samples times lambda fit 64 bits: with 10 bits an error is below 2^31, lambda
    // below 2^26.
    let bound = limit == Int.max ? limit : limit &* inner / outer
    let cost = decide(x, y, 4, limit: bound)
    setQP(outerQP)
    return cost >= bound ? limit : cost &* outer / inner
  }

  /// Makes the present trial the best one if it costs less.
  @inline(__always) func keepBetter(_ best: UnsafeMutablePointer<Trial<Sample>>) {
    if (best + 1).pointee.cost < best.pointee.cost {
      swap(&best[0], &best[1])
    }
  }
}

/// QpC of 4:2:0 by qPi (table 8-10), without offsets.
enum ChromaQP {
  private static let table: [Int] = [29, 30, 31, 32, 33, 33, 34, 34, 35, 35, 36, 36, 37, 37]

  static func of(_ qp: Int) -> Int { qp < 30 ? qp : qp >= 44 ? qp - 6 : table[qp - 30] }
}
