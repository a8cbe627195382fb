// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// The bounded queue of encoded pictures for an output.
final class OutputQueue: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state, and the queue has its own lock.
  private let queue: BoundedQueue<CMSampleBuffer>
  private let backPressure: BackPressure
  private let lock = Lock()
  private var isDropping = false
  private var dropped = 0

  init(capacity: Int, backPressure: BackPressure = .waits) {
    queue = BoundedQueue(capacity: capacity)
    self.backPressure = backPressure
  }

  /// The number of pictures that were dropped because the output had no room for them.
  var droppedCount: Int { lock.withLock { dropped } }

  var isCancelled: Bool { queue.isCancelled }

  /// Appends a sample. If there is no room it waits, or drops the sample, depending on the output.
  /// - Returns: false if the output takes no more samples.
  func push(_ sample: CMSampleBuffer) -> Bool {
    guard backPressure == .dropsToKeyFrame else { return queue.push(sample) }
    let isKeyFrame = SampleAttributes(sample).isKeyFrame
    return lock.withLock {
      // Pictures after a gap refer to pictures in it, up to the next key frame.
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

  /// Waits for a sample and removes it from the queue.
  /// - Returns: the sample; nil at the end or after `cancel()`.
  /// - Throws: the error that the encoding stage ended with.
  func pop() throws -> CMSampleBuffer? { try queue.pop() }

  /// Marks the end of the samples, with an error if the encoding stage failed.
  func end(_ error: (any Error)? = nil) { queue.end(error) }

  /// Drops the queued samples and takes no more.
  func cancel() { queue.cancel() }
}
