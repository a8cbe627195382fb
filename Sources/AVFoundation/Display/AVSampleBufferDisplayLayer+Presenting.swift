// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Chooses the picture that is due, on the queue `work`.
extension AVSampleBufferDisplayLayer {
  /// Shows the latest picture that is due, drops the pictures before it, and sets the timer for the
  /// next one.
  func present() {
    let base = timebase
    let now = CMTimebaseGetTime(base)
    // Variables outside of the lock keep the presenter alive until the lock is released, because
    // its deinitialization reads this layer's counts.
    var isTooEarly = false
    // The dropped pictures are released outside of the lock as well.
    var dropped: [Picture] = []
    let (due, next, window): (Picture?, CMTime, (any PicturePresenter)?) = lock.withLock {
      var due: Picture?
      if let window = presenter {
        isTooEarly = decoded.first.map { $0.time <= now && !mayBeSeen($0) } ?? false
        return (nil, decoded.first { $0.time > now }?.time ?? .invalid, window)
      }
      while let first = decoded.first, first.time <= now || !first.time.isNumeric {
        guard mayBeSeen(first) else {
          isTooEarly = true
          break
        }
        if let due {
          counts.dropped += 1
          dropped.append(due)
        }
        due = decoded.removeFirst()
        if first.time.isNumeric { lastTime = first.time }
      }
      return (due, isTooEarly ? .invalid : decoded.first?.time ?? .invalid, nil)
    }
    withExtendedLifetime(dropped) {}
    if let due { show(due) }
    window?.picturesChanged()
    defer { if isTooEarly { waitForEarlier(base) } }
    if timer == nil || timerBase !== base {
      if let timer, let timerBase { CMTimebaseRemoveTimerDispatchSource(timerBase, timerSource: timer) }
      timer?.cancel()
      follow(changesOf: base)
      let made = DispatchSource.makeTimerSource(queue: work)
      made.setEventHandler { [weak self] in self?.proceed() }
      CMTimebaseAddTimerDispatchSource(base, timerSource: made)
      made.resume()
      timer = made
      timerBase = base
    }
    if let timer {
      CMTimebaseSetTimerDispatchSourceNextFireTime(base, timerSource: timer, fireTime: next, flags: 0)
    }
  }

  /// Calls `proceed` when the timebase's rate changes or its time jumps, since its timer does not
  /// fire in these cases.
  func follow(changesOf base: CMTimebase) {
    for change in changes { NotificationCenter.default.removeObserver(change) }
    changes = [kCMTimebaseNotification_EffectiveRateChanged, kCMTimebaseNotification_TimeJumped].map { name in
      NotificationCenter.default.addObserver(
        forName: NSNotification.Name(name as String), object: base, queue: nil
      ) { [weak self] _ in
        guard let layer = self else { return }
        layer.work.async { [weak layer] in layer?.proceed() }
      }
    }
  }

  func show(_ picture: Picture) {
    let (handler, old) = lock.withLock {
      defer { shownImage = picture.image }
      counts.shown += 1
      shownSize = picture.image.map { CVImageBufferGetDisplaySize($0) } ?? .zero
      return (self.handler, shownImage)
    }
    // Released outside of the lock, since releasing a program's picture may call this layer.
    withExtendedLifetime(old) {}
    handler?(picture.image, picture.time)
  }
}
