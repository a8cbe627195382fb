// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import CVideoKernels
import VideoEncoding

/// One way to code a coding unit, with its reconstruction and its levels.
struct Trial<Sample: HEVCSample>: BitwiseCopyable {
  /// Luma in rows of 32, Cb and Cr in rows of 16 samples.
  let luma: UnsafeMutablePointer<Sample>
  let cb: UnsafeMutablePointer<Sample>
  let cr: UnsafeMutablePointer<Sample>
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
  /// The prediction of the present trial, in rows of 32 and 16.
  let prediction: UnsafeMutablePointer<Sample>
  let predictionCb: UnsafeMutablePointer<Sample>
  let predictionCr: UnsafeMutablePointer<Sample>
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
  }

  var picture: PictureContext { motion.picture }

  /// Sets the QP of the next row of coding tree units.
  mutating func setRow(qp: Int) {
    rowQP = qp
    setQP(qp)
  }

  /// Sets the QP of the next coding units.
  private mutating func setQP(_ qp: Int) {
    self.qp = qp
    chromaQP = ChromaQP.of(qp)
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
    return min(max(rowQP &+ mean, minimumQP), maximumQP)
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
  /// - Returns: the cost.
  private mutating func decide(_ x: Int, _ y: Int, _ log2Size: Int, limit: Int) -> Int {
    let size = 1 &<< log2Size
    guard x &+ size <= layout.width, y &+ size <= layout.height else {
      if !isIntraSlice { starts.forget(log2Size) }
      return divide(x, y, log2Size, limit: limit)
    }
    let best = trials + (5 &- log2Size) &* 2
    best.pointee.cost = Int.max
    (best + 1).pointee.cost = Int.max
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
        let divided = divide(x, y, log2Size, limit: best.pointee.cost &- flag)
        if divided &+ flag < best.pointee.cost { return divided &+ flag }
      }
    }
    commit(best.pointee)
    return best.pointee.cost
  }

  /// Codes the four quarters of a block, as far as they are in the picture.
  private mutating func divide(_ x: Int, _ y: Int, _ log2Size: Int, limit: Int) -> Int {
    let half = 1 &<< (log2Size &- 1)
    var total = 0
    for part in 0..<4 {
      let (px, py) = (x &+ (part & 1) &* half, y &+ (part &>> 1) &* half)
      guard px < layout.width, py < layout.height else { continue }
      if blockOffsets != nil && log2Size == 5 {
        total &+= decideQuarter(px, py, limit: limit == Int.max ? limit : limit &- total)
      } else {
        total &+= decide(px, py, log2Size &- 1, limit: limit)
      }
      if total >= limit { return total }
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
    return cost &* outer / inner
  }

  /// Makes the present trial the best one if it costs less.
  @inline(__always) func keepBetter(_ best: UnsafeMutablePointer<Trial<Sample>>) {
    if (best + 1).pointee.cost < best.pointee.cost {
      swap(&best[0], &best[1])
    }
  }

  /// Makes a trial what is coded: writes it into the picture and into what is known of its blocks.
  func commit(_ trial: Trial<Sample>) {
    let unit = trial.unit
    let (x, y) = (Int(unit.x), Int(unit.y))
    let size = 1 &<< Int(unit.log2Size)
    let z = LevelLayout.zIndex(x, y)
    let planes = pixels.target.planes
    let (stride, chromaStride) = (layout.lumaStride, layout.chromaStride)
    blocks.copy(trial.luma, 32, planes.luma + y &* stride + x, stride, size)
    let chroma = (y &>> 1) &* chromaStride &+ (x &>> 1)
    blocks.copy(trial.cb, 16, planes.cb + chroma, chromaStride, size &>> 1)
    blocks.copy(trial.cr, 16, planes.cr + chroma, chromaStride, size &>> 1)
    let samples = size &* size
    if unit.cbfLuma != 0 { (tree.levels + z &* 64).update(from: trial.levels, count: samples) }
    if unit.cbfCb != 0 {
      (tree.levels + LevelLayout.cb + z &* 16)
        .update(from: trial.levels + LevelLayout.cb, count: samples / 4)
    }
    if unit.cbfCr != 0 {
      (tree.levels + LevelLayout.cr + z &* 16)
        .update(from: trial.levels + LevelLayout.cr, count: samples / 4)
    }
    tree.units[z] = unit
    tree.units[z].qp = Int8(truncatingIfNeeded: qp)
    let n = size &>> 3
    let at = map.index(x, y)
    let row = map.width
    let isIntra = unit.kind == .intra
    let mode: UInt8 = isIntra ? unit.lumaModes.0 : 1
    let coded: UInt8 = unit.cbfLuma != 0 ? 1 : 0
    for v in 0..<n {
      let line = at &+ v &* row
      (map.log2Size + line).update(repeating: unit.log2Size, count: n)
      (map.kind + line).update(repeating: unit.kind.rawValue, count: n)
      (map.coded + line).update(repeating: coded, count: n)
      (map.partMode + line).update(repeating: unit.partMode.rawValue, count: n)
      for u in 0..<2 {
        (map.lumaMode + ((y &>> 2) + 2 &* v + u) &* row &* 2 + (x &>> 2))
          .update(repeating: mode, count: 2 &* n)
      }
    }
    if unit.isSplit {
      if isIntra {
        let four = (y &>> 2) &* row &* 2 &+ (x &>> 2)
        map.lumaMode[four &+ 1] = unit.lumaModes.1
        map.lumaMode[four &+ row &* 2] = unit.lumaModes.2
        map.lumaMode[four &+ row &* 2 &+ 1] = unit.lumaModes.3
      } else {
        let half = n &>> 1
        for v in 0..<n {
          for u in 0..<n {
            let part = (u >= half ? 1 : 0) &+ (v >= half ? 2 : 0)
            map.coded[at &+ v &* row &+ u] = unit.cbfLuma &>> UInt8(part) & 1
          }
        }
      }
    }
    if !isIntraSlice || isIntra { setMotion(unit, at, n) }
  }

  /// Writes the motion of a unit into that of the picture.
  private func setMotion(_ unit: CodingUnit, _ at: Int, _ n: Int) {
    let motion = picture.target.motion + at
    let half = n &>> 1
    for v in 0..<n {
      let line = motion + v &* map.width
      if unit.kind == .intra {
        line.update(repeating: MotionPair(), count: n)
        continue
      }
      switch unit.partMode {
      case .whole: line.update(repeating: unit.first.motion, count: n)
      case .horizontal:
        line.update(repeating: v < half ? unit.first.motion : unit.second.motion, count: n)
      case .vertical:
        line.update(repeating: unit.first.motion, count: half)
        (line + half).update(repeating: unit.second.motion, count: n &- half)
      }
    }
  }
}

/// QpC of 4:2:0 by qPi (table 8-10), without offsets.
enum ChromaQP {
  private static let table: [Int] = [29, 30, 31, 32, 33, 33, 34, 34, 35, 35, 36, 36, 37, 37]

  static func of(_ qp: Int) -> Int { qp < 30 ? qp : qp >= 44 ? qp - 6 : table[qp - 30] }
}
