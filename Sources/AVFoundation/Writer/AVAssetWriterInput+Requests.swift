// SPDX-License-Identifier: Apache-2.0
import Foundation

// When the block of `requestMediaDataWhenReady` is called.

extension AVAssetWriterInput {
  /// The encoder has done a picture: a source that dropped some may go on.
  func wakeIfRealTime() { if expectsMediaDataInRealTime { wake() } }

  /// Calls the block if the input is ready and nobody is at it.
  func wake() {
    guard isReadyForMoreMediaData else { return wakeLater() }
    let request: (queue: DispatchQueue, block: @Sendable () -> Void)? = lock.withLock {
      guard !state.isScheduled, !state.isFinished, let request = state.request else { return nil }
      state.isScheduled = true
      return request
    }
    guard let request else { return }
    request.queue.async { [self] in run(request) }
  }

  /// An encoder may take pictures without giving one out, so that nobody says when it has room: it is asked, again and
  /// again, also where it has had room since it was found busy.
  private func wakeLater() {
    guard expectsMediaDataInRealTime, writer?.status == .writing else { return }
    let queue: DispatchQueue? = lock.withLock {
      guard !state.isWaiting, !state.isFinished, let request = state.request else { return nil }
      state.isWaiting = true
      return request.queue
    }
    queue?.asyncAfter(deadline: .now() + .milliseconds(5)) { [weak self] in
      guard let self else { return }
      self.lock.withLock { self.state.isWaiting = false }
      self.wake()
    }
  }

  private func run(_ request: (queue: DispatchQueue, block: @Sendable () -> Void)) {
    let before = lock.withLock { state.appendCount }
    // Looked at before the call: a block that does not know yet is called again.
    let isOver = hasWriterEnded
    let wasRefused = lock.withLock { state.wasRefused }
    if isReadyForMoreMediaData, !(isOver && wasRefused) { request.block() }
    let (appended, isFinished, knows) = lock.withLock {
      state.isScheduled = false
      return (state.appendCount != before, state.isFinished, isOver || state.wasRefused)
    }
    guard !isFinished else { return }
    if hasWriterEnded {
      if knows { forgetRequests() } else { wake() }
    } else if appended || !isReadyForMoreMediaData {
      wake()
    } else {
      // The source had nothing: ask again a little later, not at once.
      request.queue.asyncAfter(deadline: .now() + .milliseconds(10)) { [weak self] in self?.wake() }
    }
  }

  /// A writer that is gone has ended as well.
  private var hasWriterEnded: Bool {
    guard let writer else { return lock.withLock { state.isAttached } }
    let status = writer.status
    return status == .failed || status == .cancelled
  }

  /// Blocks that hold the input, as most do, and that nobody will call any more.
  func forgetRequests() {
    // They go when the lock is free: what they hold may come back here.
    let old = lock.withLock {
      defer {
        state.request = nil
        state.passRequest = nil
        state.passDescription = nil
      }
      return (state.request, state.passRequest)
    }
    withExtendedLifetime(old) {}
  }

  /// The writer has failed, was cancelled or is done: whoever waits is told.
  func writerEnded() {
    let (passRequest, isInPass) = lock.withLock {
      defer {
        state.passRequest = nil
        state.passDescription = nil
      }
      return (state.passRequest, !state.isFinished && state.passDescription != nil)
    }
    withExtendedLifetime(passRequest) {}
    // A writer that failed in a pass: who waits for the end of the passes is told.
    if isInPass, let passRequest { passRequest.queue.async(execute: passRequest.block) }
    wake()
  }
}
