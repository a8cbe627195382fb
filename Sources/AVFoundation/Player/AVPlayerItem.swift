// SPDX-License-Identifier: Apache-2.0
import Foundation

/// An asset that a player plays, with its timebase and playback state.
///
/// The asset is opened when the item becomes the current item of a player. An item can be played in
/// one player at a time.
open class AVPlayerItem: NSObject, @unchecked Sendable {
  // Sendable: `playback` and `lock` guard what changes.
  /// Whether the item can be played.
  public enum Status: Int, Sendable {
    /// The item has not been given to a player, or its asset is being opened.
    case unknown = 0
    case readyToPlay = 1
    /// The item cannot be played; `error` tells the reason.
    case failed = 2
  }

  public let asset: AVAsset
  /// The keys with which the item was created. All keys of the asset are loaded in any case.
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
  /// The error that prevents the item from being played.
  open var error: Error? { playback.lock.withLock { playback.shared.error } }
  /// The damage in the part of the item that has been read so far, which is a little ahead of the
  /// current time. Damage that is read again after a seek is counted again. This property is an
  /// addition of this package.
  ///
  /// Damaged pictures and packets do not end the playback. If a track cannot be read to its end,
  /// `failure` is the error. The item is then played as far as it can be read, stays ready, and
  /// posts `AVPlayerItemFailedToPlayToEndTime` at the end.
  open var ovtDamage: OVTReadingDamage { playback.damage }
  /// The duration of the item; indefinite until the asset has been opened.
  open var duration: CMTime {
    let (status, duration) = playback.lock.withLock { (playback.shared.status, playback.shared.duration) }
    return status == .readyToPlay && duration.isNumeric ? duration : .indefinite
  }
  /// The size in which the pictures are to be shown, after rotation and with square pixels, or the
  /// render size of the video composition if there is one. Zero if there is no video.
  open var presentationSize: CGSize {
    let (size, turn, composition) = playback.lock.withLock {
      (playback.shared.naturalSize, playback.shared.transform, playback.shared.mixing.composition)
    }
    if let composition, size != .zero { return composition.renderSize }
    return CGSize(
      width: abs(turn.a) * size.width + abs(turn.c) * size.height,
      height: abs(turn.b) * size.width + abs(turn.d) * size.height)
  }
  /// The timebase of the item. Programs may read it and use it as a source, but must not set its
  /// time or rate.
  open var timebase: CMTimebase? { playback.timebase }

  @discardableResult
  open func currentTime() -> CMTime { CMTimebaseGetTime(playback.timebase) }

  /// The time at which playback ends before the end of the asset; invalid to play to the end.
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

  /// Whether rates above 1 are possible. Pictures that would be shown too late are skipped.
  open var canPlayFastForward: Bool { status == .readyToPlay }
  open var canPlaySlowForward: Bool { status == .readyToPlay }
  open var canPlayReverse: Bool { false }
  open var canPlayFastReverse: Bool { false }
  open var canPlaySlowReverse: Bool { false }
  open var canStepForward: Bool { presentationSize != .zero }
  open var canStepBackward: Bool { presentationSize != .zero }

  /// The time ranges that can be sought to, as `NSValue`s of `CMTimeRange`.
  open var seekableTimeRanges: [NSValue] {
    let duration = duration
    guard duration.isNumeric, duration > .zero else { return [] }
    return [NSValue(timeRange: CMTimeRange(start: .zero, duration: duration))]
  }

  /// Moves forward or, for a negative number, backward by a number of pictures.
  open func step(byCount stepCount: Int) { playback.step(by: stepCount) }

  // MARK: - Seeking

  /// Seeks to a time, or to the key frame before it, which is faster.
  /// - Parameters:
  ///   - time: The time to seek to.
  ///   - completionHandler: Receives false if another seek replaced this one or the item cannot be
  ///     played.
  @preconcurrency open func seek(to time: CMTime, completionHandler: (@Sendable (Bool) -> Void)?) {
    seek(
      to: time, toleranceBefore: .positiveInfinity, toleranceAfter: .positiveInfinity,
      completionHandler: completionHandler)
  }

  /// Seeks to a time within a tolerance. With a tolerance of zero the time is reached exactly.
  /// - Parameters:
  ///   - time: The time to seek to.
  ///   - toleranceBefore: How far the result may be before the time.
  ///   - toleranceAfter: How far the result may be after the time. The result is never after the
  ///     time.
  ///   - completionHandler: Receives false if another seek replaced this one or the item cannot be
  ///     played.
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

  /// Cancels a seek that has not been completed. Its handler receives false.
  open func cancelPendingSeeks() { playback.cancelPendingSeeks() }

  // MARK: - Outputs

  open var outputs: [AVPlayerItemOutput] { lock.withLock { ownOutputs } }

  /// Adds an output, which receives the item's pictures. Has no effect on an output that belongs to
  /// another item.
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
