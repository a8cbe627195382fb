// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Asks a renderer's client for samples whenever the renderer has room for more.
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
  private let tellsOfRoom: Bool

  /// Of the parameters:
  ///
  /// - `pause`: How long a client that had nothing is left alone.
  /// - `tellsOfRoom`: Whether the renderer calls `ask` when there is room again. If not it is looked at again and again.
  init(pause: DispatchTimeInterval, tellsOfRoom: Bool) {
    self.pause = pause
    self.tellsOfRoom = tellsOfRoom
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
    // What the block holds goes when the lock is free: it may come back here.
    let old = lock.withLock {
      defer { request = nil }
      return request
    }
    withExtendedLifetime(old) {}
  }

  /// A sample has come.
  func received() { lock.withLock { arrivals &+= 1 } }

  /// Asks on the client's queue, if the renderer is ready for more.
  func ask(for renderer: some AVQueuedSampleBufferRendering) {
    let isReady = renderer.isReadyForMoreMediaData
    let request: Request? = lock.withLock {
      guard !isAsking, let request = self.request, isReady || !tellsOfRoom else { return nil }
      isAsking = true
      return request
    }
    guard let request else { return }
    request.queue.async { [weak self, weak renderer] in
      guard let self, let renderer else { return }
      // It may have been stopped, or replaced, since it was put in the queue.
      let (before, isCurrent) = lock.withLock { (arrivals, self.request?.number == request.number) }
      if isCurrent, renderer.isReadyForMoreMediaData { request.block() }
      let gained = lock.withLock {
        isAsking = false
        return arrivals != before
      }
      if gained || !isCurrent, renderer.isReadyForMoreMediaData {
        ask(for: renderer)
      } else if !gained || !tellsOfRoom {
        askLater(for: renderer, on: request.queue)
      }
    }
  }

  /// One look at a time: every `ask` that comes in between would leave another one behind otherwise.
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
