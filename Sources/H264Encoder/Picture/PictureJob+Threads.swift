// SPDX-License-Identifier: Apache-2.0
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Progress of a picture that several threads code.
///
/// A thread takes the next macroblock row and codes it two macroblocks behind the row above (what it
/// predicts from is then there). Entropy coding, deblocking and reference rows follow row by row in order;
/// whichever thread has finished a row does them, one thread at a time. A row begins only when the row
/// `lag` above has been entropy coded: the row budget reads bits up to there and no further, so that the
/// output depends on the number of threads but never on their timing.
final class RowProgress: Sendable {
  let nextRow = Atomic<Int>(0)
  let finishedRows = Atomic<Int>(0)
  let finishing = Atomic<Bool>(false)
  private let coded: [Counter]

  private final class Counter: Sendable {
    let value = Atomic<Int>(0)
    /// Threads count in rows that follow one another, at each macroblock: none takes the others' cache line.
    private let apart = CacheLines()
  }

  init(rows: Int) { coded = (0..<rows).map { _ in Counter() } }

  func reset() {
    nextRow.store(0, ordering: .relaxed)
    finishedRows.store(0, ordering: .relaxed)
    for counter in coded { counter.value.store(0, ordering: .relaxed) }
  }

  /// Macroblocks of a row that are coded.
  @inline(__always) func coded(row: Int) -> Int { coded[row].value.load(ordering: .acquiring) }
  @inline(__always) func setCoded(row: Int, _ count: Int) {
    coded[row].value.store(count, ordering: .releasing)
  }

  /// Waits, first busily since rows are short, until a condition holds.
  @inline(__always) static func wait(_ condition: () -> Bool) {
    var spins = 0
    while !condition() {
      spins += 1
      if spins > 200 { sched_yield() }
    }
  }
}

/// Keeps what one thread writes out of the cache lines of what another one does.
struct CacheLines: BitwiseCopyable, Sendable {
  private let bytes = (SIMD8<UInt64>.zero, SIMD8<UInt64>.zero)
}

/// Memory for the rows between analysis and entropy coding, a ring by row.
struct RowRing {
  let rows: Int
  private let widthInMbs: Int
  private let levels: UnsafeMutablePointer<Int16>
  private let pcm: UnsafeMutablePointer<UInt8>

  init(rows: Int, widthInMbs: Int, memory: inout EncoderMemory) {
    self.rows = rows
    self.widthInMbs = widthInMbs
    levels = memory.allocate(Int16.self, count: rows * widthInMbs * LevelLayout.count)
    pcm = memory.allocate(UInt8.self, count: rows * widthInMbs * 384)
  }

  func levels(row: Int) -> UnsafeMutablePointer<Int16> {
    levels + (row % rows) * widthInMbs * LevelLayout.count
  }
  func pcm(row: Int) -> UnsafeMutablePointer<UInt8> { pcm + (row % rows) * widthInMbs * 384 }
}

extension PictureJob {
  /// Rows that may be between analysis and entropy coding.
  static func lag(threads: Int) -> Int { threads + 1 }

  /// A thread's part of the picture: rows, as long as there are any that no other thread has taken.
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

  func analyse(
    row y: Int, _ coder: UnsafeMutablePointer<MacroblockCoder>, threads: Int, _ progress: RowProgress,
    _ ring: RowRing
  ) {
    let w = geometry.widthInMbs
    let h = geometry.heightInMbs
    let lag = Self.lag(threads: threads)
    if y >= lag { RowProgress.wait { progress.finishedRows.load(ordering: .acquiring) > y - lag } }

    // The budget sees exactly the rows up to y - lag.
    var qp = plan.qp
    var economy = false
    if let budget = plan.budget, y >= lag {
      let known = y - lag + 1
      var bits = 0
      var largest = 0
      for row in 0..<known {
        bits += Int(rowBits[row])
        largest = max(largest, Int(rowBits[row]))
      }
      qp = budget.qp(row: known, rows: h, bits: bits, base: plan.qp, current: Int(rowQP[known - 1]))
      // The rows that are being coded, and this one.
      let flying = budget.flying(known...y, bits: bits, largest: largest)
      economy = budget.isExhausted(bits: bits + flying, left: (h - y) * w)
    } else if let budget = plan.budget {
      // Nothing is known of the first rows before they are coded, but what they usually take.
      let flying = budget.flying(0...y, bits: 0, largest: w * RowBudget.coarseMacroblock)
      economy = budget.isExhausted(bits: flying, left: (h - y) * w)
    }
    rowQP[y] = Int32(qp)

    let slice = slice(ofRow: y)
    let sliceStart = firstRow(ofSlice: slice) * w
    let levels = ring.levels(row: y)
    let pcm = ring.pcm(row: y)
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
      coder.pointee.levels = levels + x &* LevelLayout.count
      analyse(coder, x: x, y: y, sliceStart: sliceStart, slice: slice, qp: qp, economy: economy)
      if isForSamples(m, coder.pointee.levels) {
        coder.pointee.codePCM(samples: pcm + x &* 384)
      }
      progress.setCoded(row: y, x &+ 1)
    }
  }

  /// Entropy codes, deblocks and finishes what rows are ready, unless another thread is at it.
  /// - Returns: whether this call has finished the picture.
  @discardableResult func finishRows(_ progress: RowProgress, _ ring: RowRing) -> Bool {
    let w = geometry.widthInMbs
    let h = geometry.heightInMbs
    while true {
      // A row that is analysed while another thread leaves is seen by one of both: that thread frees the place and then looks
      // for rows, this one does the opposite.
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
