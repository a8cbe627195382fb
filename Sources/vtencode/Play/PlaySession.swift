// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import OpenVideoToolboxDisplay

/// A command from the keyboard or the mouse while a movie plays.
enum PlayCommand: Sendable {
  case toggle, back, forward, louder, softer, stepForward, stepBack, fullScreen, quit
  /// Seeks to a position, as a fraction of the duration from 0 to 1.
  case go(Double)
}

/// Plays one movie, from opening it to the summary.
final class PlaySession: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
  let player: AVPlayer
  let item: AVPlayerItem
  let layer: AVPlayerLayer
  private let options: Play
  private let file: InputFile
  private let snapshot: AuxiliaryFile?
  private let lock = NSLock()
  private let wake = WakeUp()
  private var commands: [PlayCommand] = []
  private var hasEnded = false
  private var lastShown = CMTime.invalid
  /// How far the audio is ahead of the picture at each frame, in seconds.
  private var offsets: [Double] = []
  private var tokens: [any NSObjectProtocol] = []

  init(_ options: Play, file: InputFile, snapshot: AuxiliaryFile?) throws {
    (self.options, self.file, self.snapshot) = (options, file, snapshot)
    let settings = options.picture.frameRate.map { [OVTURLAssetElementaryStreamFrameRateKey: $0 as Any] }
    item = AVPlayerItem(asset: AVURLAsset(url: URL(fileURLWithPath: file.path), options: settings))
    player = AVPlayer()
    layer = AVPlayerLayer(player: player)
    player.isMuted = options.muted
    player.defaultRate = options.speed
    for name in [NSNotification.Name.AVPlayerItemDidPlayToEndTime, .AVPlayerItemFailedToPlayToEndTime] {
      tokens.append(
        NotificationCenter.default.addObserver(forName: name, object: item, queue: nil) { [weak self] _ in
          self?.end()
        })
    }
    Interrupt.shared.onRequest { [weak self] in self?.post(.quit) }
  }

  deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }

  var showsNoBar: Bool { options.picture.noBar }

  private func end() {
    lock.withLock { hasEnded = true }
    wake.signal()
  }

  func post(_ command: PlayCommand) {
    lock.withLock { commands.append(command) }
    wake.signal()
  }

  /// Records that a picture has been shown. The `PlayScreen` calls this.
  func shown(_ time: CMTime) {
    let late = player.rate > 0 ? (item.currentTime() - time).seconds / Double(player.rate) : 0
    let audio = player.ovtAudioOffset
    lock.withLock {
      lastShown = time
      if let audio, late.isFinite, offsets.count < 1 << 20 { offsets.append(audio + late) }
    }
  }

  var fraction: Double? {
    let duration = item.duration
    return duration.isNumeric && duration > .zero ? item.currentTime().seconds / duration.seconds : nil
  }

  /// The position and the duration, such as `0:07 / 1:23`.
  var clock: String {
    let now = TextFormat.clock(item.currentTime().seconds.rounded(.down))
    let duration = item.duration
    return duration.isNumeric ? "\(now) / \(TextFormat.clock(duration.seconds.rounded(.down)))" : now
  }

  // MARK: - Playing (on a thread of its own)

  /// Plays to the end, or until the user ends it.
  /// - Returns: the summary.
  /// - Throws: a `Failure` if the movie cannot be played, the limits are too low, or the process is
  ///   interrupted.
  func run(on screen: any PlayScreen) throws -> PlaySummary {
    var audio: OVTAudioDevice?
    if !options.muted {
      let device = OVTAudioDevice()
      audio = device
      player.ovtAudioSink = device
    }
    defer {
      player.ovtAudioSink = nil
      audio?.stop()
      player.replaceCurrentItem(with: nil)
    }
    player.replaceCurrentItem(with: item)
    try waitUntilReady()
    let shown = item.presentationSize
    try ResourceLimits.check(
      decoded: (Int(clamping: Double(shown.width)), Int(clamping: Double(shown.height))), encoded: nil,
      isDeep: false)
    let last = try limit()
    if options.start > 0 {
      item.seek(
        to: CMTime(nearest: options.start, preferredTimescale: 90000), toleranceBefore: .zero,
        toleranceAfter: .zero, completionHandler: nil)
    }
    if options.fullScreen { screen.setFullScreen(true) }
    // Waits until the first picture has been drawn, which takes longer than the others.
    for _ in 0..<1000 where item.presentationSize != .zero && !layer.isReadyForDisplay {
      if Interrupt.shared.isRequested { break }
      usleep(5000)
    }
    let begun = SessionTime.now
    player.play()
    var isFinished = false
    while !isFinished {
      wake.wait(seconds: 0.2)
      screen.update()
      let (commands, hasEnded) = lock.withLock {
        defer { self.commands = [] }
        return (self.commands, self.hasEnded)
      }
      for command in commands where !isFinished { isFinished = apply(command, screen) }
      isFinished = isFinished || hasEnded
    }
    let seconds = SessionTime.now - begun
    player.pause()
    if item.status == .failed { throw Failure(cannotPlay()) }
    if Interrupt.shared.isRequested { throw Failure("interrupted", status: Interrupt.shared.status) }
    try checkShown(screen)
    if let snapshot {
      waitUntilShown(last)
      try snapshot.write(SnapshotFile.data(screen.snapshot()))
    }
    return PlaySummary(
      name: file.name, seconds: seconds, result: screen.result, offsets: lock.withLock { offsets },
      damage: SourceDamage(played: item, end: lock.withLock { hasEnded } ? item.currentTime() : nil))
  }

  private func waitUntilReady() throws {
    while item.status == .unknown {
      if Interrupt.shared.isRequested { throw Failure("interrupted", status: Interrupt.shared.status) }
      usleep(5000)
    }
    if item.status == .failed { throw Failure(cannotPlay()) }
    if let wanted = options.picture.frameRate,
      let rate = item.asset.tracks(withMediaType: .video).first.map({ Double($0.nominalFrameRate) }),
      rate > 0,
      abs(rate / wanted - 1) > 0.01
    {
      throw Failure(MovieSource.refusalOfFrameRate(file.name))
    }
    if snapshot != nil, item.presentationSize == .zero {
      throw Failure(
        "'\(file.name)' has no pictures that can be played, so there is no snapshot; omit --snapshot")
    }
  }

  /// Reports a movie with a video track that played to its end without showing a picture.
  private func checkShown(_ screen: any PlayScreen) throws {
    guard lock.withLock({ hasEnded }), screen.result.shown + screen.result.dropped == 0,
      options.start == 0, !item.asset.tracks(withMediaType: .video).isEmpty
    else { return }
    throw Failure("'\(file.name)' contains no picture that can be decoded; it may be damaged")
  }

  private func cannotPlay() -> String {
    if (item.error as? AVError)?.code == .contentIsProtected {
      return MovieSource.isEncrypted(file.name).message
    }
    let reason = item.error.map { Failure.describe($0) } ?? "the reason is not known"
    return "cannot play '\(file.name)' (\(reason))"
  }

  /// Sets the item's end after the last of the frames that the user asked for.
  /// - Returns: the presentation time of that frame; nil without a limit.
  private func limit() throws -> CMTime? {
    if let end = options.part.range?.end, end.isNumeric { item.forwardPlaybackEndTime = end }
    guard let frames = options.frames else { return nil }
    let times = try FrameTimes.first(frames + 1, of: item.asset, from: options.start)
    guard !times.isEmpty else { return nil }
    // The end is just before the next frame.
    if times.count > frames {
      let last = times[frames] - CMTime(value: 1, timescale: 10_000)
      let end = item.forwardPlaybackEndTime
      item.forwardPlaybackEndTime = end.isNumeric ? min(end, last) : last
    }
    return times[min(frames, times.count) - 1]
  }

  /// Waits until the frame with this time has been shown, at most 10 seconds.
  private func waitUntilShown(_ last: CMTime?) {
    guard let last else { return }
    for _ in 0..<2000 where lock.withLock({ lastShown }) != last { usleep(5000) }
  }

  private func apply(_ command: PlayCommand, _ screen: any PlayScreen) -> Bool {
    switch command {
    case .quit: return true
    case .toggle: if player.rate == 0 { player.play() } else { player.pause() }
    case .back: go(to: item.currentTime() - CMTime(value: 5, timescale: 1))
    case .forward: go(to: item.currentTime() + CMTime(value: 5, timescale: 1))
    case .louder: player.volume += 0.1
    case .softer: player.volume -= 0.1
    case .stepForward, .stepBack:
      player.pause()
      if case .stepForward = command { item.step(byCount: 1) } else { item.step(byCount: -1) }
    case .fullScreen: screen.setFullScreen(!screen.isFullScreen)
    case .go(let fraction):
      guard item.duration.isNumeric else { break }
      go(to: CMTime(nearest: item.duration.seconds * fraction, preferredTimescale: 90000))
    }
    screen.update()
    return false
  }

  private func go(to time: CMTime) {
    let near = CMTime(value: 1, timescale: 2)
    item.seek(to: time, toleranceBefore: near, toleranceAfter: near, completionHandler: nil)
  }
}

/// Finds the presentation times of a movie's frames.
enum FrameTimes {
  /// The presentation times of the first frames that are shown at or after a time, in ascending
  /// order.
  static func first(_ count: Int, of asset: AVAsset, from start: Double) throws -> [CMTime] {
    guard let track = asset.tracks(withMediaType: .video).first(where: \.isDecodable) else { return [] }
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
    output.alwaysCopiesSampleData = false
    let begin = CMTime(nearest: start, preferredTimescale: 90000)
    reader.timeRange = CMTimeRange(start: begin, duration: .positiveInfinity)
    reader.add(output)
    guard reader.startReading() else { throw reader.error ?? Failure("the movie cannot be read") }
    defer { reader.cancelReading() }
    var times: [CMTime] = []
    // Frames come in decode order, and a frame may come up to 16 frames after one that is shown
    // later (H.264, A.3.1).
    while times.count < count + 32, let sample = output.copyNextSampleBuffer() {
      let time = sample.presentationTimeStamp
      let end = sample.duration.isNumeric ? time + sample.duration : time
      if time.isNumeric, sample.numSamples > 0, end > begin || time >= begin { times.append(time) }
    }
    return Array(times.sorted().prefix(count))
  }
}
