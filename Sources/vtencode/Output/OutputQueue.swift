// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// The encoded pictures that wait for an output, as many as the run has memory for.
final class OutputQueue: @unchecked Sendable {
  // Sendable: `lock` guards what changes, and the queue has its own.
  private let queue: BoundedQueue<CMSampleBuffer>
  private let backPressure: BackPressure
  private let lock = Lock()
  private var isDropping = false
  private var dropped = 0

  init(capacity: Int, backPressure: BackPressure = .waits) {
    queue = BoundedQueue(capacity: capacity)
    self.backPressure = backPressure
  }

  /// Pictures that were left out since the output had no room for them.
  var droppedCount: Int { lock.withLock { dropped } }

  var isCancelled: Bool { queue.isCancelled }

  /// Puts a sample at the end: waits for room, or leaves the sample out, as the output wants it.
  /// - Returns: False if nobody takes samples any more.
  func push(_ sample: CMSampleBuffer) -> Bool {
    guard backPressure == .dropsToKeyFrame else { return queue.push(sample) }
    let isKeyFrame = SampleFacts(sample).isKeyFrame
    return lock.withLock {
      // What follows a gap refers to what is in it.
      if isDropping, !isKeyFrame {
        dropped += 1
        return !queue.isCancelled
      }
      switch queue.offer(sample) {
      case true?: isDropping = false
      case false?:
        isDropping = true
        dropped += 1
      case nil: return false
      }
      return true
    }
  }

  /// Waits for a sample. Nil at the end; throws the error that the other side ended with.
  func pop() throws -> CMSampleBuffer? { try queue.pop() }

  /// Says that no more samples come.
  func end(_ error: (any Error)? = nil) { queue.end(error) }

  /// Says that no more samples are wanted, and drops those queued.
  func cancel() { queue.cancel() }
}
