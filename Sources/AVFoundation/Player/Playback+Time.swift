// SPDX-License-Identifier: Apache-2.0

/// How fast time goes, and where it is.
extension Playback {
  /// Sets the rate that is wanted; 0 takes effect before this returns.
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
        // The timer may have come while time stood still.
        if rate > 0 { armEnd() }
      }
      // The program may have stopped it meanwhile.
      if lock.withLock({ shared.rate }) == wanted { return }
    }
  }

  /// Behind the end nothing is played before a seek, and nothing ever of what has failed: the rate does not wait.
  private func giveUpRate() {
    let (isOver, isFailed) = lock.withLock { () -> (Bool, Bool) in
      let isFailed = shared.status == .failed
      let isOver = shared.hasEnded && shared.seek == nil && shared.endAction != .none
      guard shared.rate > 0, isFailed || isOver else { return (false, false) }
      shared.rate = 0
      return (true, isFailed)
    }
    guard isOver else { return }
    let owner = lock.withLock { self.owner }
    if isFailed { owner?.playbackFailed(self) } else { owner?.playbackPaused(self) }
  }

  /// What has been read may lie behind the new end, or is not what the new mix or composition makes.
  func readAnew() {
    control.async { [weak self] in
      guard let self, picturePump != nil || soundPump != nil else { return }
      turnLayers()
      reposition(to: CMTimebaseGetTime(timebase))
    }
  }

  /// - Parameter wanted: What lies outside the asset, as the time line does after playing at an endless rate, is
  ///   taken for its end or its beginning.
  func reposition(to wanted: CMTime) {
    let time = clampedToAsset(wanted)
    run += 1
    isPrimed = false
    CMTimebaseSetRate(timebase, rate: 0)
    CMTimebaseSetTime(timebase, time: time)
    lock.withLock { shared.hasEnded = false }
    for pump in activePumps { pump.restart(at: time, run: run) }
    armEnd()
    settle()
  }
}
