import CoreMedia
import Foundation

/// Keeps the sound in step with the pictures that have been read: it neither runs far ahead in the file
/// nor goes on after a run that ends early.
final class SoundGate: @unchecked Sendable {
  private let condition = NSCondition()
  private var reached = CMTime.negativeInfinity
  private var end = CMTime.positiveInfinity

  /// Pictures up to `time` have been read.
  func advance(to time: CMTime) {
    condition.lock()
    reached = max(reached, time)
    condition.broadcast()
    condition.unlock()
  }

  /// No more pictures come. Sound from `end` on is not wanted.
  func finish(at end: CMTime) {
    condition.lock()
    reached = .positiveInfinity
    self.end = end
    condition.broadcast()
    condition.unlock()
  }

  /// Waits until the pictures have come to `time`. False if sound at that time is not wanted.
  func admits(_ time: CMTime) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    while time > reached { condition.wait() }
    return time < end
  }
}
