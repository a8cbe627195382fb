// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Presents the samples of several renderers on one timebase.
open class AVSampleBufferRenderSynchronizer: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// Posted when the rate has been set.
  public static let rateDidChangeNotification = NSNotification.Name(
    "AVSampleBufferRenderSynchronizerRateDidChangeNotification")

  /// The timebase of the renderers. Initially its rate and time are zero.
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

  /// The rate of the timebase; 0 stops it.
  open var rate: Float {
    get { Float(CMTimebaseGetRate(timebase)) }
    set {
      CMTimebaseSetRate(timebase, rate: Float64(newValue))
      rateChanged()
    }
  }

  /// Sets the rate, and the timebase's current time if `time` is numeric.
  open func setRate(_ rate: Float, time: CMTime) {
    if time.isNumeric {
      CMTimebaseSetTime(timebase, time: time)
    }
    CMTimebaseSetRate(timebase, rate: Float64(rate))
    rateChanged()
  }

  /// Sets the rate so that the timebase has the time `time` when the host clock has the time
  /// `hostTime`.
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

  /// Makes a renderer use this timebase.
  open func addRenderer(_ renderer: any AVQueuedSampleBufferRendering) {
    guard let renderer = renderer as? any SynchronizedRenderer else { return }
    lock.withLock { if !members.contains(where: { $0 === renderer }) { members.append(renderer) } }
    renderer.follow(timebase)
  }

  /// Removes a renderer when the timebase reaches a time, or at once if the time is not numeric or
  /// has passed.
  /// - Parameters:
  ///   - renderer: The renderer to remove.
  ///   - time: A time of the timebase.
  ///   - completionHandler: Receives whether the renderer was one of the synchronizer's.
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

  /// Calls `block` at every multiple of `interval`, and when time jumps or the rate changes.
  /// - Parameters:
  ///   - interval: The interval between calls, in the time of the timebase.
  ///   - queue: The queue on which `block` is called; nil for the main queue.
  ///   - block: Receives the current time.
  /// - Returns: An object to retain, and to pass to `removeTimeObserver(_:)`.
  @discardableResult
  @preconcurrency open func addPeriodicTimeObserver(
    forInterval interval: CMTime, queue: DispatchQueue?, using block: @escaping @Sendable (CMTime) -> Void
  ) -> Any {
    observers.addPeriodic(interval, queue: queue, block)
  }

  /// Calls `block` whenever one of the times is passed in normal playback, and again after a seek
  /// back. Times that are skipped by a jump are not reported.
  /// - Parameters:
  ///   - times: `NSValue`s of `CMTime`.
  ///   - queue: The queue on which `block` is called; nil for the main queue.
  ///   - block: The function to call.
  /// - Returns: An object to retain, and to pass to `removeTimeObserver(_:)`.
  @discardableResult
  @preconcurrency open func addBoundaryTimeObserver(
    forTimes times: [NSValue], queue: DispatchQueue?, using block: @escaping @Sendable () -> Void
  ) -> Any {
    observers.addBoundaries(times, queue: queue, block)
  }

  open func removeTimeObserver(_ observer: Any) { observers.remove(observer) }
}
