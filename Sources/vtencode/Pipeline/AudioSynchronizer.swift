// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// Keeps the audio in step with the pictures that go to the encoder: it does not run far ahead of
/// them in the file, and it stops where a run ends early.
final class AudioSynchronizer: @unchecked Sendable {
  // Sendable: `condition` guards the mutable state.
  private let condition = NSCondition()
  private var reached = CMTime.negativeInfinity
  private var end = CMTime.positiveInfinity
  /// Whether the writer waits for audio before it takes more pictures.
  private var isWanted = false
  /// The end time of the last picture.
  private var picturesEnd = CMTime.negativeInfinity
  private var isMovieExhausted = false
  /// The latest time at which the run can end, as far as it is known beforehand.
  private let latest: CMTime

  init(latest: CMTime = .positiveInfinity) { self.latest = latest }

  /// Records that the pictures up to `time` have come.
  func advance(to time: CMTime) {
    condition.lock()
    reached = max(reached, time)
    picturesEnd = max(picturesEnd, time)
    condition.broadcast()
    condition.unlock()
  }

  /// Records that the movie has no more pictures. Its audio may be longer, unless the run is cut
  /// short.
  func setEndOfMovie() {
    condition.lock()
    isMovieExhausted = true
    condition.unlock()
  }

  /// Records that no more pictures will come. If the movie was not read to its end, the audio stops
  /// with the last picture.
  /// - Parameter isCut: whether pictures that were read are left out.
  func finish(isCut: Bool) {
    condition.lock()
    if isCut || !isMovieExhausted { end = reached }
    reached = .positiveInfinity
    condition.broadcast()
    condition.unlock()
  }

  /// Records that the run has failed: all waits end, and no audio is admitted.
  func abandon() {
    condition.lock()
    end = .negativeInfinity
    reached = .positiveInfinity
    condition.broadcast()
    condition.unlock()
  }

  /// Records whether the writer waits for more audio before it takes pictures.
  func wants(audio: Bool) {
    condition.lock()
    isWanted = audio
    if audio { condition.broadcast() }
    condition.unlock()
  }

  /// Waits until the pictures have reached `time`, or until the writer waits for audio.
  /// - Returns: false if audio at that time is not wanted.
  func admits(_ time: CMTime) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    while time > reached {
      // The audio begins or continues much later than the pictures. Without this, each would wait
      // for the other.
      if isWanted { return time < min(end, latest) }
      condition.wait()
    }
    return time < end
  }

  /// Waits until the pictures have reached `end`, or have come to their own end before it.
  /// - Returns: the end of a text that begins at `start`, limited to the pictures'; nil if it
  ///   begins after them.
  func admitted(from start: CMTime, to end: CMTime) -> CMTime? {
    condition.lock()
    defer { condition.unlock() }
    while end > reached { condition.wait() }
    let last = reached == .positiveInfinity ? min(self.end, picturesEnd) : self.end
    return start < last ? min(end, last) : nil
  }
}
