// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// Keeps the sound in step with the pictures that go to the encoder: it neither runs far ahead in the file
/// nor goes on after a run that ends early.
final class SoundGate: @unchecked Sendable {
  // Sendable: `condition` guards what changes.
  private let condition = NSCondition()
  private var reached = CMTime.negativeInfinity
  private var end = CMTime.positiveInfinity
  /// Of the last picture that has come.
  private var picturesEnd = CMTime.negativeInfinity
  private var isMovieExhausted = false

  /// Pictures up to `time` have come.
  func advance(to time: CMTime) {
    condition.lock()
    reached = max(reached, time)
    picturesEnd = max(picturesEnd, time)
    condition.broadcast()
    condition.unlock()
  }

  /// The movie has no more pictures: its sound may outlast them, unless the run is cut short before.
  func noteEndOfMovie() {
    condition.lock()
    isMovieExhausted = true
    condition.unlock()
  }

  /// No more pictures come. Unless the movie was read to its end, sound stops with the last picture.
  /// - Parameter isCut: pictures that were read are left out.
  func finish(isCut: Bool) {
    condition.lock()
    if isCut || !isMovieExhausted { end = reached }
    reached = .positiveInfinity
    condition.broadcast()
    condition.unlock()
  }

  /// The run has failed: nobody waits any more, and no sound is wanted.
  func abandon() {
    condition.lock()
    end = .negativeInfinity
    reached = .positiveInfinity
    condition.broadcast()
    condition.unlock()
  }

  /// Waits until the pictures have come as far as `time`. False if sound at that time is not wanted.
  func admits(_ time: CMTime) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    while time > reached { condition.wait() }
    return time < end
  }

  /// Waits until the pictures have come as far as the end of `range`, or end before it.
  /// - Returns: what of it goes with the pictures; nil for nothing.
  func admitted(_ range: CMTimeRange) -> CMTimeRange? {
    condition.lock()
    defer { condition.unlock() }
    while range.end > reached { condition.wait() }
    let last = reached == .positiveInfinity ? min(end, picturesEnd) : end
    guard range.start < last else { return nil }
    return CMTimeRange(start: range.start, end: min(range.end, last))
  }
}
