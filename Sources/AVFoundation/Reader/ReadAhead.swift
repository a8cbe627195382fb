// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// A source whose `next()` can be interrupted from another thread: it then returns nil until the
/// next call of `seek(to:)`.
protocol InterruptibleSource: SampleSource, Sendable {
  func interrupt()
}

/// Reads a few samples ahead on a thread of its own, so that the program rarely waits for the
/// decoder.
///
/// The thread ends at the end of the range, after an error, and at `stop()`. It does not outlive
/// this object.
final class ReadAhead: SampleSource {
  private let state: State

  /// Creates a reader.
  /// - Parameters:
  ///   - source: The source to read.
  ///   - depth: The largest number of samples that wait.
  init(_ source: any InterruptibleSource, depth: Int) { state = State(source, depth: depth) }

  deinit { state.stop() }

  func next() throws -> CMSampleBuffer? { try state.next() }
  func seek(to range: CMTimeRange) throws { try state.seek(to: range) }
  func stop() { state.stop() }

  /// The state that the thread and the program share. The thread refers to this object and not to
  /// the `ReadAhead`, so that it does not keep that alive.
  private final class State: @unchecked Sendable {
    // Sendable: `condition` guards what changes.
    private let source: any InterruptibleSource
    private let depth: Int
    /// Set before the source is stopped. It is not guarded by `condition`, which `seek` holds while
    /// it waits for the source.
    private let stopped = Atomic(false)
    private var isStopped: Bool { stopped.load(ordering: .sequentiallyConsistent) }
    // `condition` guards everything below. The source belongs to the thread while that runs, and to
    // the caller otherwise.
    private let condition = NSCondition()
    private var ready: [CMSampleBuffer] = []
    private var failure: (any Error)?
    private var isRunning = false
    private var isPausing = false

    init(_ source: any InterruptibleSource, depth: Int) {
      self.source = source
      self.depth = max(1, depth)
    }

    func next() throws -> CMSampleBuffer? {
      condition.lock()
      defer { condition.unlock() }
      while ready.isEmpty, isRunning, !isStopped { condition.wait() }
      guard !isStopped else { return nil }
      if !ready.isEmpty {
        defer { condition.broadcast() }
        return ready.removeFirst()
      }
      if let failure { throw failure }
      return nil
    }

    func seek(to range: CMTimeRange) throws {
      condition.lock()
      defer { condition.unlock() }
      isPausing = true
      source.interrupt()
      condition.broadcast()
      while isRunning { condition.wait() }
      isPausing = false
      ready = []
      failure = nil
      guard !isStopped else { return }
      try source.seek(to: range)
      isRunning = true
      let thread = Thread { [self] in run() }
      thread.name = "AVFoundation.read-ahead"
      thread.start()
    }

    func stop() {
      stopped.store(true, ordering: .sequentiallyConsistent)
      source.interrupt()
      source.stop()
      condition.lock()
      ready = []
      condition.broadcast()
      condition.unlock()
    }

    private func run() {
      condition.lock()
      while true {
        while ready.count >= depth, !isPausing, !isStopped { condition.wait() }
        guard !isPausing, !isStopped else { break }
        condition.unlock()
        let result = Result { try source.next() }
        condition.lock()
        guard !isPausing, !isStopped else { break }
        switch result {
        case .success(let sample?): ready.append(sample)
        case .success(nil): isRunning = false
        case .failure(let error):
          failure = error
          isRunning = false
        }
        condition.broadcast()
        if !isRunning { break }
      }
      isRunning = false
      condition.broadcast()
      condition.unlock()
    }
  }
}
