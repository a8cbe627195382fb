// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A picture that the threads of a `PictureScheduler` code row by row.
package protocol ScheduledPicture: AnyObject {
  /// Does what needs the complete reference pictures and precedes the first row. Called by one
  /// thread.
  func prepare()
  /// Codes the next row, if it can be started. Called by several threads at the same time.
  ///
  /// - Parameter thread: the thread's number.
  /// - Returns: nil if no row can be started now; otherwise whether this call has completed the
  ///   picture.
  func codeRow(thread: Int) -> Bool?
}

/// Schedules threads that code several pictures at the same time. A picture starts when its
/// reference pictures are complete; the rows of a started picture are shared by all threads.
///
/// The output does not depend on which thread codes which row. The caller starts pictures in
/// decoding order and waits for each in turn; while it waits, it works as one of the threads.
package final class PictureScheduler {
  /// A slot for a picture that is being coded; it is used again for later pictures.
  package final class PictureSlot: @unchecked Sendable {
    // Sendable: the caller writes to it only while `state` is `closed` and no thread visits the
    // slot; setting `state` publishes what was written.
    fileprivate enum State {
      /// There is no picture, or it is complete.
      static let closed = 0
      /// The picture's reference pictures may be incomplete.
      static let waiting = 1
      /// A thread is preparing the picture, whose reference pictures are complete.
      static let opening = 2
      /// The picture's rows may be coded.
      static let open = 3
    }

    /// One of `State`.
    fileprivate let state = Atomic<Int>(State.closed)
    /// The number of threads that examine the slot or work on its picture.
    fileprivate let visitors = Atomic<Int>(0)
    /// The priority of the picture: the lowest value is coded first.
    fileprivate let rank = Atomic<Int>(0)
    /// The picture.
    fileprivate var picture: (any ScheduledPicture)?
    /// The reference pictures that have to be complete: their slots, and their values of `number`
    /// there.
    fileprivate var needs: [(slot: PictureSlot, number: Int)] = []
    /// The number of pictures that were started here.
    fileprivate var number = 0
    /// The `number` of the last picture that was completed here.
    fileprivate let completed = Atomic<Int>(0)

    /// Makes an empty slot.
    package init() { needs.reserveCapacity(24) }

    /// Whether the last picture that was started here is complete.
    var isComplete: Bool { completed.load(ordering: .acquiring) == number }

    /// Prepares the picture or codes one of its rows, if either can be done now.
    ///
    /// - Parameters:
    ///   - thread: the thread's number.
    ///   - signal: is notified where other threads may have something to do afterwards.
    /// - Returns: whether anything was done.
    fileprivate func visit(thread: Int, _ signal: Signal) -> Bool {
      visitors.add(1, ordering: .sequentiallyConsistent)
      defer { visitors.subtract(1, ordering: .sequentiallyConsistent) }
      switch state.load(ordering: .sequentiallyConsistent) {
      case State.waiting:
        guard
          state.compareExchange(
            expected: State.waiting, desired: State.opening, ordering: .sequentiallyConsistent
          ).exchanged
        else { return false }
        for need in needs where need.slot.completed.load(ordering: .acquiring) < need.number {
          state.store(State.waiting, ordering: .sequentiallyConsistent)
          return false
        }
        picture?.prepare()
        state.store(State.open, ordering: .sequentiallyConsistent)
        signal.notify()
        return true
      case State.open:
        guard let picture, let isComplete = picture.codeRow(thread: thread) else { return false }
        if isComplete {
          state.store(State.closed, ordering: .sequentiallyConsistent)
          completed.store(number, ordering: .releasing)
        }
        signal.notify()
        return true
      default: return false
      }
    }
  }

  /// The state that the threads share; it outlives them.
  private final class Shared: Sendable {
    /// The slots of the pictures.
    let slots: [PictureSlot]
    /// Rows of work that is done before the pictures: the caller waits for it.
    let first: RowTask
    /// Wakes threads that wait.
    let signal: Signal
    /// Whether the threads are to return.
    let isEnding = Atomic<Bool>(false)

    /// Makes a number of slots.
    init(slots: Int, first: RowTask, signal: Signal) {
      self.slots = (0..<slots).map { _ in PictureSlot() }
      self.first = first
      self.signal = signal
    }

    /// Does a part of the work: rows of `first`, or else a row of the picture with the lowest rank
    /// that has one for this thread.
    ///
    /// - Parameter thread: the thread's number.
    /// - Returns: whether anything was done.
    func help(thread: Int) -> Bool {
      if first.help(thread: thread) { return true }
      var last = -1
      while true {
        var best: PictureSlot?
        var rank = Int.max
        for slot in slots {
          let r = slot.rank.load(ordering: .relaxed)
          if r > last, r < rank, slot.state.load(ordering: .relaxed) != PictureSlot.State.closed {
            (best, rank) = (slot, r)
          }
        }
        guard let best else { return false }
        if best.visit(thread: thread, signal) { return true }
        last = rank
      }
    }
  }

  private let shared: Shared
  private let group: ThreadGroup
  /// The number of pictures that were started.
  private var begun = 0

  /// Starts the threads.
  ///
  /// - Parameters:
  ///   - threads: the number of threads, 2 or more, the caller's included.
  ///   - slots: the number of pictures that may be coded at the same time.
  ///   - first: rows of work that threads do before they code pictures, since the caller waits for
  ///     it.
  ///   - signal: wakes the threads; has to be notified after `first` is opened.
  package init(threads: Int, slots: Int, first: RowTask, signal: Signal) {
    let shared = Shared(slots: slots, first: first, signal: signal)
    self.shared = shared
    group = ThreadGroup(count: threads) { thread in
      while !shared.isEnding.load(ordering: .sequentiallyConsistent) {
        let now = shared.signal.count
        if !shared.help(thread: thread), !shared.isEnding.load(ordering: .sequentiallyConsistent) {
          shared.signal.wait(since: now)
        }
      }
    }
  }

  deinit { end() }

  /// Ends the threads after the rows that they are working on. Nothing accesses a picture
  /// afterwards.
  package func end() {
    shared.isEnding.store(true, ordering: .sequentiallyConsistent)
    shared.signal.notify()
    group.join()
  }

  /// Slot `i`, from 0 to the number of slots less 1.
  package func slot(_ i: Int) -> PictureSlot { shared.slots[i] }

  /// Starts a picture.
  ///
  /// - Parameters:
  ///   - picture: the picture.
  ///   - slot: a slot whose picture is complete and which `clear` has returned for.
  ///   - needs: the slots of the reference pictures, which have to be complete first.
  ///   - isReference: whether others may refer to it. Such pictures are coded before those that
  ///     none refers to.
  package func begin(
    _ picture: any ScheduledPicture, at slot: PictureSlot, needs: some Sequence<PictureSlot>,
    isReference: Bool
  ) {
    slot.picture = picture
    slot.number += 1
    slot.needs.removeAll(keepingCapacity: true)
    for need in needs { slot.needs.append((need, need.number)) }
    begun += 1
    slot.rank.store(isReference ? begun : begun + Int.max / 2, ordering: .relaxed)
    slot.state.store(PictureSlot.State.waiting, ordering: .sequentiallyConsistent)
    shared.signal.notify()
  }

  /// Waits until no thread visits a slot whose picture is complete, so that another picture may be
  /// started there.
  ///
  /// - Parameter slot: the slot.
  package func clear(_ slot: PictureSlot) {
    RowProgress.wait { slot.visitors.load(ordering: .sequentiallyConsistent) == 0 }
  }

  /// Works as thread 0 until a picture is complete.
  ///
  /// - Parameter slot: the picture's slot.
  package func complete(_ slot: PictureSlot) {
    while !slot.isComplete {
      let now = shared.signal.count
      if slot.isComplete { return }
      if !shared.help(thread: 0) { shared.signal.wait(since: now) }
    }
  }
}
