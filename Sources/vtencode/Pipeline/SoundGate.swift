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
  /// The writer takes no pictures before it has more sound.
  private var isWanted = false
  /// Of the last picture that has come.
  private var picturesEnd = CMTime.negativeInfinity
  private var isMovieExhausted = false
  /// Where the run ends at the latest, as far as is known beforehand.
  private let latest: CMTime

  init(latest: CMTime = .positiveInfinity) { self.latest = latest }

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

  /// The writer takes no more pictures until it has more sound, or takes them again.
  func wants(sound: Bool) {
    condition.lock()
    isWanted = sound
    if sound { condition.broadcast() }
    condition.unlock()
  }

  /// Waits until the pictures have come as far as `time`, or wait themselves. False if sound at that time is not wanted.
  func admits(_ time: CMTime) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    while time > reached {
      // Sound that begins or goes on much later than the pictures: they would wait for it, and it for them.
      if isWanted { return time < min(end, latest) }
      condition.wait()
    }
    return time < end
  }

  /// Waits until the pictures have come as far as `end`, or end before it.
  /// - Returns: where what begins at `start` ends with the pictures; nil if it begins after them.
  func admitted(from start: CMTime, to end: CMTime) -> CMTime? {
    condition.lock()
    defer { condition.unlock() }
    while end > reached { condition.wait() }
    let last = reached == .positiveInfinity ? min(self.end, picturesEnd) : self.end
    return start < last ? min(end, last) : nil
  }
}
