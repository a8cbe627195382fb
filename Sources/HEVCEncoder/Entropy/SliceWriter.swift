// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import VideoBitstream
import VideoEncoding

/// Writes the slice segment data of a picture (7.3.8): coding tree units of 32x32 samples, in one
/// slice. It decides nothing.
struct SliceWriter: BitwiseCopyable {
  var engine: CABACEngine
  let map: PictureMap
  let residual: ResidualWriter
  private let width: Int
  private let height: Int
  /// The context variables, as the slice data so far leaves them.
  let contexts: UnsafeMutablePointer<UInt8>
  /// The context variables after the second coding tree unit of a row (TableStateIdxWpp, 9.3.1).
  private let synchronised: UnsafeMutablePointer<UInt8>
  /// Where the substream of each row ends.
  private let rowEnds: UnsafeMutablePointer<Int>
  private let start: UnsafeMutablePointer<UInt8>
  private let end: UnsafeMutablePointer<UInt8>
  private(set) var kind = HEVCSliceKind.i
  private var sliceQP = 26
  /// entropy_coding_sync_enabled_flag
  let isSynchronised: Bool
  /// num_ref_idx_l0_active and num_ref_idx_l1_active
  private(set) var references = (1, 0)
  /// Log2MinCuQpDeltaSize
  private let log2Group: Int
  /// The largest sao_offset_abs.
  let largestOffset: Int
  /// IsCuQpDeltaCoded
  var isDeltaCoded = false

  /// Creates a writer.
  /// - Parameters:
  ///   - map: what is known of the blocks.
  ///   - width: the coded width in luma samples.
  ///   - height: the coded height in luma samples.
  ///   - isSynchronised: whether each row of coding tree units is a substream of its own.
  ///   - log2Group: log2 of the size of quantisation groups.
  ///   - largestOffset: the largest magnitude of sample adaptive offset.
  ///   - payload: receives the data.
  ///   - capacity: the bytes that it has room for.
  ///   - kernels: the scans.
  ///   - memory: owns the tables.
  init(
    map: PictureMap, width: Int, height: Int, isSynchronised: Bool, log2Group: Int,
    largestOffset: Int, payload: UnsafeMutablePointer<UInt8>, capacity: Int,
    kernels: UnsafePointer<OVTHEVCResidualKernels>, memory: inout EncoderMemory
  ) {
    self.map = map
    self.width = width
    self.height = height
    self.isSynchronised = isSynchronised
    self.log2Group = log2Group
    self.largestOffset = largestOffset
    contexts = memory.allocate(UInt8.self, count: Contexts.count)
    synchronised = memory.allocate(UInt8.self, count: Contexts.count)
    rowEnds = memory.allocate(Int.self, count: (height + 31) / 32)
    residual = ResidualWriter(kernels: kernels, tables: ScanTables(memory: &memory))
    start = payload
    end = payload + capacity
    engine = CABACEngine(contexts: contexts, at: payload, end: end)
  }

  /// Begins a slice.
  /// - Parameters:
  ///   - kind: slice_type.
  ///   - references: the number of reference pictures in each list.
  ///   - qp: SliceQpY.
  mutating func begin(_ kind: HEVCSliceKind, references: (Int, Int), qp: Int) {
    Contexts.reset(contexts, kind, qp: qp)
    engine = CABACEngine(contexts: contexts, at: start, end: end)
    self.kind = kind
    self.references = references
    sliceQP = qp
  }

  /// The bits of the slice data so far.
  var bitCount: Int { engine.bitCount(since: start) }
  var overflowed: Bool { engine.overflowed }

  /// Ends the slice.
  /// - Returns: the bytes of its data.
  mutating func finish() -> Int {
    engine.terminate()
    let count = engine.next - start
    rowEnds[(height &- 1) >> 5] = count
    return count
  }

  /// The bytes of the substreams of all rows but the last as entry points count them, with the
  /// emulation prevention bytes (7.4.7.1); none where rows are no substreams. A substream does not
  /// end with a zero byte, so that each can be looked at alone.
  var entryPoints: [Int] {
    guard isSynchronised else { return [] }
    return (0..<(height - 1) >> 5).map { row in
      var zeros = 0
      let first = row == 0 ? 0 : rowEnds[row - 1]
      var size = rowEnds[row] - first
      for i in first..<rowEnds[row] {
        if zeros >= 2 && start[i] <= 3 {
          size += 1
          zeros = 0
        }
        zeros = start[i] == 0 ? zeros + 1 : 0
      }
      return size
    }
  }

  /// Ends the substream of the row before a row, and begins that of the row (9.3.1).
  private mutating func beginRow(_ row: Int) {
    // end_of_subset_one_bit and byte_alignment()
    engine.terminate()
    rowEnds[row &- 1] = engine.next - start
    engine.restart(at: engine.next)
    if width > 32 {
      contexts.update(from: synchronised, count: Contexts.count)
    } else {
      Contexts.reset(contexts, kind, qp: sliceQP)
    }
  }

  /// Writes a coding tree unit, with end_of_slice_segment_flag 0 before it unless it is the first.
  /// - Parameters:
  ///   - x: its position in luma samples.
  ///   - y: its position in luma samples.
  ///   - units: its coding units at the index of their first block in z-scan order.
  ///   - levels: its levels (`LevelLayout`).
  ///   - offsets: its sample adaptive offset; nil: the slice has none.
  mutating func write(
    x: Int, y: Int, units: UnsafePointer<CodingUnit>, levels: UnsafePointer<Int16>,
    offsets: OffsetParameters?
  ) {
    if x != 0 || y != 0 { engine.continueSlice() }
    if x == 0 && y != 0 && isSynchronised { beginRow(y >> 5) }
    if let offsets { write(offsets, hasLeft: x > 0, hasAbove: y > 0) }
    quadtree(x, y, 5, units, levels)
    if x == 32 && isSynchronised { synchronised.update(from: contexts, count: Contexts.count) }
  }

  private mutating func quadtree(
    _ x: Int, _ y: Int, _ log2Size: Int, _ units: UnsafePointer<CodingUnit>,
    _ levels: UnsafePointer<Int16>
  ) {
    if log2Size >= log2Group { isDeltaCoded = false }
    let size = 1 &<< log2Size
    let at = map.index(x, y)
    let isInside = x &+ size <= width && y &+ size <= height
    let isSplit = !isInside || Int(map.log2Size[at]) < log2Size
    if isInside && log2Size > 3 {
      var context = Contexts.splitCU
      if x > 0 && Int(map.log2Size[at &- 1]) < log2Size { context &+= 1 }
      if y > 0 && Int(map.log2Size[at &- map.width]) < log2Size { context &+= 1 }
      engine.encode(isSplit ? 1 : 0, context)
    }
    guard isSplit else {
      codingUnit(units[LevelLayout.zIndex(x, y)], at, levels)
      return
    }
    let half = size &>> 1
    quadtree(x, y, log2Size &- 1, units, levels)
    if x &+ half < width { quadtree(x &+ half, y, log2Size &- 1, units, levels) }
    if y &+ half < height {
      quadtree(x, y &+ half, log2Size &- 1, units, levels)
      if x &+ half < width { quadtree(x &+ half, y &+ half, log2Size &- 1, units, levels) }
    }
  }

  /// coding_unit() (7.3.8.5)
  private mutating func codingUnit(
    _ unit: CodingUnit, _ at: Int, _ levels: UnsafePointer<Int16>
  ) {
    let (x, y) = (Int(unit.x), Int(unit.y))
    if kind != .i {
      var context = Contexts.skip
      if x > 0 && map.kind[at &- 1] == UnitKind.skip.rawValue { context &+= 1 }
      if y > 0 && map.kind[at &- map.width] == UnitKind.skip.rawValue { context &+= 1 }
      engine.encode(unit.kind == .skip ? 1 : 0, context)
      if unit.kind == .skip {
        mergeIndex(Int(unit.first.mergeIndex))
        return
      }
      engine.encode(unit.kind == .intra ? 1 : 0, Contexts.predictionMode)
    }
    if unit.kind == .intra {
      if unit.log2Size == 3 { engine.encode(unit.isSplit ? 0 : 1, Contexts.partMode) }
      intraModes(unit, x, y)
    } else {
      switch unit.partMode {
      case .whole: engine.encode(1, Contexts.partMode)
      case .horizontal, .vertical:
        engine.encode(0, Contexts.partMode)
        engine.encode(unit.partMode == .horizontal ? 1 : 0, Contexts.partMode &+ 1)
      }
      let depth = 5 &- Int(unit.log2Size)
      predictionUnit(unit.first, depth: depth)
      if unit.partMode != .whole { predictionUnit(unit.second, depth: depth) }
      if unit.partMode != .whole || unit.first.mergeIndex < 0 {
        engine.encode(unit.hasResidual ? 1 : 0, Contexts.rootCBF)
      }
    }
    if unit.kind == .intra || unit.hasResidual { transformTree(unit, x, y, levels) }
  }
}
