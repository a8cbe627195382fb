// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Calls the block of `requestMediaDataWhenReady` whenever the renderer wants more samples.
final class MediaDataRequest: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = Lock()
  private var request: Request?
  private var starts = 0
  private var isAsking = false
  private var isPausing = false
  private var arrivals = 0
  private struct Request {
    let number: Int
    let queue: DispatchQueue
    let block: @Sendable () -> Void
  }

  private let pause: DispatchTimeInterval
  private let notifiesOfRoom: Bool

  /// Creates a request without a block.
  /// - Parameters:
  ///   - pause: The time before the block is called again after it has enqueued nothing.
  ///   - notifiesOfRoom: Whether the renderer calls `ask` when it wants samples again. If not, it
  ///     is polled.
  init(pause: DispatchTimeInterval, notifiesOfRoom: Bool) {
    self.pause = pause
    self.notifiesOfRoom = notifiesOfRoom
  }

  func start(
    _ renderer: some AVQueuedSampleBufferRendering, on queue: DispatchQueue,
    _ block: @escaping @Sendable () -> Void
  ) {
    let old = lock.withLock {
      starts += 1
      defer { request = Request(number: starts, queue: queue, block: block) }
      return request
    }
    withExtendedLifetime(old) {}
    ask(for: renderer)
  }

  func stop() {
    // The block is released outside of the lock, since releasing what it holds may call this
    // object.
    let old = lock.withLock {
      defer { request = nil }
      return request
    }
    withExtendedLifetime(old) {}
  }

  /// Called for each sample that has been enqueued.
  func received() { lock.withLock { arrivals &+= 1 } }

  /// Schedules the block on its queue, if the renderer wants more samples.
  func ask(for renderer: some AVQueuedSampleBufferRendering) {
    let isReady = renderer.isReadyForMoreMediaData
    let request: Request? = lock.withLock {
      guard !isAsking, let request = self.request, isReady || !notifiesOfRoom else { return nil }
      isAsking = true
      return request
    }
    guard let request else { return }
    request.queue.async { [weak self, weak renderer] in
      guard let self, let renderer else { return }
      // The request may have been stopped or replaced since it was scheduled.
      let (before, isCurrent) = lock.withLock { (arrivals, self.request?.number == request.number) }
      if isCurrent, renderer.isReadyForMoreMediaData { request.block() }
      let gained = lock.withLock {
        isAsking = false
        return arrivals != before
      }
      if gained || !isCurrent, renderer.isReadyForMoreMediaData {
        ask(for: renderer)
      } else if !gained || !notifiesOfRoom {
        askLater(for: renderer, on: request.queue)
      }
    }
  }

  /// Schedules a call of `ask` after the pause, unless one is scheduled; otherwise each call of
  /// `ask` in the meantime would schedule another one.
  private func askLater(for renderer: some AVQueuedSampleBufferRendering, on queue: DispatchQueue) {
    let isFirst = lock.withLock {
      defer { isPausing = true }
      return !isPausing
    }
    guard isFirst else { return }
    queue.asyncAfter(deadline: .now() + pause) { [weak self, weak renderer] in
      guard let self, let renderer else { return }
      lock.withLock { isPausing = false }
      ask(for: renderer)
    }
  }
}
