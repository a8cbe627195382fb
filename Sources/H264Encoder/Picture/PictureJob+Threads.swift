// SPDX-License-Identifier: Apache-2.0
import Synchronization
import VideoEncoding

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The memory of rows that have been analysed but not entropy coded: a ring with an element per
/// row.
struct RowRing {
  /// The number of rows in the ring.
  let rows: Int
  /// The levels of all rows.
  private let levels: UnsafeMutablePointer<Int16>
  /// The samples of the I_PCM macroblocks of all rows.
  private let pcm: UnsafeMutablePointer<UInt8>

  /// The number of levels in a row.
  private let rowLevels: Int
  /// The number of samples of I_PCM macroblocks in a row.
  private let rowSamples: Int

  /// Allocates a ring of `rows` rows.
  init(rows: Int, widthInMbs: Int, is444: Bool, memory: inout EncoderMemory) {
    self.rows = rows
    rowLevels = widthInMbs * LevelLayout.count(is444: is444)
    rowSamples = widthInMbs * LevelLayout.samples(is444: is444)
    levels = memory.allocate(Int16.self, count: rows * rowLevels)
    pcm = memory.allocate(UInt8.self, count: rows * rowSamples)
  }

  /// The levels of a row.
  func levels(row: Int) -> UnsafeMutablePointer<Int16> { levels + (row % rows) * rowLevels }
  /// The samples of the I_PCM macroblocks of a row.
  func pcm(row: Int) -> UnsafeMutablePointer<UInt8> { pcm + (row % rows) * rowSamples }
}

extension PictureJob {
  /// The most rows that may be between analysis and entropy coding.
  static func lag(threads: Int) -> Int { threads + 1 }

  /// Codes rows of the picture until all have been taken; every thread calls it.
  /// - Parameters:
  ///   - coder: the thread's macroblock coder.
  ///   - threads: the number of threads.
  ///   - progress: the progress of the picture.
  ///   - ring: the memory of rows that wait for entropy coding.
  func work(
    _ coder: UnsafeMutablePointer<MacroblockCoder>, threads: Int, _ progress: RowProgress, _ ring: RowRing
  ) {
    while true {
      let y = progress.nextRow.add(1, ordering: .relaxed).oldValue
      if y >= geometry.heightInMbs { break }
      analyse(row: y, coder, threads: threads, progress, ring)
      finishRows(progress, ring)
    }
  }

  /// Analyses a row: decides and reconstructs its macroblocks, as far as the row above is ready.
  /// - Parameters:
  ///   - y: the index of the row.
  ///   - coder: the thread's macroblock coder.
  ///   - threads: the number of threads.
  ///   - progress: the progress of the picture.
  ///   - ring: gets the levels and samples.
  func analyse(
    row y: Int, _ coder: UnsafeMutablePointer<MacroblockCoder>, threads: Int, _ progress: RowProgress,
    _ ring: RowRing
  ) {
    let w = geometry.widthInMbs
    let h = geometry.heightInMbs
    let lag = Self.lag(threads: threads)
    if y >= lag { RowProgress.wait { progress.finishedRows.load(ordering: .acquiring) > y - lag } }

    // The budget reads the bits of exactly the rows up to y - lag.
    var qp = plan.qp
    var isBudgetSpent = false
    if let budget = plan.budget, y >= lag {
      let known = y - lag + 1
      var bits = 0
      var largest = 0
      for row in 0..<known {
        bits += Int(rowBits[row])
        largest = max(largest, Int(rowBits[row]))
      }
      qp = budget.qp(row: known, rows: h, bits: bits, base: plan.qp, current: Int(rowQP[known - 1]))
      // The rows that are being coded, this one included.
      let bitsInFlight = budget.bitsInFlight(known...y, bits: bits, largest: largest)
      isBudgetSpent = budget.isExhausted(bits: bits + bitsInFlight, left: (h - y) * w)
    } else if let budget = plan.budget {
      // Before the first rows are coded, only their usual bits are known.
      let bitsInFlight = budget.bitsInFlight(0...y, bits: 0, largest: w * RowBudget.coarseMacroblock)
      isBudgetSpent = budget.isExhausted(bits: bitsInFlight, left: (h - y) * w)
    }
    rowQP[y] = Int32(qp)

    let slice = slice(ofRow: y)
    let sliceStart = firstRow(ofSlice: slice) * w
    let levels = ring.levels(row: y)
    let pcm = ring.pcm(row: y)
    let (levelCount, sampleCount) = (levelCount, sampleCount)
    var above = y == 0 ? w : 0
    for x in 0..<w {
      let need = min(x &+ 2, w)
      if above < need {
        RowProgress.wait {
          above = progress.coded(row: y &- 1)
          return above >= need
        }
      }
      let m = y &* w &+ x
      coder.pointee.levels = levels + x &* levelCount
      analyse(coder, x: x, y: y, sliceStart: sliceStart, slice: slice, qp: qp, isBudgetSpent: isBudgetSpent)
      if isForSamples(m, coder.pointee.levels) {
        coder.pointee.codePCM(samples: pcm + x &* sampleCount)
      }
      progress.setCoded(row: y, x &+ 1)
    }
  }

  /// Entropy codes, deblocks and finishes the rows that are ready, unless another thread is doing
  /// so.
  /// - Returns: whether this call has finished the picture.
  @discardableResult func finishRows(_ progress: RowProgress, _ ring: RowRing) -> Bool {
    let w = geometry.widthInMbs
    let h = geometry.heightInMbs
    while true {
      // A row that becomes ready while another thread stops here is seen by one of the two: that
      // thread first clears `finishing` and then checks for rows, this one does it in the opposite
      // order.
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      let next = progress.finishedRows.load(ordering: .acquiring)
      if next >= h || progress.coded(row: next) < w { return false }
      let (free, _) = progress.finishing.compareExchange(
        expected: false, desired: true, ordering: .acquiring)
      if !free { return false }
      let first = progress.finishedRows.load(ordering: .acquiring)
      var y = first
      while y < h && progress.coded(row: y) == w {
        encode(row: y, levels: ring.levels(row: y), pcm: ring.pcm(row: y))
        progress.finishedRows.store(y + 1, ordering: .releasing)
        if y > 0 { finish(row: y - 1) }
        if y == h - 1 { finish(row: y) }
        y += 1
      }
      progress.finishing.store(false, ordering: .releasing)
      if y == h && first < h { return true }
    }
  }
}
