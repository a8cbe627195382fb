// SPDX-License-Identifier: Apache-2.0

/// Controls the rate and the time.
extension Playback {
  /// Sets the rate that the player wants. A rate of 0 takes effect before this method returns,
  /// other rates as soon as possible.
  func setRate(_ rate: Double) {
    lock.withLock { shared.rate = rate }
    if rate == 0 { CMTimebaseSetRate(timebase, rate: 0) }
    control.async { [weak self] in self?.applyRate() }
  }

  func applyRate() {
    giveUpRate()
    while true {
      let (wanted, isAble) = lock.withLock {
        (shared.rate, shared.isAttached && shared.status == .readyToPlay && !shared.hasEnded)
      }
      let rate = isAble && (isPrimed || !lock.withLock { shared.waits }) ? wanted : 0
      if CMTimebaseGetRate(timebase) != rate {
        CMTimebaseSetRate(timebase, rate: rate)
        // The end's timer may have fired while the timebase was stopped.
        if rate > 0 { armEnd() }
      }
      // The rate may have been set to another value meanwhile.
      if lock.withLock({ shared.rate }) == wanted { return }
    }
  }

  /// Sets the rate to zero after the end, where playback needs a seek to continue, and after a
  /// failure.
  private func giveUpRate() {
    let (isFinished, isFailed) = lock.withLock { () -> (Bool, Bool) in
      let isFailed = shared.status == .failed
      let isFinished = shared.hasEnded && shared.seek == nil && shared.endAction != .none
      guard shared.rate > 0, isFailed || isFinished else { return (false, false) }
      shared.rate = 0
      return (true, isFailed)
    }
    guard isFinished else { return }
    let owner = lock.withLock { self.owner }
    if isFailed { owner?.playbackFailed(self) } else { owner?.playbackPaused(self) }
  }

  /// Reads the tracks again from the current time, since samples that have been read may be after
  /// the new end, or come from the previous mix or composition.
  func readAnew() {
    control.async { [weak self] in
      guard let self, picturePump != nil || audioPump != nil else { return }
      turnLayers()
      reposition(to: CMTimebaseGetTime(timebase))
    }
  }

  /// Stops the timebase and reads the tracks from a time on.
  /// - Parameter wanted: The new time. A time outside of the asset, such as after playing at an
  ///   infinite rate, is replaced by the asset's beginning or end.
  func reposition(to wanted: CMTime) {
    let time = clampedToAsset(wanted)
    run += 1
    isPrimed = false
    CMTimebaseSetRate(timebase, rate: 0)
    CMTimebaseSetTime(timebase, time: time)
    lock.withLock { shared.hasEnded = false }
    for pump in activePumps { pump.restart(at: time, run: run) }
    armEnd()
    startIfPrimed()
  }
}
