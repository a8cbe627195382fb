// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Presents several renderers' samples on one time line.
open class AVSampleBufferRenderSynchronizer: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// The rate has changed.
  public static let rateDidChangeNotification = NSNotification.Name(
    "AVSampleBufferRenderSynchronizerRateDidChangeNotification")

  /// The common time line, at rate 0 and time zero in the beginning.
  public let timebase: CMTimebase
  private let lock = Lock()
  private var members: [any SynchronizedRenderer] = []
  private let observers: TimeObservers
  private let work = DispatchQueue(label: "AVFoundation.synchronizer")

  public override init() {
    timebase = .onHostClock()
    observers = TimeObservers(timebase)
    super.init()
  }

  // MARK: - Time

  /// How fast time goes; 0: it stands still.
  open var rate: Float {
    get { Float(CMTimebaseGetRate(timebase)) }
    set {
      CMTimebaseSetRate(timebase, rate: Float64(newValue))
      rateChanged()
    }
  }

  /// Sets the rate, and the time from which it goes on.
  open func setRate(_ rate: Float, time: CMTime) {
    if time.isNumeric {
      CMTimebaseSetTime(timebase, time: time)
    }
    CMTimebaseSetRate(timebase, rate: Float64(rate))
    rateChanged()
  }

  /// Sets the rate so that `time` coincides with a time of the host clock.
  open func setRate(_ rate: Float, time: CMTime, atHostTime hostTime: CMTime) {
    guard time.isNumeric, hostTime.isNumeric else { return setRate(rate, time: time) }
    CMTimebaseSetRateAndAnchorTime(
      timebase, rate: Float64(rate), anchorTime: time, immediateSourceTime: hostTime)
    rateChanged()
  }

  @discardableResult
  open func currentTime() -> CMTime { CMTimebaseGetTime(timebase) }

  private func rateChanged() {
    NotificationCenter.default.post(name: Self.rateDidChangeNotification, object: self)
  }

  // MARK: - Renderers

  open var renderers: [any AVQueuedSampleBufferRendering] { lock.withLock { members } }

  /// Presents a renderer's samples on this time line from now on.
  open func addRenderer(_ renderer: any AVQueuedSampleBufferRendering) {
    guard let renderer = renderer as? any SynchronizedRenderer else { return }
    lock.withLock { if !members.contains(where: { $0 === renderer }) { members.append(renderer) } }
    renderer.follow(timebase)
  }

  /// Lets a renderer go at a time of this time line; at once if the time is not a number.
  ///
  /// Of the parameters:
  ///
  /// - `completionHandler`: Receives whether the renderer was there.
  @preconcurrency open func removeRenderer(
    _ renderer: any AVQueuedSampleBufferRendering, at time: CMTime,
    completionHandler: (@Sendable (Bool) -> Void)? = nil
  ) {
    let remove: @Sendable () -> Void = { [weak self] in
      let removed: (any SynchronizedRenderer)? = self?.lock.withLock {
        guard let self, let index = self.members.firstIndex(where: { $0 === renderer }) else { return nil }
        return self.members.remove(at: index)
      }
      removed?.follow(nil)
      completionHandler?(removed != nil)
    }
    guard time.isNumeric, time > currentTime() else { return remove() }
    let observer = TimeObserver(timebase, queue: work)
    observer.start(at: time) { [weak observer] _ in
      remove()
      observer?.stop()
      return nil
    }
    observers.add(observer)
  }

  // MARK: - Observers

  /// Calls `block` at every multiple of `interval`, and when time jumps or the rate changes from or to zero.
  /// - Returns: An object to keep, and to give to `removeTimeObserver(_:)`.
  @discardableResult
  @preconcurrency open func addPeriodicTimeObserver(
    forInterval interval: CMTime, queue: DispatchQueue?, using block: @escaping @Sendable (CMTime) -> Void
  ) -> Any {
    observers.addPeriodic(interval, queue: queue, block)
  }

  /// Calls `block` whenever time passes one of the times in the ordinary course of playback, again after a seek back.
  /// A jump passes nothing.
  ///
  /// Of the parameters:
  ///
  /// - `times`: `NSValue`s of `CMTime`.
  @discardableResult
  @preconcurrency open func addBoundaryTimeObserver(
    forTimes times: [NSValue], queue: DispatchQueue?, using block: @escaping @Sendable () -> Void
  ) -> Any {
    observers.addBoundaries(times, queue: queue, block)
  }

  open func removeTimeObserver(_ observer: Any) { observers.remove(observer) }
}
