// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The player that an item plays in, as the item sees it.
protocol PlaybackOwner: AnyObject, Sendable {
  /// The item has come to its end: the player's rate is zero from now on.
  func playbackPaused(_ playback: Playback)
  func playbackFailed(_ playback: Playback)
}

/// Plays one asset on a time line of its own: reads its tracks ahead, starts and stops time, seeks, and knows the end.
///
/// What changes its course happens on `control`, one thing after the other; reading happens on the queues of the pumps.
final class Playback: @unchecked Sendable {
  // Sendable: `lock` guards what changes, but for what belongs to `control`.
  let asset: AVAsset
  let timebase = CMTimebase.onHostClock()
  let control = DispatchQueue(label: "AVFoundation.player.control")
  /// Handlers of the program's are called here, and notifications posted.
  static let callbacks = DispatchQueue(label: "AVFoundation.player.callbacks")

  /// What a program reads and sets, from any thread.
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
    var consumers = PictureConsumers()
    var duration = CMTime.invalid
    var naturalSize = CGSize.zero
    var transform = CGAffineTransform.identity
    var rateToken = 0
    var mixing = PlaybackMixing()

    /// How pictures are turned when they are shown: a composition turns its sources itself.
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
  private weak var owner: (any PlaybackOwner)?
  private weak var ownerItem: AVPlayerItem?
  private var renderer: AVSampleBufferAudioRenderer?

  // On `control`.
  var pictureTrack: AVAssetTrack?
  private var picturePump: TrackPump?
  private var soundPump: TrackPump?
  private var endTimer: (any DispatchSourceTimer)?
  private var run = 0
  private var awaited: Set<ObjectIdentifier> = []
  private var isPrimed = false
  private var isLoading = false

  init(_ asset: AVAsset) { self.asset = asset }

  deinit {
    if let endTimer {
      CMTimebaseRemoveTimerDispatchSource(timebase, timerSource: endTimer)
      endTimer.cancel()
    }
    picturePump?.stop()
    soundPump?.stop()
    if let completion = shared.seek?.completion { Self.callbacks.async { completion(false) } }
  }

  func bind(_ item: AVPlayerItem) { lock.withLock { ownerItem = item } }

  // MARK: - In and out of a player

  func attach(_ owner: any PlaybackOwner, renderer: AVSampleBufferAudioRenderer) {
    lock.withLock {
      self.owner = owner
      self.renderer = renderer
      shared.isAttached = true
    }
    control.async { [weak self] in self?.load() }
  }

  /// Stops at once, and lets go of files and threads. The time stays.
  /// - Parameter renderer: That of the player which lets go of it; one that it no longer plays in has no say. nil: the
  ///   item's own end.
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
    soundPump?.stop()
    (picturePump, soundPump) = (nil, nil)
    isPrimed = false
  }

  private func load() {
    let status = lock.withLock { shared.status }
    if status == .readyToPlay { return begin() }
    guard status == .unknown, !isLoading else { return }
    isLoading = true
    let asset = asset
    assetLoadingQueue.async { [weak self] in
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
        throw AVError(
          .decoderNotFound, reason: "There is no picture and no sound that can be decoded.",
          advice: "Convert the movie to H.264 or HEVC first.")
      }
      lock.withLock {
        shared.duration = asset.duration
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
    guard lock.withLock({ shared.isAttached }), picturePump == nil, soundPump == nil else { return }
    makePumps()
    armEnd()
    // The seek may have been given up meanwhile.
    if lock.withLock({ shared.seek != nil }), performSeek() { return }
    reposition(to: CMTimebaseGetTime(timebase))
  }

  // MARK: - Reading

  private func makePumps() {
    let tracks = (try? asset.loadedTracks()) ?? []
    if let track = pictureTrack {
      picturePump = TrackPump(
        track, of: asset, timebase: timebase,
        handlers: handlers {
          $0.forConsumers { $0.forget() }
        } deliver: { playback, sample in
          playback.forConsumers { $0.take(sample) }
        }
      ) { [weak self, asset] in
        try (self?.mixing ?? PlaybackMixing()).pictures(of: track, in: asset)
      }
    }
    if let track = Self.chosen(tracks, .audio) {
      soundPump = TrackPump(
        track, of: asset, timebase: timebase,
        handlers: handlers {
          $0.currentRenderer?.flush()
        } deliver: {
          $0.currentRenderer?.enqueue($1)
        }
      ) { [weak self, asset] in
        try (self?.mixing ?? PlaybackMixing()).sound(of: track, in: asset)
      }
    }
  }

  private var mixing: PlaybackMixing { lock.withLock { shared.mixing } }

  private func turnLayers() {
    let transform = lock.withLock { shared.shownTransform }
    forConsumers { ($0 as? AVSampleBufferDisplayLayer)?.transform = transform }
  }

  private var currentRenderer: AVSampleBufferAudioRenderer? { lock.withLock { renderer } }

  private func forConsumers(_ body: (any PictureConsumer) -> Void) {
    for consumer in lock.withLock({ shared.consumers.all }) { body(consumer) }
  }

  private func handlers(
    flush: @escaping @Sendable (Playback) -> Void,
    deliver: @escaping @Sendable (Playback, CMSampleBuffer) -> Void
  ) -> TrackPump.Handlers {
    // One object for each pump, by which its word is known.
    let token = Token()
    return TrackPump.Handlers(
      limit: { [weak self] in self?.forwardEnd ?? .invalid },
      flush: { [weak self] in if let self { flush(self) } },
      deliver: { [weak self] in if let self { deliver(self, $0) } },
      primed: { [weak self] run in
        guard let self else { return }
        control.async { [weak self] in self?.primed(run, token) }
      },
      ended: { [weak self] in
        guard let self else { return }
        control.async { [weak self] in self?.armEnd() }
      },
      failed: { [weak self] error in
        guard let self else { return }
        control.async { [weak self] in self?.fail(error) }
      })
  }

  private final class Token: Sendable {}
  private var primedPumps: [ObjectIdentifier: Int] = [:]

  private func primed(_ run: Int, _ token: Token) {
    primedPumps[ObjectIdentifier(token)] = run
    settle()
  }

  /// The pumps that read: that of the pictures only while somebody looks.
  private var activePumps: [TrackPump] {
    let isSeen = lock.withLock { !shared.consumers.all.isEmpty }
    return [isSeen ? picturePump : nil, soundPump].compactMap { $0 }
  }

  /// Goes on when all pumps have enough.
  private func settle() {
    guard !isPrimed, primedPumps.values.count(where: { $0 == run }) >= activePumps.count else { return }
    isPrimed = true
    let seek = lock.withLock { () -> Seek? in
      guard let seek = shared.seek, seek.id == performedSeek else { return nil }
      shared.seek = nil
      return seek
    }
    finish(seek, true)
    applyRate()
  }

  /// Somebody looks, or does so no longer.
  func consumersChanged() {
    control.async { [weak self] in
      guard let self, let picturePump, lock.withLock({ !shared.consumers.all.isEmpty }) else { return }
      picturePump.restart(at: clampedToAsset(CMTimebaseGetTime(timebase)), run: run)
    }
  }

  // MARK: - Time

  /// Sets the rate that is wanted; 0 takes effect before this returns.
  func setRate(_ rate: Double) {
    lock.withLock { shared.rate = rate }
    if rate == 0 { CMTimebaseSetRate(timebase, rate: 0) }
    control.async { [weak self] in self?.applyRate() }
  }

  private func applyRate() {
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

  /// The seek that the pumps work for.
  var performedSeek = 0

  // MARK: - The end

  func armEnd() {
    if endTimer == nil {
      let timer = DispatchSource.makeTimerSource(queue: control)
      timer.setEventHandler { [weak self] in self?.reachEnd() }
      CMTimebaseAddTimerDispatchSource(timebase, timerSource: timer)
      timer.resume()
      endTimer = timer
    }
    guard let endTimer else { return }
    CMTimebaseSetTimerDispatchSourceNextFireTime(timebase, timerSource: endTimer, fireTime: end, flags: 0)
  }

  /// Where the program wants the end; not a number: where the asset ends.
  private var forwardEnd: CMTime {
    let end = lock.withLock { shared.forwardEnd }
    return end.isPlayable ? end : .invalid
  }

  /// Where playing ends; not a number where that is not known yet.
  private var end: CMTime {
    let duration = lock.withLock { shared.duration }
    let forwardEnd = forwardEnd
    var end = duration.isNumeric && duration > .zero ? duration : .positiveInfinity
    let pumps = [picturePump, soundPump].compactMap { $0 }
    let ends = pumps.compactMap(\.endOfMedia)
    // A header may promise more than there is.
    if ends.count == pumps.count, let last = ends.max() { end = min(end, last) }
    if forwardEnd.isNumeric { end = min(end, forwardEnd) }
    return end
  }

  private func reachEnd() {
    let end = end
    let now = CMTimebaseGetTime(timebase)
    let rate = CMTimebaseGetRate(timebase)
    // What begins anew sets the timer anew.
    guard end.isNumeric, isPrimed, rate > 0 else { return }
    // A timer may be a trifle early.
    guard (end - now).seconds < 0.002 * max(1, rate) else { return armEnd() }
    let action = lock.withLock { () -> AVPlayer.ActionAtItemEnd? in
      guard !shared.hasEnded, shared.seek == nil else { return nil }
      shared.hasEnded = true
      if shared.endAction != .none { shared.rate = 0 }
      return shared.endAction
    }
    guard let action else { return }
    CMTimebaseSetRate(timebase, rate: 0)
    CMTimebaseSetTime(timebase, time: end)
    let (owner, item) = lock.withLock { (self.owner, ownerItem) }
    if action != .none { owner?.playbackPaused(self) }
    Self.callbacks.async {
      NotificationCenter.default.post(name: .AVPlayerItemDidPlayToEndTime, object: item)
    }
  }

  // MARK: - Failure

  func fail(_ error: AVError) {
    let (wasReady, seek) = lock.withLock { () -> (Bool, Seek?) in
      defer {
        shared.status = .failed
        shared.error = error
        shared.rate = 0
        shared.seek = nil
      }
      return (shared.status == .readyToPlay, shared.seek)
    }
    CMTimebaseSetRate(timebase, rate: 0)
    picturePump?.stop()
    soundPump?.stop()
    finish(seek, false)
    let (owner, item) = lock.withLock { (self.owner, ownerItem) }
    owner?.playbackFailed(self)
    guard wasReady else { return }
    Self.callbacks.async {
      NotificationCenter.default.post(
        name: .AVPlayerItemFailedToPlayToEndTime, object: item,
        userInfo: [AVPlayerItemFailedToPlayToEndTimeErrorKey: error as NSError])
    }
  }

  func finish(_ seek: Seek?, _ isDone: Bool) {
    guard let completion = seek?.completion else { return }
    Self.callbacks.async { completion(isDone) }
  }

  func postTimeJumped() {
    let item = lock.withLock { ownerItem }
    Self.callbacks.async { NotificationCenter.default.post(name: .AVPlayerItemTimeJumped, object: item) }
  }
}
