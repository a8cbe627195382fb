// SPDX-License-Identifier: Apache-2.0
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The progress of a picture that several threads code.
///
/// A thread takes the next macroblock row and analyses it at least two macroblocks behind the row
/// above, so that all macroblocks it is predicted from are there. Entropy coding, deblocking and
/// the half-sample planes follow row by row in order; a thread that has finished a row does them,
/// one thread at a time. A row begins only after the row `lag` rows above it has been entropy
/// coded, and its budget reads the bits up to that row and no further. The output thus depends on
/// the number of threads but never on their timing.
final class RowProgress: Sendable {
  /// The index of the next row that a thread may take.
  let nextRow = Atomic<Int>(0)
  /// The number of rows that have been entropy coded.
  let finishedRows = Atomic<Int>(0)
  /// Whether a thread is entropy coding and deblocking rows.
  let finishing = Atomic<Bool>(false)
  /// The number of analysed macroblocks of each row.
  private let coded: [Counter]

  /// A counter in cache lines of its own.
  private final class Counter: Sendable {
    /// The number of macroblocks.
    let value = Atomic<Int>(0)
    /// Threads count macroblocks in neighbouring rows: padding keeps their counters in different
    /// cache lines.
    private let apart = CacheLines()
  }

  /// Begins with no row analysed; `rows` is the number of macroblock rows.
  init(rows: Int) { coded = (0..<rows).map { _ in Counter() } }

  /// Begins the next picture. No thread may be at the last one.
  func reset() {
    nextRow.store(0, ordering: .relaxed)
    finishedRows.store(0, ordering: .relaxed)
    for counter in coded { counter.value.store(0, ordering: .relaxed) }
  }

  /// The number of macroblocks of a row that have been analysed.
  @inline(__always) func coded(row: Int) -> Int { coded[row].value.load(ordering: .acquiring) }
  /// Sets the number of macroblocks of a row that have been analysed.
  @inline(__always) func setCoded(row: Int, _ count: Int) {
    coded[row].value.store(count, ordering: .releasing)
  }

  /// Waits until a condition holds: in a busy loop first, since rows are short.
  @inline(__always) static func wait(_ condition: () -> Bool) {
    var spins = 0
    while !condition() {
      spins += 1
      if spins > 200 { sched_yield() }
    }
  }
}

/// Padding that keeps what different threads write in different cache lines.
struct CacheLines: BitwiseCopyable, Sendable {
  /// The padding: 128 bytes.
  private let bytes = (SIMD8<UInt64>.zero, SIMD8<UInt64>.zero)
}

/// The memory of rows that have been analysed but not entropy coded: a ring with an element per
/// row.
struct RowRing {
  /// The number of rows in the ring.
  let rows: Int
  /// The number of macroblocks in a row.
  private let widthInMbs: Int
  /// The levels of all rows.
  private let levels: UnsafeMutablePointer<Int16>
  /// The samples of the I_PCM macroblocks of all rows.
  private let pcm: UnsafeMutablePointer<UInt8>

  /// Allocates a ring of `rows` rows.
  init(rows: Int, widthInMbs: Int, memory: inout EncoderMemory) {
    self.rows = rows
    self.widthInMbs = widthInMbs
    levels = memory.allocate(Int16.self, count: rows * widthInMbs * LevelLayout.count)
    pcm = memory.allocate(UInt8.self, count: rows * widthInMbs * 384)
  }

  /// The levels of a row, `LevelLayout.count` per macroblock.
  func levels(row: Int) -> UnsafeMutablePointer<Int16> {
    levels + (row % rows) * widthInMbs * LevelLayout.count
  }
  /// The samples of the I_PCM macroblocks of a row, 384 bytes per macroblock.
  func pcm(row: Int) -> UnsafeMutablePointer<UInt8> { pcm + (row % rows) * widthInMbs * 384 }
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
      analyse(coder, x: x, y: y, sliceStart: sliceStart, slice: slice, qp: qp, isBudgetSpent: isBudgetSpent)
      if isForSamples(m, coder.pointee.levels) {
        coder.pointee.codePCM(samples: pcm + x &* 384)
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
