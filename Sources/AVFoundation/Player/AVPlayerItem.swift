// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What a player plays: an asset, with a time line and a state of its own.
///
/// Its file is opened when a player takes it. It is played in one player at a time.
open class AVPlayerItem: NSObject, @unchecked Sendable {
  // Sendable: `playback` and `lock` guard what changes.
  /// Whether the item can be played.
  public enum Status: Int, Sendable {
    /// No player has taken it yet, or its file is being opened.
    case unknown = 0
    case readyToPlay = 1
    /// See `error`.
    case failed = 2
  }

  public let asset: AVAsset
  /// The asset's keys that were given when the item was made; here all are loaded.
  public let automaticallyLoadedAssetKeys: [String]
  let playback: Playback
  private let lock = Lock()
  private var ownOutputs: [AVPlayerItemOutput] = []

  public convenience init(url URL: URL) { self.init(asset: AVURLAsset(url: URL)) }

  public convenience init(asset: AVAsset) { self.init(asset: asset, automaticallyLoadedAssetKeys: nil) }

  public convenience init(asset: AVAsset, automaticallyLoadedAssetKeys: [AVPartialAsyncProperty<AVAsset>]) {
    self.init(asset: asset, automaticallyLoadedAssetKeys: automaticallyLoadedAssetKeys.map(\.key))
  }

  public init(asset: AVAsset, automaticallyLoadedAssetKeys: [String]?) {
    self.asset = asset
    self.automaticallyLoadedAssetKeys = automaticallyLoadedAssetKeys ?? []
    playback = Playback(asset)
    super.init()
    playback.bind(self)
  }

  deinit { playback.detach(nil) }

  // MARK: - State

  open var status: Status { playback.lock.withLock { playback.shared.status } }
  /// Why the item cannot be played.
  open var error: Error? { playback.lock.withLock { playback.shared.error } }
  /// What of the item was damaged, as far as it has been read; tracks are read a little ahead, and what is read again after
  /// a seek counts again. Damaged pictures and packets do not end it. Where a track breaks off, `failure` says why: the item
  /// is played as far as it goes, stays ready, and ends with `AVPlayerItemFailedToPlayToEndTime`.
  open var ovtDamage: OVTReadingDamage { playback.damage }
  /// Indefinite until the file has been opened.
  open var duration: CMTime {
    let (status, duration) = playback.lock.withLock { (playback.shared.status, playback.shared.duration) }
    return status == .readyToPlay && duration.isNumeric ? duration : .indefinite
  }
  /// The size that the pictures are to be seen at, upright and in square pixels: that of the video composition, if there
  /// is one. Zero without pictures.
  open var presentationSize: CGSize {
    let (size, turn, composition) = playback.lock.withLock {
      (playback.shared.naturalSize, playback.shared.transform, playback.shared.mixing.composition)
    }
    if let composition, size != .zero { return composition.renderSize }
    return CGSize(
      width: abs(turn.a) * size.width + abs(turn.c) * size.height,
      height: abs(turn.b) * size.width + abs(turn.d) * size.height)
  }
  /// The item's time line. It may be followed, and is the player's to change.
  open var timebase: CMTimebase? { playback.timebase }

  @discardableResult
  open func currentTime() -> CMTime { CMTimebaseGetTime(playback.timebase) }

  /// Where playing ends before the end of the asset; invalid: at the end.
  open var forwardPlaybackEndTime: CMTime {
    get { playback.lock.withLock { playback.shared.forwardEnd } }
    set {
      let isOther = playback.lock.withLock {
        defer { playback.shared.forwardEnd = newValue }
        return playback.shared.forwardEnd != newValue
      }
      if isOther { playback.readAnew() }
    }
  }

  /// Rates above one are played; pictures that come too late are left out.
  open var canPlayFastForward: Bool { status == .readyToPlay }
  open var canPlaySlowForward: Bool { status == .readyToPlay }
  open var canPlayReverse: Bool { false }
  open var canPlayFastReverse: Bool { false }
  open var canPlaySlowReverse: Bool { false }
  open var canStepForward: Bool { presentationSize != .zero }
  open var canStepBackward: Bool { presentationSize != .zero }

  /// `NSValue`s of `CMTimeRange`: where one can go.
  open var seekableTimeRanges: [NSValue] {
    let duration = duration
    guard duration.isNumeric, duration > .zero else { return [] }
    return [NSValue(timeRange: CMTimeRange(start: .zero, duration: duration))]
  }

  /// Goes on or, with a number below zero, back by as many pictures.
  open func step(byCount stepCount: Int) { playback.step(by: stepCount) }

  // MARK: - Seeking

  /// Goes to a time, or to the key frame before it, whichever is faster.
  ///
  /// Of the parameters:
  ///
  /// - `completionHandler`: Receives false if another seek came first or the item cannot be played.
  @preconcurrency open func seek(to time: CMTime, completionHandler: (@Sendable (Bool) -> Void)?) {
    seek(
      to: time, toleranceBefore: .positiveInfinity, toleranceAfter: .positiveInfinity,
      completionHandler: completionHandler)
  }

  /// Goes to a time, or as far from it as is tolerated. With no tolerance it is reached exactly.
  @preconcurrency open func seek(
    to time: CMTime, toleranceBefore: CMTime, toleranceAfter: CMTime,
    completionHandler: (@Sendable (Bool) -> Void)?
  ) {
    playback.seek(to: time, before: toleranceBefore, after: toleranceAfter, completion: completionHandler)
  }

  @discardableResult
  open func seek(to time: CMTime) async -> Bool {
    await withCheckedContinuation { done in seek(to: time) { done.resume(returning: $0) } }
  }

  @discardableResult
  open func seek(to time: CMTime, toleranceBefore: CMTime, toleranceAfter: CMTime) async -> Bool {
    await withCheckedContinuation { done in
      seek(to: time, toleranceBefore: toleranceBefore, toleranceAfter: toleranceAfter) {
        done.resume(returning: $0)
      }
    }
  }

  /// Gives up a seek that has not come to its end: its handler receives false.
  open func cancelPendingSeeks() { playback.cancelPendingSeeks() }

  // MARK: - Outputs

  open var outputs: [AVPlayerItemOutput] { lock.withLock { ownOutputs } }

  /// Gives the item's pictures to an output too. One that belongs to another item stays there.
  open func add(_ output: AVPlayerItemOutput) {
    guard output.attach(to: self) else { return }
    lock.withLock { ownOutputs.append(output) }
    guard let consumer = output as? any PictureConsumer else { return }
    playback.lock.withLock { playback.shared.consumers.add(consumer) }
    playback.consumersChanged()
  }

  open func remove(_ output: AVPlayerItemOutput) {
    guard lock.withLock({ ownOutputs.contains { $0 === output } }) else { return }
    lock.withLock { ownOutputs.removeAll { $0 === output } }
    output.detach()
    guard let consumer = output as? any PictureConsumer else { return }
    playback.lock.withLock { playback.shared.consumers.remove(consumer) }
  }
}
