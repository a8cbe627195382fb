// SPDX-License-Identifier: Apache-2.0

/// The bits of the syntax of vectors, in sixteenths of a bit.
struct MotionBits: BitwiseCopyable {
  /// merge_flag 0
  var mergeFlag = 16
  /// A component of a vector difference that is 0, 1 or -1, and 2 or -2.
  private var zero = 10
  private var one = 40
  private var two = 64

  init() {}

  init(_ costs: ContextCosts) {
    func bits(_ bin: Int, _ context: Int) -> Int { (costs.bits(bin, context) + 8) >> 4 }
    mergeFlag = bits(0, Contexts.mergeFlag)
    zero = bits(0, Contexts.differenceGreater0)
    one = bits(1, Contexts.differenceGreater0) + bits(0, Contexts.differenceGreater1) + 16
    two = bits(1, Contexts.differenceGreater0) + bits(1, Contexts.differenceGreater1) + 48
  }

  /// The bits of a component of a vector difference (9.3.3.5: EG1 after two flags, and the sign).
  @inline(__always) func difference(_ value: Int) -> Int {
    let magnitude = value < 0 ? 0 &- value : value
    if magnitude < 2 { return magnitude == 0 ? zero : one }
    return two &+ 32 &* (Int.bitWidth &- 1 &- (magnitude &>> 1).leadingZeroBitCount)
  }
}

/// The bits of the syntax of coding units but for levels, in sixteenths of a bit, by
/// `ContextCosts`.
extension CodingTreeCoder {
  /// The bits of a bin with a context variable.
  @inline(__always) func bits(_ bin: Int, _ context: Int) -> Int { (costs.bits(bin, context) &+ 8) &>> 4 }

  /// The bits of split_cu_flag 0 and 1; none where there is no flag.
  func splitBits(_ x: Int, _ y: Int, _ log2Size: Int) -> (whole: Int, divided: Int) {
    guard log2Size > 3 else { return (0, 0) }
    let at = map.index(x, y)
    var context = Contexts.splitCU
    if x > 0 && Int(map.log2Size[at &- 1]) < log2Size { context &+= 1 }
    if y > 0 && Int(map.log2Size[at &- map.width]) < log2Size { context &+= 1 }
    return (bits(0, context), bits(1, context))
  }

  /// The bits of cu_skip_flag.
  @inline(__always) func skipBits(_ x: Int, _ y: Int, _ bin: Int) -> Int {
    let at = map.index(x, y)
    var context = Contexts.skip
    if x > 0 && map.kind[at &- 1] == UnitKind.skip.rawValue { context &+= 1 }
    if y > 0 && map.kind[at &- map.width] == UnitKind.skip.rawValue { context &+= 1 }
    return bits(bin, context)
  }

  /// The bits of merge_idx.
  @inline(__always) func mergeBits(_ index: Int) -> Int {
    index == 0 ? bits(0, Contexts.mergeIndex) : bits(1, Contexts.mergeIndex) &+ 16 &* min(index, 3)
  }

  /// The bits of an intra unit up to its modes.
  /// - Parameter isSplit: whether a unit of 8x8 is coded in four parts.
  func intraUnitBits(_ x: Int, _ y: Int, _ log2Size: Int, isSplit: Bool = false) -> Int {
    var sum = log2Size == 3 ? bits(isSplit ? 0 : 1, Contexts.partMode) : 0
    if !isIntraSlice { sum &+= skipBits(x, y, 0) &+ bits(1, Contexts.predictionMode) }
    return sum
  }

  /// The bits of an inter unit that is not skipped, up to its prediction units.
  func interUnitBits(_ x: Int, _ y: Int, _ mode: PartMode) -> Int {
    let part =
      mode == .whole
      ? bits(1, Contexts.partMode)
      : bits(0, Contexts.partMode) &+ bits(mode == .horizontal ? 1 : 0, Contexts.partMode &+ 1)
    return skipBits(x, y, 0) &+ bits(0, Contexts.predictionMode) &+ part
  }

  /// The bits of a luma mode.
  @inline(__always) func modeBits(_ candidates: MostProbableModes, _ mode: Int) -> Int {
    if mode == candidates.first { return bits(1, Contexts.previousIntraMode) &+ 16 }
    if mode == candidates.second || mode == candidates.third {
      return bits(1, Contexts.previousIntraMode) &+ 32
    }
    return bits(0, Contexts.previousIntraMode) &+ 80
  }
}
