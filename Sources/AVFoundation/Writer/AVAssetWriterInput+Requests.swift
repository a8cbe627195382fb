// SPDX-License-Identifier: Apache-2.0
import Foundation

// This file decides when the block of `requestMediaDataWhenReady` is called.

extension AVAssetWriterInput {
  /// Called when the encoder has finished a picture. Lets a real-time source that dropped pictures
  /// go on.
  func wakeIfRealTime() { if expectsMediaDataInRealTime { wake() } }

  /// Schedules the block if the input is ready and the block is not scheduled already.
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

  /// Schedules another look at the encoder's queue, for a real-time input whose encoder is busy.
  /// The encoder may take pictures without putting any out, so that no callback tells when it has
  /// room. The input is polled every 5 milliseconds, even if the encoder has become ready since it
  /// was found busy.
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
    // Read before the call. If the writer ends during the call, the block may not have seen it and
    // is called again.
    let hadWriterEnded = hasWriterEnded
    let wasRejected = lock.withLock { state.wasRejected }
    if isReadyForMoreMediaData, !(hadWriterEnded && wasRejected) { request.block() }
    let (appended, isFinished, knows) = lock.withLock {
      state.isScheduled = false
      return (state.appendCount != before, state.isFinished, hadWriterEnded || state.wasRejected)
    }
    guard !isFinished else { return }
    if hasWriterEnded {
      if knows { forgetRequests() } else { wake() }
    } else if appended || !isReadyForMoreMediaData {
      wake()
    } else {
      // The block appended nothing although the input was ready. Call it again after 10
      // milliseconds, so as not to spin.
      request.queue.asyncAfter(deadline: .now() + .milliseconds(10)) { [weak self] in self?.wake() }
    }
  }

  /// Whether the writer has failed, was cancelled, or has been deallocated.
  private var hasWriterEnded: Bool {
    guard let writer else { return lock.withLock { state.isAttached } }
    let status = writer.status
    return status == .failed || status == .cancelled
  }

  /// Releases the blocks. Most of them hold the input, and they will not be called any more.
  func forgetRequests() {
    // The blocks are released outside of the lock, because releasing what they hold may call this
    // input.
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

  /// Called when the writer has failed, was cancelled or has completed: wakes code that waits for
  /// the input.
  func writerEnded() {
    let (passRequest, isInPass) = lock.withLock {
      defer {
        state.passRequest = nil
        state.passDescription = nil
      }
      return (state.passRequest, !state.isFinished && state.passDescription != nil)
    }
    withExtendedLifetime(passRequest) {}
    // The writer failed during a pass. The block is called so that code that waits for the end of
    // the passes continues.
    if isInPass, let passRequest { passRequest.queue.async(execute: passRequest.block) }
    wake()
  }
}
