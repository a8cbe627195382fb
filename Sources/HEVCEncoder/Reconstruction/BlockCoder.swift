// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import VideoEncoding

/// What the coding of a transform block gave.
struct BlockResult: BitwiseCopyable {
  /// Whether the block has levels.
  var isCoded = false
  /// transform_skip_flag
  var skipsTransform = false
  /// The squared error of its samples.
  var error = 0
  /// An estimate of the bits of its levels, in sixteenths of a bit.
  var bits = 0
}

/// Transforms, quantises and reconstructs transform blocks (8.6).
struct BlockCoder<Sample: HEVCSample>: BitwiseCopyable {
  private typealias Kernels = Sample.Kernels

  let kernels: UnsafePointer<Sample.Kernels>
  private let residualKernels: UnsafePointer<OVTHEVCResidualKernels>
  private let residual: UnsafeMutablePointer<Int16>
  private let coefficients: UnsafeMutablePointer<Int16>
  /// By [scan][position]: the place in a 4x4 group.
  private let places: UnsafeMutablePointer<UInt8>
  /// The levels and the reconstruction of a block without a transform, and its description.
  private let skipLevels: UnsafeMutablePointer<Int16>
  private let skipOutput: UnsafeMutablePointer<Sample>
  /// Whether blocks of 4x4 samples are tried without a transform.
  var triesTransformSkip = true
  /// Whether the sign of a level in each group of levels is hidden (9.3.4.3).
  var hidesSigns = true

  /// The fewest levels of a transformed block that is tried without a transform: with one, the
  /// transform has done well.
  private static var fewestSkipLevels: Int { 2 }
  /// What a block without a transform has to save, in sixteenths of a bit: the flag, and that its
  /// levels follow the statistics of transformed blocks less well than the estimate tells.
  private static var skipBits: Int { 96 }

  /// The quantisation factors of QP % 6 (those of `OVTHEVCResidualKernels.quantise`).
  private static var factors: (Int, Int, Int, Int, Int, Int) {
    (26214, 23302, 20560, 18396, 16384, 14564)
  }

  init(kernels: UnsafePointer<Sample.Kernels>, memory: inout EncoderMemory) {
    self.kernels = kernels
    residualKernels = Sample.Kernels.residual(kernels)
    residual = memory.allocate(Int16.self, count: 1024)
    coefficients = memory.allocate(Int16.self, count: 1024)
    skipLevels = memory.allocate(Int16.self, count: 16)
    skipOutput = memory.allocate(Sample.self, count: 16)
    places = memory.allocate(UInt8.self, count: 48)
    withUnsafeBytes(of: ovt_hevc_scan4x4) {
      UnsafeMutableRawBufferPointer(start: places, count: 48).copyBytes(from: $0)
    }
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
  ///   - source: the samples to code.
  ///   - prediction: the predicted samples.
  ///   - output: receives the reconstruction; not `prediction`.
  ///   - levels: receives the levels; they are undefined where the block has none.
  ///   - log2Size: log2 of the size, 2...5.
  ///   - qp: the QP of the component.
  ///   - deadZone: what quantisation adds before rounding down, in 512ths of a step.
  ///   - isDST: whether the transform is the DST: luma of 4x4 intra blocks.
  ///   - scan: scanIdx, which decides what groups of levels hide a sign.
  ///   - lambda: the squared error that a bit is worth, in 256ths; a block whose levels are worth less
  ///     than they cost gets none. 0: it keeps them.
  ///   - decisionLambda: the squared error that a bit is worth where two ways to code are compared.
  func code(
    source: UnsafePointer<Sample>, _ sourceStride: Int, prediction: UnsafePointer<Sample>,
    _ predictionStride: Int, output: UnsafeMutablePointer<Sample>, _ outputStride: Int,
    levels: UnsafeMutablePointer<Int16>, log2Size: Int, qp: Int, deadZone: Int, isDST: Bool, scan: Int,
    lambda: Int, decisionLambda: Int
  ) -> BlockResult {
    let size = 1 &<< log2Size
    let depth = Int32(Sample.bitDepth)
    let qp = qp &+ Sample.qpOffset
    Kernels.difference(
      kernels, residual, size, source, sourceStride, prediction, predictionStride, Int32(size), Int32(size))
    if isDST {
      residualKernels.pointee.forwardDST4x4(coefficients, residual, size, depth)
    } else {
      ovt_hevc_forward(residualKernels, Int32(log2Size), coefficients, residual, size, depth)
    }
    var info = OVTHEVCLevels()
    residualKernels.pointee.quantise(
      levels, coefficients, Int32(log2Size), Int32(qp), depth, Int32(deadZone), &info)
    if info.count > 1 && hidesSigns {
      if hideSigns(levels, log2Size: log2Size, qp: qp, groups: info.groups, scan: scan) {
        residualKernels.pointee.describe(levels, Int32(log2Size), &info)
      }
    }
    var result = BlockResult()
    if info.count > 0 {
      result.isCoded = true
      result.bits = Self.bits(info, log2Size: log2Size)
      if info.groups == 1 && info.count == 1 && levels[0] != 0 && !isDST {
        residualKernels.pointee.dequantise(coefficients, levels, Int32(log2Size), Int32(qp), depth)
        let dc = ovt_hevc_dc_residual(Int32(coefficients[0]), depth)
        Kernels.reconstructDC(
          kernels, output, outputStride, prediction, predictionStride, dc, Int32(size), Int32(size))
      } else {
        residualKernels.pointee.dequantise(coefficients, levels, Int32(log2Size), Int32(qp), depth)
        if isDST {
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
          source, sourceStride, prediction, predictionStride, output, outputStride, levels, qp: qp,
          deadZone: deadZone, scan: scan, bitCost: decisionLambda, &result)
      }
      if lambda > 0 {
        let plain = squaredError(source, sourceStride, prediction, predictionStride, log2Size)
        if plain <= result.error &+ (lambda &* result.bits) &>> 12 {
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

  /// Codes a block of 4x4 samples, whose residual is in `residual`, without a transform (8.6.4.2),
  /// and makes that the result if it costs less.
  /// - Parameter qp: the QP of the component with QpBdOffset.
  private func codeWithoutTransform(
    _ source: UnsafePointer<Sample>, _ sourceStride: Int, _ prediction: UnsafePointer<Sample>,
    _ predictionStride: Int, _ output: UnsafeMutablePointer<Sample>, _ outputStride: Int,
    _ levels: UnsafeMutablePointer<Int16>, qp: Int, deadZone: Int, scan: Int, bitCost: Int,
    _ result: inout BlockResult
  ) {
    // The inverse transform has overwritten the residual.
    Kernels.difference(
      kernels, residual, 4, source, sourceStride, prediction, predictionStride, 4, 4)
    // The gain of a transform of 4x4 samples.
    let shift = 13 &- Sample.bitDepth
    let depth = Int32(Sample.bitDepth)
    for i in 0..<16 { coefficients[i] = residual[i] &<< Int16(shift) }
    var info = OVTHEVCLevels()
    residualKernels.pointee.quantise(
      skipLevels, coefficients, 2, Int32(qp), depth, Int32(deadZone), &info)
    if info.count > 1 && hidesSigns
      && hideSigns(skipLevels, log2Size: 2, qp: qp, groups: info.groups, scan: scan)
    {
      residualKernels.pointee.describe(skipLevels, 2, &info)
    }
    guard info.count > 0 else { return }
    let bits = Self.bits(info, log2Size: 2) &+ Self.skipBits
    residualKernels.pointee.dequantise(coefficients, skipLevels, 2, Int32(qp), depth)
    let rounding = 1 &<< (shift &- 1)
    for i in 0..<16 {
      residual[i] = Int16(truncatingIfNeeded: (Int(coefficients[i]) &+ rounding) &>> shift)
    }
    Kernels.reconstruct(kernels, skipOutput, 4, prediction, predictionStride, residual, 4, 4, 4)
    let error = squaredError(source, sourceStride, skipOutput, 4, 2)
    guard error &+ (bitCost &* bits) &>> 12 < result.error &+ (bitCost &* result.bits) &>> 12 else { return }
    copy(skipOutput, 4, output, outputStride, 4)
    levels.update(from: skipLevels, count: 16)
    result = BlockResult(isCoded: true, skipsTransform: true, error: error, bits: bits)
  }

  @inline(__always) func copy(
    _ source: UnsafePointer<Sample>, _ sourceStride: Int, _ to: UnsafeMutablePointer<Sample>, _ stride: Int,
    _ size: Int
  ) {
    for y in 0..<size { (to + y &* stride).update(from: source + y &* sourceStride, count: size) }
  }

  /// Makes the parity of the levels of each group that hides a sign tell that sign (9.3.4.3: the sum
  /// of magnitudes is even for a positive first level). The level is changed that costs least.
  /// - Parameter qp: the QP of the component with QpBdOffset.
  /// - Returns: whether a level was changed.
  private func hideSigns(
    _ levels: UnsafeMutablePointer<Int16>, log2Size: Int, qp: Int, groups: UInt64, scan: Int
  ) -> Bool {
    let order = places + scan &* 16
    let shift = 29 &+ qp / 6 &- Sample.bitDepth &- log2Size
    let factor: Int
    switch qp % 6 {
    case 0: factor = Self.factors.0
    case 1: factor = Self.factors.1
    case 2: factor = Self.factors.2
    case 3: factor = Self.factors.3
    case 4: factor = Self.factors.4
    default: factor = Self.factors.5
    }
    var isChanged = false
    // The last group in scan order has no levels after its last one.
    let lastGroup = lastGroup(groups, log2Size, scan)
    var rest = groups
    while rest != 0 {
      let place = rest.trailingZeroBitCount
      rest &= rest &- 1
      let origin = (place &>> 3) &* 4 &<< log2Size &+ (place & 7) &* 4
      var first = -1
      var last = -1
      var sum = 0
      for i in 0..<16 {
        let at = Int(order[i])
        let level = Int(levels[origin &+ (at &>> 2) &<< log2Size &+ (at & 3)])
        if level != 0 {
          if first < 0 { first = i }
          last = i
          sum &+= level
        }
      }
      guard last &- first > 3 else { continue }
      let firstAt = Int(order[first])
      let isNegative = levels[origin &+ (firstAt &>> 2) &<< log2Size &+ (firstAt & 3)] < 0
      // A sum of levels has the parity of the sum of their magnitudes.
      guard (sum & 1 != 0) != isNegative else { continue }
      var best = Int.max
      var bestAt = -1
      var bestChange = 0
      var i = place == lastGroup ? last : 15
      while i >= 0 {
        let at = Int(order[i])
        let index = origin &+ (at &>> 2) &<< log2Size &+ (at & 3)
        let level = Int(levels[index])
        let magnitude = level < 0 ? 0 &- level : level
        let coefficient = Int(coefficients[index])
        let absolute = coefficient < 0 ? 0 &- coefficient : coefficient
        // The distance to the unquantised value in 256ths of a step.
        let distance = (absolute &* factor) &>> (shift &- 8) &- magnitude &<< 8
        var cost = Int.max
        var change = 1
        if magnitude != 0 {
          if distance > 0 {
            cost = 0 &- distance
          } else if !(i == first && magnitude == 1) {
            cost = distance
            change = -1
            // A level that vanishes saves its bits.
            if magnitude == 1 { cost &-= 128 }
          }
          if change == 1 && magnitude >= 32766 { cost = Int.max }
        } else if i > first || (coefficient < 0) == isNegative {
          // A new level costs more bits than a larger one.
          cost = 128 &- distance
        }
        if cost < best {
          best = cost
          bestAt = index
          bestChange = change
        }
        i &-= 1
      }
      guard bestAt >= 0 else { continue }
      let level = Int(levels[bestAt])
      let isDown = level != 0 ? level < 0 : coefficients[bestAt] < 0
      levels[bestAt] = Int16(truncatingIfNeeded: isDown ? level &- bestChange : level &+ bestChange)
      isChanged = true
    }
    return isChanged
  }

  /// The place of the last group in scan order.
  @inline(__always) private func lastGroup(_ groups: UInt64, _ log2Size: Int, _ scan: Int) -> Int {
    if log2Size == 2 { return 0 }
    var rest = groups
    var best = 0
    var bestPosition = -1
    while rest != 0 {
      let place = rest.trailingZeroBitCount
      rest &= rest &- 1
      let (x, y) = (place & 7, place &>> 3)
      let position: Int
      switch scan {
      case 1: position = y &* 8 &+ x
      case 2: position = x &* 8 &+ y
      // Up-right diagonals: from below left to above right.
      default: position = (x &+ y) &* 16 &+ x
      }
      if position > bestPosition {
        bestPosition = position
        best = place
      }
    }
    return best
  }
}
