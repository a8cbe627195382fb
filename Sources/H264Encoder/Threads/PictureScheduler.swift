// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Threads that code several pictures at the same time: each begins when what it refers to is complete.
///
/// Which thread codes which row changes no bit. The caller begins pictures in decoding order and waits for each in turn; it
/// helps while it waits.
final class PictureScheduler {
  /// A picture that is being coded, or room for one.
  final class Place: @unchecked Sendable {
    // Sendable: the caller writes while `state` is closed and no thread is at the place; `state` hands it over.
    fileprivate enum State {
      static let closed = 0
      /// Its references may still be missing.
      static let waiting = 1
      /// A thread makes the last things ready.
      static let opening = 2
      static let open = 3
    }

    fileprivate let state = Atomic<Int>(State.closed)
    /// Threads that look at the place or work on its picture.
    fileprivate let visitors = Atomic<Int>(0)
    /// Pictures are coded in this order where there is a choice.
    fileprivate let rank = Atomic<Int>(0)
    fileprivate var job: SharedJob?
    /// Places whose pictures it needs whole, by the number that they have there.
    fileprivate var needs: [(place: Place, number: Int)] = []
    /// Pictures that began here, and the last that is complete.
    fileprivate var number = 0
    fileprivate let completed = Atomic<Int>(0)
    /// What needs the references: by how many rows the content was scrolled.
    fileprivate var findScroll:
      (detector: ScrollDetector, source: SourcePicture, reference: PicturePlanes, limit: Int)?

    init() { needs.reserveCapacity(24) }

    var isComplete: Bool { completed.load(ordering: .acquiring) == number }

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
        for need in needs where need.place.completed.load(ordering: .acquiring) < need.number {
          state.store(State.waiting, ordering: .sequentiallyConsistent)
          return false
        }
        if let find = findScroll {
          job?.setScroll(find.detector.distance(find.source, from: find.reference, limit: find.limit))
        }
        state.store(State.open, ordering: .sequentiallyConsistent)
        signal.give()
        return true
      case State.open:
        guard let job, let isComplete = job.codeRow(thread: thread) else { return false }
        if isComplete {
          state.store(State.closed, ordering: .sequentiallyConsistent)
          completed.store(number, ordering: .releasing)
        }
        signal.give()
        return true
      default: return false
      }
    }
  }

  /// What the threads share; it outlives them.
  private final class Shared: Sendable {
    let places: [Place]
    let first: SharedRows
    let signal: Signal
    let isEnding = Atomic<Bool>(false)

    init(places: Int, first: SharedRows, signal: Signal) {
      self.places = (0..<places).map { _ in Place() }
      self.first = first
      self.signal = signal
    }

    /// Does a part of what there is to do: what the caller waits for, or else of the picture with the least rank that has a
    /// part for this thread.
    func help(thread: Int) -> Bool {
      if first.help(thread: thread) { return true }
      var last = -1
      while true {
        var best: Place?
        var rank = Int.max
        for place in places {
          let r = place.rank.load(ordering: .relaxed)
          if r > last, r < rank, place.state.load(ordering: .relaxed) != Place.State.closed {
            (best, rank) = (place, r)
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
  private var begun = 0

  /// - Parameters:
  ///   - threads: 2 or more; the caller is one of them.
  ///   - places: pictures at the same time.
  ///   - first: what threads do before they code, since the caller does nothing else meanwhile.
  ///   - signal: given by who opens `first`.
  init(threads: Int, places: Int, first: SharedRows, signal: Signal) {
    let shared = Shared(places: places, first: first, signal: signal)
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

  /// Rows that threads are at are finished; then nothing touches a picture any more.
  func end() {
    shared.isEnding.store(true, ordering: .sequentiallyConsistent)
    shared.signal.give()
    group.join()
  }

  func place(_ i: Int) -> Place { shared.places[i] }

  /// Hands a picture to the threads (`PictureCoder.begin`).
  /// - Parameters:
  ///   - place: one whose picture is complete.
  ///   - needs: places whose present pictures must be complete before.
  ///   - isReference: it goes first, since others may wait for it.
  ///   - scroll: what `ScrollDetector.distance` is to look at, then.
  func begin(
    _ job: SharedJob, at place: Place, needs: some Sequence<Place>, isReference: Bool,
    scroll: (detector: ScrollDetector, source: SourcePicture, reference: PicturePlanes, limit: Int)?
  ) {
    place.job = job
    place.number += 1
    place.needs.removeAll(keepingCapacity: true)
    for need in needs { place.needs.append((need, need.number)) }
    place.findScroll = scroll
    begun += 1
    place.rank.store(isReference ? begun : begun + Int.max / 2, ordering: .relaxed)
    place.state.store(Place.State.waiting, ordering: .sequentiallyConsistent)
    shared.signal.give()
  }

  /// Waits until no thread is at a place whose picture is complete, so that another one may begin there.
  func clear(_ place: Place) {
    RowProgress.wait { place.visitors.load(ordering: .sequentiallyConsistent) == 0 }
  }

  /// Returns when the picture is complete.
  func complete(_ place: Place) {
    while !place.isComplete {
      let now = shared.signal.count
      if place.isComplete { return }
      if !shared.help(thread: 0) { shared.signal.wait(since: now) }
    }
  }
}
