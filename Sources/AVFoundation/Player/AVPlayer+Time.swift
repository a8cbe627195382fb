// SPDX-License-Identifier: Apache-2.0
import Foundation

extension AVPlayer {
  // MARK: - Time

  /// The current item's time; zero without one.
  @discardableResult
  public func currentTime() -> CMTime { currentItem?.currentTime() ?? .zero }

  /// Goes to a time of the current item, or to the key frame before it, whichever is faster.
  public func seek(to time: CMTime) { currentItem?.seek(to: time, completionHandler: nil) }

  /// Goes to a time of the current item, or as far from it as is tolerated. With no tolerance it is reached exactly.
  public func seek(to time: CMTime, toleranceBefore: CMTime, toleranceAfter: CMTime) {
    currentItem?.seek(
      to: time, toleranceBefore: toleranceBefore, toleranceAfter: toleranceAfter, completionHandler: nil)
  }

  /// Of the parameters:
  ///
  /// - `completionHandler`: Receives false if another seek came first, or there is nothing to be played.
  @preconcurrency public func seek(to time: CMTime, completionHandler: @escaping @Sendable (Bool) -> Void) {
    seek(
      to: time, toleranceBefore: .positiveInfinity, toleranceAfter: .positiveInfinity,
      completionHandler: completionHandler)
  }

  @preconcurrency public func seek(
    to time: CMTime, toleranceBefore: CMTime, toleranceAfter: CMTime,
    completionHandler: @escaping @Sendable (Bool) -> Void
  ) {
    guard let item = currentItem else {
      Playback.callbacks.async { completionHandler(false) }
      return
    }
    item.seek(
      to: time, toleranceBefore: toleranceBefore, toleranceAfter: toleranceAfter,
      completionHandler: completionHandler)
  }

  @discardableResult
  public func seek(to time: CMTime) async -> Bool {
    await withCheckedContinuation { done in seek(to: time) { done.resume(returning: $0) } }
  }

  @discardableResult
  public func seek(to time: CMTime, toleranceBefore: CMTime, toleranceAfter: CMTime) async -> Bool {
    await withCheckedContinuation { done in
      seek(to: time, toleranceBefore: toleranceBefore, toleranceAfter: toleranceAfter) {
        done.resume(returning: $0)
      }
    }
  }

  // MARK: - Observers

  /// Calls `block` at every multiple of `interval`, and when time jumps, starts or stops.
  ///
  /// Of the parameters:
  ///
  /// - `queue`: Where it is called, which must be serial; nil: on the main queue.
  /// - Returns: An object to give to `removeTimeObserver(_:)`.
  @discardableResult
  @preconcurrency public func addPeriodicTimeObserver(
    forInterval interval: CMTime, queue: DispatchQueue?, using block: @escaping @Sendable (CMTime) -> Void
  ) -> Any {
    let observer = TimeObserver.periodic(timebase, interval, queue: queue, block)
    keep(observer)
    return observer
  }

  /// Calls `block` whenever one of the times is passed in the ordinary course of playing.
  ///
  /// Of the parameters:
  ///
  /// - `times`: `NSValue`s of `CMTime`.
  @discardableResult
  @preconcurrency public func addBoundaryTimeObserver(
    forTimes times: [NSValue], queue: DispatchQueue?, using block: @escaping @Sendable () -> Void
  ) -> Any {
    let observer = TimeObserver.boundaries(timebase, times.map(\.timeValue), queue: queue, block)
    keep(observer)
    return observer
  }

  public func removeTimeObserver(_ observer: Any) {
    guard let observer = observer as? TimeObserver else { return }
    observer.stop()
    forget(observer)
  }
}
