// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import VideoEncoding

/// The result of coding a transform block.
struct BlockResult: BitwiseCopyable {
  /// Whether the block has levels.
  var isCoded = false
  /// Whether its coefficients are so small that they quantise to 0 with any rounding.
  var isNegligible = false
  /// transform_skip_flag
  var skipsTransform = false
  /// The squared error of its samples.
  var error = 0
  /// An estimate of the bits of its levels, in sixteenths of a bit.
  var bits = 0
}

/// A transform block to be coded.
struct TransformBlock: BitwiseCopyable {
  /// log2 of the size, 2...5.
  var log2Size: Int
  /// The QP of the component.
  var qp: Int
  /// Whether it is of Cb or Cr.
  var isChroma = false
  /// The rounding offset of quantisation without RDOQ, in 1/512 of a step.
  var deadZone: Int
  /// Whether the transform is the DST: luma of 4x4 intra blocks.
  var isDST = false
  /// scanIdx
  var scan = 0
  /// The context variable of its coded block flag.
  var codedFlag: Int
  /// Whether all levels are set to 0 where that lowers the rate-distortion cost.
  var hasLimit = true
  /// Lambda: the squared error that one bit may cost, in 1/256.
  var lambda: Int
}

/// Transforms, quantises and reconstructs transform blocks (8.6).
struct BlockCoder<Sample: HEVCSample>: BitwiseCopyable {
  private typealias Kernels = Sample.Kernels

  let kernels: UnsafePointer<Sample.Kernels>
  let residualKernels: UnsafePointer<OVTHEVCResidualKernels>
  private let residual: UnsafeMutablePointer<Int16>
  let coefficients: UnsafeMutablePointer<Int16>
  /// The levels of a group in the order of the scan.
  let scanned: UnsafeMutablePointer<Int16>
  let tables: ScanTables
  private let decision: LevelDecision
  /// The levels and the reconstruction of a block without a transform, and its description.
  private let skipLevels: UnsafeMutablePointer<Int16>
  private let skipOutput: UnsafeMutablePointer<Sample>
  /// Whether blocks of 32x32 samples have the 16x16 coefficients of the lowest frequencies alone,
  /// where the others have little energy.
  var limitsFrequencies = false
  /// Whether blocks of 4x4 samples are tried without a transform.
  var triesTransformSkip = true
  /// Whether the sign of one level in each sub-block is hidden (sign_data_hiding_enabled_flag,
  /// 7.3.8.11).
  var hidesSigns = true
  /// Whether levels are chosen by rate and distortion (`LevelDecision`).
  var optimisesLevels = false

  /// The smallest number of levels of a transformed block for which transform skip is tried. A
  /// block with a single level is already compact.
  private static var fewestSkipLevels: Int { 2 }
  /// The bits in sixteenths by which transform skip must be cheaper than the transform. They stand
  /// for transform_skip_flag and for an estimate that is too low, because it assumes the level
  /// statistics of transformed blocks.
  private static var skipBits: Int { 96 }

  /// The coefficients of a block of 32x32 samples but for the 16x16 of the lowest frequencies.
  private static var highFrequencies: Int { 768 }
  /// The mean energy of these, in units of lambda, above which they are not left out. Lambda is
  /// about a sixteenth of the square of a step.
  private static var highEnergy: Int { 2 }

  /// The rounding offset of quantisation before RDOQ, in 1/512 of a step. It is below one half
  /// (256), because RDOQ hardly ever keeps a level that a larger offset would add.
  private static var roundingZone: Int { 205 }

  init(kernels: UnsafePointer<Sample.Kernels>, costs: ContextCosts, memory: inout EncoderMemory) {
    self.kernels = kernels
    residualKernels = Sample.Kernels.residual(kernels)
    residual = memory.allocate(Int16.self, count: 1024)
    coefficients = memory.allocate(Int16.self, count: 1024)
    skipLevels = memory.allocate(Int16.self, count: 16)
    skipOutput = memory.allocate(Sample.self, count: 16)
    scanned = memory.allocate(Int16.self, count: 16)
    tables = ScanTables(memory: &memory)
    decision = LevelDecision(
      costs: costs, tables: tables, kernels: residualKernels, memory: &memory)
  }

  /// An estimate of the bits of a block with levels, in sixteenths of a bit.
  @inline(__always) private static func bits(_ info: OVTHEVCLevels, log2Size: Int) -> Int {
    let count = Int(info.count)
    let sum = Int(info.sum)
    let groups = info.groups.nonzeroBitCount
    return 40 &+ 16 &* log2Size &+ 64 &* count &+ 20 &* (sum &- count) &+ 52 &* (groups &- 1)
  }

  /// The squared error of a square block.
  @inline(__always) func squaredError(
    _ a: UnsafePointer<Sample>, _ aStride: Int, _ b: UnsafePointer<Sample>, _ bStride: Int, _ log2Size: Int
  ) -> Int {
    let shape = log2Size == 5 ? OVT_32x32 : log2Size == 4 ? OVT_16x16 : log2Size == 3 ? OVT_8x8 : OVT_4x4
    return Int(Kernels.ssd(kernels, Int32(shape), a, aStride, b, bStride))
  }

  /// Codes a block.
  /// - Parameters:
  ///   - block: the block.
  ///   - source: the samples to code.
  ///   - prediction: the predicted samples.
  ///   - output: receives the reconstruction; not `prediction`.
  ///   - levels: receives the levels; they are undefined where the block has none.
  func code(
    _ block: TransformBlock, source: UnsafePointer<Sample>, _ sourceStride: Int,
    prediction: UnsafePointer<Sample>, _ predictionStride: Int, output: UnsafeMutablePointer<Sample>,
    _ outputStride: Int, levels: UnsafeMutablePointer<Int16>
  ) -> BlockResult {
    let log2Size = block.log2Size
    let size = 1 &<< log2Size
    let depth = Int32(Sample.bitDepth)
    let qp = block.qp &+ Sample.qpOffset
    Kernels.difference(
      kernels, residual, size, source, sourceStride, prediction, predictionStride, Int32(size), Int32(size))
    if block.isDST {
      residualKernels.pointee.forwardDST4x4(coefficients, residual, size, depth)
    } else if log2Size == 5 && limitsFrequencies {
      residualKernels.pointee.forwardLow32(coefficients, residual, size, depth)
      let plain = squaredError(source, sourceStride, prediction, predictionStride, log2Size)
      if hasHighFrequencies(block, energy: plain) {
        ovt_hevc_forward(residualKernels, Int32(log2Size), coefficients, residual, size, depth)
      }
    } else {
      ovt_hevc_forward(residualKernels, Int32(log2Size), coefficients, residual, size, depth)
    }
    var info = OVTHEVCLevels()
    var result = BlockResult()
    let bits = quantise(levels, block, &info, isNegligible: &result.isNegligible)
    if info.count > 0 {
      result.isCoded = true
      result.bits = bits
      residualKernels.pointee.dequantise(coefficients, levels, Int32(log2Size), Int32(qp), depth)
      if info.groups == 1 && info.count == 1 && levels[0] != 0 && !block.isDST {
        let dc = ovt_hevc_dc_residual(Int32(coefficients[0]), depth)
        Kernels.reconstructDC(
          kernels, output, outputStride, prediction, predictionStride, dc, Int32(size), Int32(size))
      } else {
        if block.isDST {
          residualKernels.pointee.inverseDST4x4(residual, size, coefficients, depth, 4, 4)
        } else {
          ovt_hevc_inverse(
            residualKernels, Int32(log2Size), residual, size, coefficients, depth,
            ovt_hevc_columns(info.groups), ovt_hevc_rows(info.groups))
        }
        Kernels.reconstruct(
          kernels, output, outputStride, prediction, predictionStride, residual, size, Int32(size),
          Int32(size))
      }
      result.error = squaredError(source, sourceStride, output, outputStride, log2Size)
      if log2Size == 2 && triesTransformSkip && info.count >= Self.fewestSkipLevels {
        codeWithoutTransform(
          block, source, sourceStride, prediction, predictionStride, output, outputStride, levels,
          &result)
      }
      if block.hasLimit {
        let plain = squaredError(source, sourceStride, prediction, predictionStride, log2Size)
        if plain <= result.error &+ (block.lambda &* result.bits) &>> 12 {
          result = BlockResult()
          copy(prediction, predictionStride, output, outputStride, size)
          result.error = plain
        }
      }
      return result
    }
    copy(prediction, predictionStride, output, outputStride, size)
    result.error = squaredError(source, sourceStride, output, outputStride, log2Size)
    return result
  }

  /// Whether the high frequencies of a block of 32x32 samples have so much energy that to leave
  /// them out would cost more bits than it saves. `coefficients` has the low frequencies.
  /// - Parameter energy: the sum of the squares of the residual. The transform keeps it (Parseval's
  ///   theorem), so that the high frequencies have what the low ones leave.
  @inline(__always) private func hasHighFrequencies(_ block: TransformBlock, energy: Int) -> Bool {
    let limit = (Self.highFrequencies &* Self.highEnergy &* block.lambda) &>> 8
    guard energy > limit else { return false }
    var low: Int64 = 0
    for y in 0..<16 {
      let row = coefficients + y &* 32
      for x in 0..<16 {
        let value = Int32(row[x])
        low &+= Int64(value &* value)
      }
    }
    // The forward transform scales by 2 to the power of 15 - bitDepth - log2Size (8.6.4.2).
    let scale = 2 &* (10 &- Sample.bitDepth)
    return energy &- Int(low &>> Int64(scale)) > limit
  }

  /// Quantises `coefficients`.
  /// - Parameters:
  ///   - levels: receives the levels.
  ///   - block: the block.
  ///   - info: receives what the block has.
  ///   - isNegligible: receives `BlockResult.isNegligible`.
  /// - Returns: an estimate of the bits of the levels, in sixteenths of a bit.
  private func quantise(
    _ levels: UnsafeMutablePointer<Int16>, _ block: TransformBlock, _ info: inout OVTHEVCLevels,
    isNegligible: inout Bool
  ) -> Int {
    let log2Size = block.log2Size
    let depth = Int32(Sample.bitDepth)
    let qp = block.qp &+ Sample.qpOffset
    let zone = optimisesLevels ? Self.roundingZone : block.deadZone
    residualKernels.pointee.quantise(
      levels, coefficients, Int32(log2Size), Int32(qp), depth, Int32(zone), &info)
    isNegligible = info.count == 0
    guard info.count > 0 else { return 0 }
    guard optimisesLevels else {
      if info.count > 1 && hidesSigns
        && hideSigns(levels, log2Size: log2Size, qp: qp, groups: info.groups, scan: block.scan)
      {
        residualKernels.pointee.describe(levels, Int32(log2Size), &info)
      }
      return Self.bits(info, log2Size: log2Size)
    }
    let decided = decision.decide(
      levels, coefficients, groups: info.groups,
      LevelDecision.Block(
        log2Size: log2Size, qp: qp, isChroma: block.isChroma, scan: block.scan,
        codedFlag: block.codedFlag, lambda: block.lambda &* 7 / 5, hidesSigns: hidesSigns),
      depth: Sample.bitDepth)
    guard let decided else {
      info = OVTHEVCLevels()
      return 0
    }
    residualKernels.pointee.describe(levels, Int32(log2Size), &info)
    return decided &>> 4
  }

  /// Codes a block of 4x4 samples without a transform (8.6.4.2), and makes that the result if it
  /// costs less.
  private func codeWithoutTransform(
    _ block: TransformBlock, _ source: UnsafePointer<Sample>, _ sourceStride: Int,
    _ prediction: UnsafePointer<Sample>, _ predictionStride: Int,
    _ output: UnsafeMutablePointer<Sample>, _ outputStride: Int,
    _ levels: UnsafeMutablePointer<Int16>, _ result: inout BlockResult
  ) {
    // The inverse transform has overwritten the residual.
    Kernels.difference(
      kernels, residual, 4, source, sourceStride, prediction, predictionStride, 4, 4)
    // The gain of a transform of 4x4 samples.
    let shift = 13 &- Sample.bitDepth
    let depth = Int32(Sample.bitDepth)
    for i in 0..<16 { coefficients[i] = residual[i] &<< Int16(shift) }
    var info = OVTHEVCLevels()
    var isNegligible = false
    let bits = quantise(skipLevels, block, &info, isNegligible: &isNegligible) &+ Self.skipBits
    guard info.count > 0 else { return }
    let qp = block.qp &+ Sample.qpOffset
    residualKernels.pointee.dequantise(coefficients, skipLevels, 2, Int32(qp), depth)
    let rounding = 1 &<< (shift &- 1)
    for i in 0..<16 {
      residual[i] = Int16(truncatingIfNeeded: (Int(coefficients[i]) &+ rounding) &>> shift)
    }
    Kernels.reconstruct(kernels, skipOutput, 4, prediction, predictionStride, residual, 4, 4, 4)
    let error = squaredError(source, sourceStride, skipOutput, 4, 2)
    let weight = block.lambda
    guard error &+ (weight &* bits) &>> 12 < result.error &+ (weight &* result.bits) &>> 12 else { return }
    copy(skipOutput, 4, output, outputStride, 4)
    levels.update(from: skipLevels, count: 16)
    result = BlockResult(isCoded: true, skipsTransform: true, error: error, bits: bits)
  }

  /// Copies a square block of 4, 8, 16 or 32 samples a side.
  @inline(__always) func copy(
    _ source: UnsafePointer<Sample>, _ sourceStride: Int, _ to: UnsafeMutablePointer<Sample>, _ stride: Int,
    _ size: Int
  ) {
    switch size &* MemoryLayout<Sample>.size {
    case 4: copyRows(UInt32.self, source, sourceStride, to, stride, size)
    case 8: copyRows(UInt64.self, source, sourceStride, to, stride, size)
    case 16: copyRows(SIMD16<UInt8>.self, source, sourceStride, to, stride, size)
    case 32: copyRows(SIMD32<UInt8>.self, source, sourceStride, to, stride, size)
    default: copyRows(SIMD64<UInt8>.self, source, sourceStride, to, stride, size)
    }
  }

  /// Copies rows, each of which is one value of a type. A call of `memmove` would take longer.
  @inline(__always) private func copyRows<Row: BitwiseCopyable>(
    _: Row.Type, _ source: UnsafePointer<Sample>, _ sourceStride: Int,
    _ to: UnsafeMutablePointer<Sample>, _ stride: Int, _ count: Int
  ) {
    for y in 0..<count {
      let row = UnsafeRawPointer(source + y &* sourceStride).loadUnaligned(as: Row.self)
      UnsafeMutableRawPointer(to + y &* stride).storeBytes(of: row, as: Row.self)
    }
  }
}
