// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Rows of macroblocks that threads share for other work than coding: each thread takes the next
/// row that none has taken.
///
/// A subclass defines the work of a row (`work`). Where a row needs results of the one before, it
/// waits for them in `progress`.
package class RowTask: @unchecked Sendable {
  // Sendable: what changes is written by the caller while no thread takes rows; the rest is atomic.

  /// The progress of each row, in macroblocks.
  package let progress: RowProgress
  /// The number of threads that may take part.
  package let threads: Int
  /// Whether threads may take rows.
  private let isOpen = Atomic<Bool>(false)
  /// The number of threads that are taking a row or work on one.
  private let visitors = Atomic<Int>(0)
  /// The next row to be taken.
  private let next = Atomic<Int>(0)
  /// The number of rows that are done.
  private let done = Atomic<Int>(0)
  /// The number of rows.
  private var count = 0

  /// Makes rows that are closed.
  ///
  /// - Parameters:
  ///   - rows: the largest number of rows.
  ///   - threads: the number of threads that may take part.
  package init(rows: Int, threads: Int) {
    progress = RowProgress(rows: rows)
    self.threads = threads
  }

  /// Does the work of a row; to be overridden.
  ///
  /// - Parameters:
  ///   - i: the row, in the order in which rows are taken.
  ///   - thread: the thread's number.
  package func work(row i: Int, thread: Int) {}

  /// Lets threads take rows. The caller does its share by `help` and then calls `close`.
  ///
  /// - Parameter count: the number of rows.
  package func open(_ count: Int) {
    // A thread that came late for the last rows may still be reading `next` and `count`.
    RowProgress.wait { visitors.load(ordering: .sequentiallyConsistent) == 0 }
    progress.reset()
    self.count = count
    next.store(0, ordering: .relaxed)
    done.store(0, ordering: .relaxed)
    isOpen.store(true, ordering: .sequentiallyConsistent)
  }

  /// Waits until all rows are done.
  package func close() {
    isOpen.store(false, ordering: .sequentiallyConsistent)
    RowProgress.wait { done.load(ordering: .acquiring) == count }
  }

  /// Does the work of rows until all are taken.
  ///
  /// - Parameter thread: the thread's number.
  /// - Returns: whether this thread has done any row.
  package func help(thread: Int) -> Bool {
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

  /// Does the work of all rows on the calling thread.
  ///
  /// - Parameter count: the number of rows.
  package func runAlone(_ count: Int) {
    for i in 0..<count { work(row: i, thread: 0) }
  }
}

/// Threads that can take part in the work of rows.
package protocol RowSharing: AnyObject {
  /// Does the work of rows on all threads, the calling one included, and returns when it is done.
  /// - Parameters:
  ///   - rows: the rows.
  ///   - count: the number of rows.
  func share(_ rows: RowTask, count: Int)
}
