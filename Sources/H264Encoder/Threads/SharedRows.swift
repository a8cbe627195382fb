// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Rows of macroblocks that threads share for something else than coding: each takes the next one that no other has.
///
/// A subclass says what is done with a row. Where a row needs parts of the one before, it waits for them in `progress`.
class SharedRows: @unchecked Sendable {
  // Sendable: what changes is written by the caller while no thread is at the rows; the rest is atomic.

  /// Of each row, in order, how far it is.
  let progress: RowProgress
  let threads: Int
  private let isOpen = Atomic<Bool>(false)
  /// Threads that look for a row or work on one.
  private let visitors = Atomic<Int>(0)
  private let next = Atomic<Int>(0)
  private let done = Atomic<Int>(0)
  private var count = 0

  init(rows: Int, threads: Int) {
    progress = RowProgress(rows: rows)
    self.threads = threads
  }

  /// What is done with a row. `i` counts in the order in which rows are taken.
  func work(row i: Int, thread: Int) {}

  /// Lets threads begin; the caller does its part with `help` and then calls `close`.
  func open(_ count: Int) {
    // Who comes late for the rows before still looks at them.
    RowProgress.wait { visitors.load(ordering: .sequentiallyConsistent) == 0 }
    progress.reset()
    self.count = count
    next.store(0, ordering: .relaxed)
    done.store(0, ordering: .relaxed)
    isOpen.store(true, ordering: .sequentiallyConsistent)
  }

  /// Returns when all rows are done.
  func close() {
    isOpen.store(false, ordering: .sequentiallyConsistent)
    RowProgress.wait { done.load(ordering: .acquiring) == count }
  }

  /// A thread's part: rows, as long as there are any that no other thread has taken.
  /// - Returns: whether there was any.
  func help(thread: Int) -> Bool {
    guard isOpen.load(ordering: .relaxed) else { return false }
    visitors.add(1, ordering: .sequentiallyConsistent)
    defer { visitors.subtract(1, ordering: .sequentiallyConsistent) }
    guard isOpen.load(ordering: .sequentiallyConsistent) else { return false }
    var helped = false
    while true {
      let i = next.add(1, ordering: .relaxed).oldValue
      if i >= count { return helped }
      work(row: i, thread: thread)
      helped = true
      done.add(1, ordering: .releasing)
    }
  }

  /// All rows, without threads.
  func runAlone(_ count: Int) {
    for i in 0..<count { work(row: i, thread: 0) }
  }
}
