// SPDX-License-Identifier: Apache-2.0
import Foundation

extension AVPlayer {
  // MARK: - Time

  /// The current time of the current item; zero without an item.
  @discardableResult
  public func currentTime() -> CMTime { currentItem?.currentTime() ?? .zero }

  /// Seeks to a time of the current item, or to the key frame before it, which is faster.
  public func seek(to time: CMTime) { currentItem?.seek(to: time, completionHandler: nil) }

  /// Seeks to a time of the current item within a tolerance. With a tolerance of zero the time is
  /// reached exactly.
  public func seek(to time: CMTime, toleranceBefore: CMTime, toleranceAfter: CMTime) {
    currentItem?.seek(
      to: time, toleranceBefore: toleranceBefore, toleranceAfter: toleranceAfter, completionHandler: nil)
  }

  /// Seeks to a time of the current item, or to the key frame before it, which is faster.
  /// - Parameters:
  ///   - time: The time to seek to.
  ///   - completionHandler: Receives false if another seek replaced this one, there is no item, or
  ///     it cannot be played.
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
  public func seek(to time: CMTime) async -> Bool { await currentItem?.seek(to: time) ?? false }

  @discardableResult
  public func seek(to time: CMTime, toleranceBefore: CMTime, toleranceAfter: CMTime) async -> Bool {
    await currentItem?.seek(to: time, toleranceBefore: toleranceBefore, toleranceAfter: toleranceAfter)
      ?? false
  }

  // MARK: - Observers

  /// Calls `block` at every multiple of `interval`, and when time jumps or the rate changes.
  /// - Parameters:
  ///   - interval: The interval between calls, in the time of the current item.
  ///   - queue: A serial queue on which `block` is called; nil for the main queue.
  ///   - block: Receives the current time.
  /// - Returns: An object to retain, and to pass to `removeTimeObserver(_:)`.
  @discardableResult
  @preconcurrency public func addPeriodicTimeObserver(
    forInterval interval: CMTime, queue: DispatchQueue?, using block: @escaping @Sendable (CMTime) -> Void
  ) -> Any {
    observers.addPeriodic(interval, queue: queue, block)
  }

  /// Calls `block` whenever one of the times is passed in normal playback.
  /// - Parameters:
  ///   - times: `NSValue`s of `CMTime`.
  ///   - queue: A serial queue on which `block` is called; nil for the main queue.
  ///   - block: The function to call.
  /// - Returns: An object to retain, and to pass to `removeTimeObserver(_:)`.
  @discardableResult
  @preconcurrency public func addBoundaryTimeObserver(
    forTimes times: [NSValue], queue: DispatchQueue?, using block: @escaping @Sendable () -> Void
  ) -> Any {
    observers.addBoundaries(times, queue: queue, block)
  }

  public func removeTimeObserver(_ observer: Any) { observers.remove(observer) }
}
