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
package final class RowProgress: Sendable {
  /// The index of the next row that a thread may take.
  package let nextRow = Atomic<Int>(0)
  /// The number of rows that have been entropy coded.
  package let finishedRows = Atomic<Int>(0)
  /// Whether a thread is entropy coding and deblocking rows.
  package let finishing = Atomic<Bool>(false)
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
  package init(rows: Int) { coded = (0..<rows).map { _ in Counter() } }

  /// Begins the next picture. No thread may be at the last one.
  package func reset() {
    nextRow.store(0, ordering: .relaxed)
    finishedRows.store(0, ordering: .relaxed)
    for counter in coded { counter.value.store(0, ordering: .relaxed) }
  }

  /// The number of macroblocks of a row that have been analysed.
  @inline(__always) package func coded(row: Int) -> Int { coded[row].value.load(ordering: .acquiring) }
  /// Sets the number of macroblocks of a row that have been analysed.
  @inline(__always) package func setCoded(row: Int, _ count: Int) {
    coded[row].value.store(count, ordering: .releasing)
  }

  /// Waits until a condition holds: in a busy loop first, since rows are short.
  @inline(__always) package static func wait(_ condition: () -> Bool) {
    var spins = 0
    while !condition() {
      spins += 1
      if spins > 200 { sched_yield() }
    }
  }
}

/// Padding that keeps what different threads write in different cache lines.
package struct CacheLines: BitwiseCopyable, Sendable {
  /// The padding: 128 bytes.
  private let bytes = (SIMD8<UInt64>.zero, SIMD8<UInt64>.zero)

  /// Creates padding.
  package init() {}
}
