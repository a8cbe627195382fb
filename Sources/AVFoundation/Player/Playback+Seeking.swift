// SPDX-License-Identifier: Apache-2.0
import Foundation

extension Playback {
  /// Seeks to a time. A previous seek that has not been completed is cancelled.
  /// - Parameters:
  ///   - time: The time to seek to.
  ///   - before: How far the result may be before the time. With a tolerance the result is the last
  ///     key frame in that range, which is found faster.
  ///   - after: Not used, since the result is never after the time.
  ///   - isStep: Whether the seek is part of a step, and not one that the program has asked for.
  ///   - completion: Called on `callbacks` with whether the time was reached.
  func seek(
    to time: CMTime, before: CMTime, after: CMTime, isStep: Bool = false,
    completion: (@Sendable (Bool) -> Void)?
  ) {
    guard time.isPlayable else {
      if let completion { Self.callbacks.async { completion(false) } }
      return
    }
    let (old, isFailed) = lock.withLock { () -> (Seek?, Bool) in
      if shared.status == .failed { return (nil, true) }
      let old = shared.seek
      shared.seekCount += 1
      if !isStep { shared.givenSeeks += 1 }
      shared.seek = Seek(
        id: shared.seekCount, time: time, before: before, completion: completion)
      return (old, false)
    }
    if isFailed {
      if let completion { Self.callbacks.async { completion(false) } }
      return
    }
    finish(old, false)
    control.async { [weak self] in self?.performSeek() }
  }

  func cancelPendingSeeks() {
    let old = lock.withLock { () -> Seek? in
      defer { shared.seek = nil }
      return shared.seek
    }
    guard let old else { return }
    finish(old, false)
    // The end may have been reached while the seek was pending.
    control.async { [weak self] in self?.armEnd() }
  }

  /// Starts the pending seek. Must be called on `control`.
  /// - Returns: Whether a seek was started or completed.
  @discardableResult
  func performSeek() -> Bool {
    let (seek, isReady, isAttached) = lock.withLock {
      (shared.seek, shared.status == .readyToPlay, shared.isAttached)
    }
    // A seek that another one has replaced is never started.
    guard let seek, seek.id != performedSeek else { return false }
    guard isReady, isAttached else {
      // An item without a player only records where to start.
      if !isAttached {
        performedSeek = seek.id
        CMTimebaseSetTime(timebase, time: max(.zero, seek.time))
        lock.withLock { if shared.seek?.id == seek.id { shared.seek = nil } }
        finish(seek, true)
      }
      return !isAttached
    }
    var time = clampedToAsset(seek.time)
    if seek.before > .zero, let pictureTrack {
      let key = pictureTrack.syncSampleTime(before: time)
      if key.isNumeric, seek.before == .positiveInfinity || time - key <= seek.before { time = key }
    }
    guard lock.withLock({ shared.seek?.id == seek.id }) else { return false }
    performedSeek = seek.id
    reposition(to: time)
    postTimeJumped()
    return true
  }

  /// The time of the asset that is nearest to a time. If the duration is not known, times from zero
  /// on are unchanged.
  func clampedToAsset(_ time: CMTime) -> CMTime {
    let duration = lock.withLock { shared.duration }
    let isKnown = duration.isNumeric && duration > .zero
    guard time.isPlayable else { return time == .positiveInfinity && isKnown ? duration : .zero }
    return isKnown ? min(max(.zero, time), duration) : max(.zero, time)
  }

  // MARK: - Steps

  /// Moves by a number of pictures, from the current one or the one that a pending seek or step
  /// leads to.
  func step(by count: Int) {
    let seeks = lock.withLock { shared.givenSeeks }
    control.async { [weak self] in self?.performStep(count, after: seeks) }
  }

  private func performStep(_ count: Int, after seeks: Int) {
    let (isOvertaken, target) = lock.withLock { (shared.givenSeeks != seeks, shared.seek?.time) }
    guard count != 0, !isOvertaken, let track = pictureTrack else { return }
    let range = track.timeRange
    let last = range.end - CMTime(value: 1, timescale: max(10_000, track.naturalTimeScale))
    let from = target.map { clampedToAsset($0) } ?? CMTimebaseGetTime(timebase)
    let displayedTime = max(range.start, min(from, last))
    let time = track.samplePresentationTime(forTrackTime: displayedTime)
    guard time.isNumeric else { return }
    seek(to: track.pictureTime(count, from: time), before: .zero, after: .zero, isStep: true, completion: nil)
  }
}

extension CMTime {
  /// Whether this can be a time of an asset: numeric and of epoch 0.
  var isPlayable: Bool { isNumeric && timescale > 0 && epoch == 0 }
}

extension CMTimeRange {
  /// Whether this can be a part of an asset's time line. The duration may be indefinite.
  var isPlayable: Bool { isValid && start.isPlayable && (duration.isPlayable || !duration.isNumeric) }
}
