// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Handles the end of an item, which is the end of its media or a failure.
extension Playback {
  func armEnd() {
    if endTimer == nil {
      let timer = DispatchSource.makeTimerSource(queue: control)
      timer.setEventHandler { [weak self] in self?.reachEnd() }
      CMTimebaseAddTimerDispatchSource(timebase, timerSource: timer)
      timer.resume()
      endTimer = timer
    }
    guard let endTimer else { return }
    CMTimebaseSetTimerDispatchSourceNextFireTime(timebase, timerSource: endTimer, fireTime: end, flags: 0)
  }

  /// The end time that the program has set; invalid if playback ends where the asset ends.
  var forwardEnd: CMTime {
    let end = lock.withLock { shared.forwardEnd }
    return end.isPlayable ? end : .invalid
  }

  /// The time at which playback ends; not numeric while it is unknown.
  var end: CMTime {
    let (duration, isOpenEnded) = lock.withLock { (shared.duration, shared.isOpenEnded) }
    let forwardEnd = forwardEnd
    var end = duration.isNumeric && duration > .zero && !isOpenEnded ? duration : .positiveInfinity
    let pumps = [picturePump, audioPump].compactMap { $0 }
    let ends = pumps.compactMap(\.endOfMedia)
    // The media can end before the duration that the file's header states.
    if ends.count == pumps.count, let last = ends.max() { end = min(end, last) }
    if forwardEnd.isNumeric { end = min(end, forwardEnd) }
    return end
  }

  private func reachEnd() {
    let end = end
    let now = CMTimebaseGetTime(timebase)
    let rate = CMTimebaseGetRate(timebase)
    // While a new run starts, the timer is set again by that.
    guard end.isNumeric, isPrimed, rate > 0 else { return }
    // The timer can fire slightly early.
    guard (end - now).seconds < 0.002 * max(1, rate) else { return armEnd() }
    let action = lock.withLock { () -> AVPlayer.ActionAtItemEnd? in
      guard !shared.hasEnded, shared.seek == nil else { return nil }
      shared.hasEnded = true
      if shared.endAction != .none { shared.rate = 0 }
      return shared.endAction
    }
    guard let action else { return }
    CMTimebaseSetRate(timebase, rate: 0)
    CMTimebaseSetTime(timebase, time: end)
    let (owner, item) = lock.withLock { (self.owner, ownerItem) }
    if action != .none { owner?.playbackPaused(self) }
    if let failure = failure(at: end) { return postFailure(failure, item) }
    Self.callbacks.async {
      NotificationCenter.default.post(name: .AVPlayerItemDidPlayToEndTime, object: item)
    }
  }

  /// The error with which a track ended at or before a time, or nil. The item stays ready, since
  /// what can be read of it can be played again.
  private func failure(at end: CMTime) -> AVError? {
    for pump in [picturePump, audioPump] {
      if let pump, let failure = pump.failure, let last = pump.endOfMedia, last <= end { return failure }
    }
    return nil
  }

  // MARK: - Failure

  func fail(_ error: AVError) {
    let (wasReady, seek) = lock.withLock { () -> (Bool, Seek?) in
      defer {
        shared.status = .failed
        shared.error = error
        shared.rate = 0
        shared.seek = nil
      }
      return (shared.status == .readyToPlay, shared.seek)
    }
    CMTimebaseSetRate(timebase, rate: 0)
    picturePump?.stop()
    audioPump?.stop()
    finish(seek, false)
    let (owner, item) = lock.withLock { (self.owner, ownerItem) }
    owner?.playbackFailed(self)
    if wasReady { postFailure(error, item) }
  }

  private func postFailure(_ error: AVError, _ item: AVPlayerItem?) {
    Self.callbacks.async {
      NotificationCenter.default.post(
        name: .AVPlayerItemFailedToPlayToEndTime, object: item,
        userInfo: [AVPlayerItemFailedToPlayToEndTimeErrorKey: error as NSError])
    }
  }

  func finish(_ seek: Seek?, _ isDone: Bool) {
    guard let completion = seek?.completion else { return }
    Self.callbacks.async { completion(isDone) }
  }

  func postTimeJumped() {
    let item = lock.withLock { ownerItem }
    Self.callbacks.async { NotificationCenter.default.post(name: .AVPlayerItemTimeJumped, object: item) }
  }
}
