// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Plays an item. Its pictures are shown in layers and passed to outputs; its audio is passed to
/// `ovtAudioSink`.
open class AVPlayer: NSObject, PlaybackOwner, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// Whether the player can play its current item.
  public enum Status: Int, Sendable {
    case unknown = 0
    case readyToPlay = 1
    case failed = 2
  }

  /// Whether time advances.
  public enum TimeControlStatus: Int, Sendable {
    case paused = 0
    /// The rate is not zero, and time will advance as soon as there is something to play.
    case waitingToPlayAtSpecifiedRate = 1
    case playing = 2
  }

  /// The action of the player at the end of an item.
  public enum ActionAtItemEnd: Int, Sendable {
    /// The player pauses, since it has no next item.
    case advance = 0
    case pause = 1
    /// The rate is kept, so that playback continues after a seek.
    case none = 2
  }

  /// The reasons why time does not advance although the rate is not zero.
  public struct WaitingReason: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let toMinimizeStalls = WaitingReason(rawValue: "AVPlayerWaitingToMinimizeStallsReason")
    public static let evaluatingBufferingRate = WaitingReason(
      rawValue: "AVPlayerWaitingWhileEvaluatingBufferingRateReason")
    public static let noItemToPlay = WaitingReason(rawValue: "AVPlayerWaitingWithNoItemToPlayReason")
  }

  private let lock = Lock()
  private var item: AVPlayerItem?
  private var currentRate: Float = 0
  private var storedDefaultRate: Float = 1
  private var waits = true
  private var endAction = ActionAtItemEnd.pause
  private var layers = PictureConsumers()
  /// Follows the timebase of the current item. The time observers use it.
  let timebase: CMTimebase
  let observers: TimeObservers
  let renderer = AVSampleBufferAudioRenderer()

  public override init() {
    timebase = .onHostClock()
    observers = TimeObservers(timebase)
    super.init()
  }

  public convenience init(url URL: URL) { self.init(playerItem: AVPlayerItem(url: URL)) }

  public convenience init(playerItem item: AVPlayerItem?) {
    self.init()
    replaceCurrentItem(with: item)
  }

  deinit {
    item?.playback.detach(renderer)
    renderer.ovtAudioSink = nil
  }

  // MARK: - Item

  open var currentItem: AVPlayerItem? { lock.withLock { item } }

  /// Replaces the current item. The new item is played at the current rate; nil leaves the player
  /// without an item.
  open func replaceCurrentItem(with item: AVPlayerItem?) {
    let (old, rate, waits, action, layers) = lock.withLock {
      defer { self.item = item }
      return (self.item, currentRate, self.waits, endAction, self.layers.all)
    }
    guard old !== item else { return }
    if let old {
      for layer in layers { old.playback.lock.withLock { old.playback.shared.consumers.remove(layer) } }
      old.playback.detach(renderer)
    }
    renderer.flush()
    for case let layer as AVSampleBufferDisplayLayer in layers { show(item, in: layer) }
    guard let item else {
      renderer.follow(nil)
      timebase.source = CMClockGetHostTimeClock()
      CMTimebaseSetRateAndAnchorTime(timebase, rate: 0, anchorTime: .zero, immediateSourceTime: .zero)
      return
    }
    let playback = item.playback
    playback.lock.withLock { (playback.shared.waits, playback.shared.endAction) = (waits, action) }
    renderer.follow(playback.timebase)
    timebase.source = playback.timebase
    CMTimebaseSetRateAndAnchorTime(timebase, rate: 1, anchorTime: .zero, immediateSourceTime: .zero)
    playback.attach(self, renderer: renderer)
    playback.setRate(Double(rate))
  }

  private func show(_ item: AVPlayerItem?, in layer: AVSampleBufferDisplayLayer) {
    layer.flushAndRemoveImage()
    layer.controlTimebase = item?.playback.timebase
    guard let playback = item?.playback else { return }
    layer.transform = playback.lock.withLock {
      playback.shared.consumers.add(layer)
      return playback.shared.shownTransform
    }
    playback.consumersChanged()
  }

  func add(_ layer: AVSampleBufferDisplayLayer) {
    let item = lock.withLock {
      layers.add(layer)
      return self.item
    }
    show(item, in: layer)
  }

  func remove(_ layer: AVSampleBufferDisplayLayer) {
    let item = lock.withLock {
      layers.remove(layer)
      return self.item
    }
    if let playback = item?.playback { playback.lock.withLock { playback.shared.consumers.remove(layer) } }
    layer.flushAndRemoveImage()
    layer.controlTimebase = nil
  }

  // MARK: - State

  /// Ready unless the current item has failed; unknown before it is ready and without an item.
  open var status: Status {
    switch currentItem?.status {
    case .failed: .failed
    case .readyToPlay: .readyToPlay
    default: .unknown
    }
  }

  /// The error of the current item, if that cannot be played.
  open var error: Error? { currentItem?.error }

  open var timeControlStatus: TimeControlStatus {
    guard rate != 0 else { return .paused }
    guard let playback = currentItem?.playback, CMTimebaseGetRate(playback.timebase) != 0 else {
      return .waitingToPlayAtSpecifiedRate
    }
    return .playing
  }

  open var reasonForWaitingToPlay: WaitingReason? {
    guard timeControlStatus == .waitingToPlayAtSpecifiedRate else { return nil }
    guard let item = currentItem else { return .noItemToPlay }
    return item.status == .unknown ? .evaluatingBufferingRate : .toMinimizeStalls
  }

  // MARK: - Rate

  /// The rate of playback; 0 stops it. Negative values are taken as 0; see
  /// `AVPlayerItem.canPlayReverse`.
  open var rate: Float {
    get { lock.withLock { currentRate } }
    set { setRate(newValue) }
  }

  /// The rate that `play()` sets.
  open var defaultRate: Float {
    get { lock.withLock { storedDefaultRate } }
    set { lock.withLock { storedDefaultRate = newValue.isFinite ? max(0, newValue) : storedDefaultRate } }
  }

  open func play() { setRate(defaultRate) }
  open func pause() { setRate(0) }

  /// Plays without waiting until enough media has been read.
  open func playImmediately(atRate rate: Float) {
    if let playback = currentItem?.playback { playback.lock.withLock { playback.shared.waits = false } }
    setRate(rate)
    guard let playback = currentItem?.playback else { return }
    playback.control.async { self.restoreWaiting(playback) }
  }

  /// Restores the value of `automaticallyWaitsToMinimizeStalling`, which may have been set in the
  /// meantime.
  private func restoreWaiting(_ playback: Playback) {
    lock.withLock { playback.lock.withLock { playback.shared.waits = waits } }
  }

  private func setRate(_ rate: Float) {
    guard rate.isFinite else { return }
    let wanted = max(0, rate)
    let (item, isOther) = lock.withLock { () -> (AVPlayerItem?, Bool) in
      defer { currentRate = wanted }
      return (self.item, currentRate != wanted)
    }
    item?.playback.setRate(Double(wanted))
    if isOther { postRateChange(.setRateCalled) }
  }

  private func postRateChange(_ reason: RateDidChangeReason?) {
    Playback.callbacks.async { [weak self] in
      guard let self else { return }
      let info = reason.map { [Self.rateDidChangeReasonKey: $0.rawValue as Any] }
      NotificationCenter.default.post(name: Self.rateDidChangeNotification, object: self, userInfo: info)
    }
  }

  /// Whether playback waits until enough media has been read.
  open var automaticallyWaitsToMinimizeStalling: Bool {
    get { lock.withLock { waits } }
    set {
      let playback = lock.withLock { () -> Playback? in
        waits = newValue
        guard let playback = self.item?.playback else { return nil }
        // Both values are set under the lock, since `restoreWaiting` copies one to the other.
        playback.lock.withLock { playback.shared.waits = newValue }
        return playback
      }
      // Playback that was waiting starts now.
      if let playback, !newValue { playback.control.async { playback.applyRate() } }
    }
  }

  open var actionAtItemEnd: ActionAtItemEnd {
    get { lock.withLock { endAction } }
    set {
      let item = lock.withLock {
        endAction = newValue
        return self.item
      }
      if let playback = item?.playback { playback.lock.withLock { playback.shared.endAction = newValue } }
    }
  }

  func playbackPaused(_ playback: Playback) { stopped(playback, nil) }
  func playbackFailed(_ playback: Playback) { stopped(playback, .setRateFailed) }

  private func stopped(_ playback: Playback, _ reason: RateDidChangeReason?) {
    let isOurs = lock.withLock {
      guard item?.playback === playback, currentRate != 0 else { return false }
      currentRate = 0
      return true
    }
    if isOurs { postRateChange(reason) }
  }

  // MARK: - Audio

  /// The volume from 0 to 1, which is independent of the system's volume.
  open var volume: Float {
    get { renderer.volume }
    set { renderer.volume = newValue }
  }

  open var isMuted: Bool {
    get { renderer.isMuted }
    set { renderer.isMuted = newValue }
  }

  /// The sink that plays the audio; nil for none. This property is an addition of this package.
  open var ovtAudioSink: (any OVTAudioSink)? {
    get { renderer.ovtAudioSink }
    set { renderer.ovtAudioSink = newValue }
  }

  /// Seconds by which the audio that was passed to the sink last is ahead of the item's timebase;
  /// nil while it is silent. This property is an addition of this package.
  open var ovtAudioOffset: Double? { renderer.ovtOffset }
}
