// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The player of an item, as the item uses it.
protocol PlaybackOwner: AnyObject, Sendable {
  /// Called when the item has reached its end and the rate has become zero.
  func playbackPaused(_ playback: Playback)
  func playbackFailed(_ playback: Playback)
}

/// Plays one asset on a timebase of its own: reads its tracks ahead, controls the rate, seeks, and
/// handles the end.
///
/// State changes happen on the queue `control`; the pumps read on queues of their own.
final class Playback: @unchecked Sendable {
  // Sendable: `lock` guards what changes, except for properties that are used on `control` only.
  let asset: AVAsset
  let timebase = CMTimebase.onHostClock()
  let control = DispatchQueue(label: "AVFoundation.player.control")
  /// The queue on which the program's handlers are called and notifications are posted.
  static let callbacks = DispatchQueue(label: "AVFoundation.player.callbacks")

  /// The state that can be read and set from any thread. Guarded by `lock`.
  struct Shared {
    var status = AVPlayerItem.Status.unknown
    var error: AVError?
    var rate = 0.0
    var waits = true
    var isAttached = false
    var hasEnded = false
    var forwardEnd = CMTime.invalid
    var endAction = AVPlayer.ActionAtItemEnd.pause
    var seek: Seek?
    var seekCount = 0
    /// The number of seeks that the program has asked for, without those of steps.
    var givenSeeks = 0
    var consumers = PictureConsumers()
    var duration = CMTime.invalid
    /// Whether the duration is an estimate.
    var isOpenEnded = false
    var naturalSize = CGSize.zero
    var transform = CGAffineTransform.identity
    var rateToken = 0
    var mixing = PlaybackProcessing()
    /// The current pumps, and the damage that earlier ones found.
    var pumps: [TrackReader] = []
    var pastDamage = OVTReadingDamage()

    /// The transform of pictures when they are shown. A video composition applies the transforms of
    /// its sources itself.
    var shownTransform: CGAffineTransform { mixing.composition == nil ? transform : .identity }
  }

  struct Seek {
    let id: Int
    let time: CMTime
    let before: CMTime
    let completion: (@Sendable (Bool) -> Void)?
  }

  let lock = Lock()
  var shared = Shared()
  weak var owner: (any PlaybackOwner)?
  weak var ownerItem: AVPlayerItem?
  var renderer: AVSampleBufferAudioRenderer?

  // The following properties are used on `control`.
  var pictureTrack: AVAssetTrack?
  var picturePump: TrackReader?
  var audioPump: TrackReader?
  var endTimer: (any DispatchSourceTimer)?
  var run = 0
  var isPrimed = false
  private var isLoading = false
  /// For each pump, the last run for which it has read enough.
  var primedPumps: [ObjectIdentifier: Int] = [:]

  /// The identifier of the last seek that was started.
  var performedSeek = 0

  init(_ asset: AVAsset) { self.asset = asset }

  deinit {
    if let endTimer {
      CMTimebaseRemoveTimerDispatchSource(timebase, timerSource: endTimer)
      endTimer.cancel()
    }
    picturePump?.stop()
    audioPump?.stop()
    if let completion = shared.seek?.completion { Self.callbacks.async { completion(false) } }
  }

  func bind(_ item: AVPlayerItem) { lock.withLock { ownerItem = item } }

  // MARK: - Attaching to a player

  func attach(_ owner: any PlaybackOwner, renderer: AVSampleBufferAudioRenderer) {
    lock.withLock {
      self.owner = owner
      self.renderer = renderer
      shared.isAttached = true
    }
    control.async { [weak self] in self?.load() }
  }

  /// Stops playback and releases files and threads. The current time is kept.
  /// - Parameter renderer: The renderer of the player that releases the item. Has no effect if the
  ///   item is played in another player by now. Nil when the item is deallocated.
  func detach(_ renderer: AVSampleBufferAudioRenderer?) {
    let (isOurs, seek) = lock.withLock { () -> (Bool, Seek?) in
      guard renderer == nil || self.renderer === renderer else { return (false, nil) }
      owner = nil
      self.renderer = nil
      shared.isAttached = false
      shared.rate = 0
      defer { shared.seek = nil }
      return (true, shared.seek)
    }
    guard isOurs else { return }
    finish(seek, false)
    CMTimebaseSetRate(timebase, rate: 0)
    control.async { [weak self] in self?.release() }
  }

  private func release() {
    guard !lock.withLock({ shared.isAttached }) else { return }
    picturePump?.stop()
    audioPump?.stop()
    (picturePump, audioPump) = (nil, nil)
    lock.withLock {
      for pump in shared.pumps { shared.pastDamage.add(pump.damage) }
      shared.pumps = []
    }
    isPrimed = false
  }

  private func load() {
    let status = lock.withLock { shared.status }
    if status == .readyToPlay { return begin() }
    guard status == .unknown, !isLoading else { return }
    isLoading = true
    let asset = asset
    asset.prepared("tracks") { [weak self] in
      let result = Result { try asset.loadedTracks() }
      _ = asset.duration
      guard let self else { return }
      control.async { [weak self] in self?.loaded(result) }
    }
  }

  private func loaded(_ result: Result<[AVAssetTrack], any Error>) {
    isLoading = false
    do {
      let tracks = try result.get()
      pictureTrack = Self.chosen(tracks, .video)
      guard pictureTrack != nil || Self.chosen(tracks, .audio) != nil else {
        if asset.hasProtectedContent { throw AVError(.contentIsProtected) }
        throw AVError(
          .decoderNotFound, reason: "There is no picture and no audio that can be decoded.",
          advice: "Convert the movie to H.264 or HEVC first.")
      }
      lock.withLock {
        shared.duration = asset.duration
        shared.isOpenEnded = tracks.areOpenEnded
        shared.naturalSize = pictureTrack?.naturalSize ?? .zero
        shared.transform = pictureTrack?.preferredTransform ?? .identity
        shared.status = .readyToPlay
      }
      turnLayers()
      begin()
    } catch { fail(AVError.reading(error)) }
  }

  static func chosen(_ tracks: [AVAssetTrack], _ type: AVMediaType) -> AVAssetTrack? {
    let able = tracks.filter { $0.mediaType == type && $0.isDecodable }
    return able.first { $0.isEnabled } ?? able.first
  }

  private func begin() {
    guard lock.withLock({ shared.isAttached }), picturePump == nil, audioPump == nil else { return }
    makePumps()
    armEnd()
    // The seek may have been cancelled meanwhile.
    if lock.withLock({ shared.seek != nil }), performSeek() { return }
    reposition(to: CMTimebaseGetTime(timebase))
  }
}
