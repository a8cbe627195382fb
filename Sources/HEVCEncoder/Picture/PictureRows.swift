// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import CVideoKernels
import Synchronization
import VideoEncoding

/// The rows of coding tree units of a picture, which threads share.
///
/// A thread takes the next row, and decides its units at least two behind the row above. What is
/// decided stays in a ring of rows. Writing and the deblocking filter follow row by row in order: a
/// thread that has decided a row does them, one thread at a time. What is decided depends on
/// neither the number of threads nor their timing (`RowBits`).
final class PictureRows<Sample: HEVCSample>: @unchecked Sendable {
  // Sendable: what changes is written while no thread works, by the thread that has taken the row,
  // or by the one that finishes rows; the progress of rows is atomic.
  /// The picture; set while no thread works.
  var plan = PicturePlan()
  var result: ReferencePicture<Sample>
  /// Statistics of the picture; complete when all threads have returned.
  private(set) var statistics = PictureStatistics()
  /// The bits of each row of 16 luma rows.
  let rowBits: UnsafeMutablePointer<Int32>
  let bits: RowBits
  let writer: UnsafeMutablePointer<SliceWriter>
  /// The bits of the slice header.
  var headerBits = 0

  /// One of each thread.
  private let coders: UnsafeMutablePointer<CodingTreeCoder<Sample>>
  private let threads: Int
  /// The bits of CABAC bins; set while no thread codes.
  private let costs: ContextCosts
  private let kernels: UnsafePointer<Sample.Kernels>
  private let layout: PlaneLayout
  private let map: PictureMap
  private let ring: CodedRowRingBuffer
  private let deblocking: Deblocking<Sample>?
  private let progress: RowProgress
  /// The number of rows whose units have their QP, so that rows above can be filtered.
  private let readyRows = Atomic<Int>(0)
  /// The sample adaptive offset of each coding tree unit.
  private let offsets: UnsafeMutablePointer<OffsetParameters>
  private let offsetDecision: OffsetDecision<Sample>
  private let adaptiveOffset: AdaptiveOffset<Sample>
  private var source: Planes<Sample>
  /// The QP of each row, and `RowBudget.needed` before its last unit that was not coded in the
  /// cheapest way.
  private let rowQP: UnsafeMutablePointer<Int>
  private let rowNeeded: UnsafeMutablePointer<Double>
  /// `CodingTreeCoder.lambda` of each row.
  private let rowLambda: UnsafeMutablePointer<Int>
  /// QpY of the last unit in decoding order (8.6.1), and log2 of the size of quantisation groups.
  private var lastQP = 0
  private let log2Group: Int
  /// The rows and columns of 16x16 luma samples that the rate control counts: those of the
  /// configured size, of which less may be visible.
  private let blockRows: Int
  private let blockColumns: Int
  /// Whether blocks of 32x32 may do without high frequencies. With a look-ahead they must not: the
  /// bits of grain would depend on the QP by leaps, and a second pass miss its rate.
  private let mayLimitFrequencies: Bool

  init(
    configuration: HEVCEncoderConfiguration, kernels: UnsafePointer<Sample.Kernels>,
    layout: PlaneLayout, map: PictureMap, picture: PictureContext, pixels: PictureSamples<Sample>,
    writer: UnsafeMutablePointer<SliceWriter>, memory: inout EncoderMemory
  ) {
    self.kernels = kernels
    self.layout = layout
    self.map = map
    self.writer = writer
    result = pixels.target
    log2Group = configuration.log2QuantisationGroup
    blockRows = (configuration.height + 15) / 16
    blockColumns = (configuration.width + 15) / 16
    threads = configuration.threads
    mayLimitFrequencies = if case .lookAhead = configuration.latency { false } else { true }
    bits = RowBits(rows: (layout.height + 31) / 32, columns: (layout.width + 31) / 32, memory: &memory)
    ring = CodedRowRingBuffer(rows: bits.lag, columns: bits.columns, memory: &memory)
    deblocking =
      configuration.deblocking
      ? Deblocking(kernels: kernels, layout: layout, map: map, memory: &memory) : nil
    progress = RowProgress(rows: bits.rows)
    costs = ContextCosts(memory: &memory)
    coders = memory.allocate(CodingTreeCoder<Sample>.self, count: threads)
    for i in 0..<threads {
      (coders + i).initialize(
        to: CodingTreeCoder(
          kernels: kernels, map: map, picture: picture, pixels: pixels,
          configuration: configuration, layout: layout, tree: ring.codingTreeUnit(row: 0, column: 0),
          costs: costs, memory: &memory))
    }
    rowBits = memory.allocate(Int32.self, count: blockRows + 1)
    rowQP = memory.allocate(Int.self, count: bits.rows)
    rowNeeded = memory.allocate(Double.self, count: bits.rows)
    rowLambda = memory.allocate(Int.self, count: bits.rows)
    source = pixels.source
    offsets = memory.allocate(OffsetParameters.self, count: bits.rows * bits.columns)
    offsetDecision = OffsetDecision(kernels: kernels, layout: layout, memory: &memory)
    adaptiveOffset = AdaptiveOffset(kernels: kernels, layout: layout, memory: &memory)
  }

  /// Begins a picture. No thread may work.
  func begin(
    _ plan: PicturePlan, _ picture: PictureContext, _ pixels: PictureSamples<Sample>,
    settings: EffortSettings
  ) {
    self.plan = plan
    result = pixels.target
    source = pixels.source
    readyRows.store(0, ordering: .relaxed)
    statistics = PictureStatistics()
    lastQP = plan.qp
    progress.reset()
    costs.load(plan.header.kind, qp: plan.qp)
    for i in 0..<threads {
      coders[i].settings = settings
      coders[i].motionBits = MotionBits(costs)
      coders[i].blocks.optimisesLevels = settings.optimisesLevels
      coders[i].blocks.limitsFrequencies = mayLimitFrequencies && settings.limitsFrequencies
      coders[i].isIntraSlice = plan.isKeyFrame
      coders[i].motion.picture = picture
      coders[i].pixels = pixels
      coders[i].blockOffsets = plan.blockOffsets
      coders[i].minimumQP = plan.minimumQP
      coders[i].maximumQP = plan.maximumQP
      coders[i].lambdaScale = plan.lambdaScale
      coders[i].screen = plan.screen
    }
  }

  /// Ends the rows of a picture that all threads have returned from.
  func end() {
    bits.finish(isIntra: plan.isKeyFrame)
    costs.store(plan.header.kind, writer.pointee.contexts)
    for row in 0..<bits.rows {
      statistics.meanRowQP += Double(rowQP[row]) / Double(bits.rows)
      statistics.highestRowQP = max(statistics.highestRowQP, rowQP[row])
      if plan.blockOffsets == nil {
        statistics.lowestQP = min(statistics.lowestQP, rowQP[row])
        statistics.highestQP = max(statistics.highestQP, min(rowQP[row], 51))
      }
      statistics.lastNeeded = max(statistics.lastNeeded, rowNeeded[row])
    }
    for i in 0..<map.width * map.height {
      let qp = Int(map.qp[i])
      statistics.qpSum += qp
      if plan.blockOffsets != nil {
        statistics.lowestQP = min(statistics.lowestQP, qp)
        statistics.highestQP = max(statistics.highestQP, qp)
      }
      if map.kind[i] == UnitKind.intra.rawValue { statistics.intraBlocks += 1 }
      if map.kind[i] == UnitKind.skip.rawValue { statistics.skippedBlocks += 1 }
    }
  }

  /// Does one thread's share of the work; all threads call it.
  /// - Parameter thread: the number of the thread.
  func work(thread: Int) {
    while true {
      let row = progress.nextRow.add(1, ordering: .relaxed).oldValue
      if row >= bits.rows { return }
      decide(row: row, coders + thread)
      finishRows()
    }
  }

  // MARK: Decisions

  /// Decides and reconstructs the units of a row, as far as the row above is ready.
  private func decide(row: Int, _ coder: UnsafeMutablePointer<CodingTreeCoder<Sample>>) {
    let known = bits.known(before: row)
    if known > 0 { RowProgress.wait { progress.finishedRows.load(ordering: .acquiring) >= known } }
    let base = max(plan.qp, plan.plannedQP)
    var qp = base
    if let budget = plan.budget, known > 0 {
      qp = budget.qp(
        row: min(known * 2, blockRows - 1), rows: blockRows, bits: bits.written[known - 1],
        base: base, current: rowQP[known - 1])
    }
    rowQP[row] = qp
    rowNeeded[row] = 0
    coder.pointee.setRow(qp: qp)
    coder.pointee.mustBeIntra = row >= plan.refreshFrom && row < plan.refreshTo
    // Filters change four rows of samples above those that are not refreshed: deblocking three, and
    // sample adaptive offset one more.
    coder.pointee.referenceEnd = row < plan.refreshFrom ? plan.refreshFrom * 32 - 4 : Int.max
    rowLambda[row] = coder.pointee.lambda
    let columns = bits.columns
    var above = row == 0 ? columns : 0
    for column in 0..<columns {
      let need = min(column &+ 2, columns)
      if above < need {
        RowProgress.wait {
          above = progress.coded(row: row &- 1)
          return above >= need
        }
      }
      let (x, y) = (column &* 32, row &* 32)
      let tree = ring.codingTreeUnit(row: row, column: column)
      coder.pointee.tree = tree
      if isExhausted(row, column) {
        coder.pointee.codeCheapest(x: x, y: y)
      } else {
        coder.pointee.code(x: x, y: y)
      }
      var estimate = 0
      // Estimates grow with the levels, bits with their logarithms: they hardly exceed 16 for each
      // luma sample.
      tree.forEachUnit(map, x: x, y: y) {
        estimate &+= min(Int($0.pointee.bits), 256 &<< (2 &* Int($0.pointee.log2Size)))
      }
      bits.setEstimate(row: row, column: column, estimate)
      progress.setCoded(row: row, column &+ 1)
    }
  }

  /// Whether a coding tree unit has to take the fewest bits.
  private func isExhausted(_ row: Int, _ column: Int) -> Bool {
    guard let budget = plan.budget else { return false }
    let left = max((blockRows - row * 2) * blockColumns - column * 4, 0)
    let used = bits.bits(row: row, column: column, isIntra: plan.isKeyFrame)
    let needed = budget.needed(bits: used, left: left)
    if needed > budget.limit { return true }
    rowNeeded[row] = max(rowNeeded[row], needed)
    return false
  }

  // MARK: Rows that are decided

  /// Writes and filters the rows that are ready, unless another thread is doing so.
  private func finishRows() {
    while true {
      // A row that becomes ready while another thread stops here is seen by one of the two: that
      // thread first clears `finishing` and then checks for rows, this one does it in the opposite
      // order.
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      let next = readyRows.load(ordering: .acquiring)
      if next >= bits.rows || progress.coded(row: next) < bits.columns { return }
      let (isFree, _) = progress.finishing.compareExchange(
        expected: false, desired: true, ordering: .acquiring)
      if !isFree { return }
      var row = readyRows.load(ordering: .acquiring)
      while row < bits.rows && progress.coded(row: row) == bits.columns {
        finish(row: row)
        row += 1
        readyRows.store(row, ordering: .releasing)
      }
      progress.finishing.store(false, ordering: .releasing)
    }
  }

  /// Does what becomes possible when a row is decided. Intra prediction reads unfiltered samples of
  /// the row above, so that filters follow a row later; offsets are chosen from deblocked samples,
  /// so that with them writing follows a row later, too.
  private func finish(row: Int) {
    setQP(row: row)
    let hasOffsets = plan.header.hasLumaSAO
    let isLast = row == bits.rows - 1
    if !hasOffsets { write(row: row) }
    if row > 0 { deblock(row: row - 1) }
    if hasOffsets && row > 0 {
      chooseOffsets(row: row - 1)
      write(row: row - 1)
      if row > 1 { applyOffsets(row: row - 2) }
    }
    guard isLast else { return }
    deblock(row: row)
    if hasOffsets {
      chooseOffsets(row: row)
      write(row: row)
      if row > 0 { applyOffsets(row: row - 1) }
      applyOffsets(row: row)
    }
  }

  private func deblock(row: Int) {
    deblocking?.filter(
      row: row, result.planes, result.field.motion,
      plan.header.kind == .b ? UnsafePointer(result.field.references) : nil)
  }

  private func chooseOffsets(row: Int) {
    let columns = bits.columns
    let line = offsets + row &* columns
    for column in 0..<columns {
      var isChanged = false
      let (x, y) = (column &* 32, row &* 32)
      ring.codingTreeUnit(row: row, column: column).forEachUnit(map, x: x, y: y) {
        isChanged = isChanged || $0.pointee.kind != .skip
      }
      // A coding tree unit that is skipped completely has no SAO: the samples of its reference have
      // already been filtered.
      guard isChanged else {
        line[column] = OffsetParameters()
        continue
      }
      // Mode decision uses a lambda that is too low for SAO, because its bit estimates are too
      // high. The factor 3/2 compensates for that.
      line[column] = offsetDecision.choose(
        x: x, y: y, source: source, planes: result.planes,
        left: column > 0 ? line[column &- 1] : nil, above: row > 0 ? line[column &- columns] : nil,
        lambda: rowLambda[row] &* 3 / 2)
    }
  }

  private func applyOffsets(row: Int) {
    adaptiveOffset.filter(row: row, result.planes, offsets + row &* bits.columns)
  }

  /// Sets QpY of the units of a row and the difference that is coded (8.6.1): units before the
  /// first residual of a quantisation group have the predicted QP.
  private func setQP(row: Int) {
    let inGroup = 1 &<< log2Group &- 1
    if writer.pointee.isSynchronised { lastQP = plan.qp }
    for column in 0..<bits.columns {
      var isCoded = false
      var value = lastQP
      ring.codingTreeUnit(row: row, column: column).forEachUnit(map, x: column &* 32, y: row &* 32) { unit in
        let (x, y) = (Int(unit.pointee.x), Int(unit.pointee.y))
        let at = map.index(x, y)
        if (x | y) & inGroup == 0 {
          isCoded = false
          // QPs of other coding tree units are not used; qPY_PREV takes their place (8.6.1).
          let left = x & 31 != 0 ? Int(map.qp[at &- 1]) : lastQP
          let above = y & 31 != 0 ? Int(map.qp[at &- map.width]) : lastQP
          value = (left &+ above &+ 1) &>> 1
        }
        if !isCoded && unit.pointee.hasResidual {
          isCoded = true
          var delta = Int(unit.pointee.qp) &- value
          // QpY is the sum modulo 52 + QpBdOffsetY.
          let half = 26 &+ Sample.qpOffset / 2
          if delta >= half { delta &-= 2 &* half } else if delta < -half { delta &+= 2 &* half }
          unit.pointee.qpDelta = Int8(truncatingIfNeeded: delta)
          value = Int(unit.pointee.qp)
        }
        lastQP = value
        let blocks = 1 &<< (Int(unit.pointee.log2Size) &- 3)
        for v in 0..<blocks {
          (map.qp + at + v &* map.width).update(repeating: Int8(truncatingIfNeeded: value), count: blocks)
        }
      }
    }
  }

  private func write(row: Int) {
    for column in 0..<bits.columns {
      let tree = ring.codingTreeUnit(row: row, column: column)
      writer.pointee.write(
        x: column &* 32, y: row &* 32, units: tree.units, levels: tree.levels,
        offsets: plan.header.hasLumaSAO ? offsets[row &* bits.columns &+ column] : nil)
    }
    let count = writer.pointee.bitCount + headerBits
    let before = row == 0 ? 0 : bits.written[row - 1]
    bits.written[row] = count
    // A row of coding tree units is two rows of 16 luma rows.
    let first = min(row * 2, blockRows - 1)
    let half = (count - before) / (row * 2 + 1 < blockRows ? 2 : 1)
    rowBits[first] = Int32(truncatingIfNeeded: half)
    if row * 2 + 1 < blockRows { rowBits[first + 1] = Int32(truncatingIfNeeded: count - before - half) }
    progress.finishedRows.store(row + 1, ordering: .releasing)
  }
}
