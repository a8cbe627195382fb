// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// The file behind an asset: opened when somebody first asks, looked at once, shared by the asset, its tracks and
/// their readers.
final class AssetFile: @unchecked Sendable {
  // Sendable: `condition` and `lock` guard what changes.
  enum State { case untouched, loading, loaded, cancelled, failed(AVError) }

  /// Frames per second, exactly.
  struct FrameRate: Sendable {
    var numerator: Int32
    var denominator: Int32
  }

  let url: URL
  private let frameRate: FrameRate?
  let restrictions: AVAssetReferenceRestrictions
  /// Asks the program for the bytes of a URL that is not one of libavformat's.
  private let loader: AVAssetResourceLoader?
  /// Of the opening that is under way.
  private let interruption = MediaInterruption()
  private let lock = Lock()
  /// Guards the outcome of the opening, for which many may wait.
  private let condition = NSCondition()
  private var outcome: Result<AssetFacts, AVError>?
  private var isOpening = false
  /// What is to be called when the outcome is there; under the condition.
  private var waiting: [@Sendable () -> Void] = []

  init(
    url: URL, frameRate: FrameRate?, restrictions: AVAssetReferenceRestrictions,
    loader: AVAssetResourceLoader? = nil
  ) {
    self.url = url
    self.loader = loader
    self.frameRate = frameRate
    self.restrictions = restrictions
  }

  /// No file: what is asked of it fails.
  init(failure: AVError) {
    url = URL(fileURLWithPath: "/")
    loader = nil
    frameRate = nil
    restrictions = .forbidAll
    outcome = .failure(failure)
  }

  /// What the file may refer to.
  private var access: MediaAccess {
    var access = MediaAccess()
    access.localToLocal = !restrictions.contains(.forbidLocalReferenceToLocal)
    access.localToRemote = !restrictions.contains(.forbidLocalReferenceToRemote)
    access.remoteToLocal = !restrictions.contains(.forbidRemoteReferenceToLocal)
    // Sites cannot be told apart: only who allows all of them allows another file of the same.
    access.remoteToRemote = !restrictions.contains(.forbidCrossSiteReference)
    return access
  }

  var state: State {
    condition.withLock {
      switch outcome {
      case .success: .loaded
      case .failure(let error): error.code == .operationCancelled ? .cancelled : .failed(error)
      case nil: isOpening ? .loading : .untouched
      }
    }
  }

  /// The facts; opens the file if need be.
  ///
  /// A thread of its own opens it, so that who waits can go on when the loading is cancelled, even if the system does
  /// not give the file back.
  func facts() throws -> AssetFacts {
    condition.lock()
    defer { condition.unlock() }
    beginOpening()
    while true {
      if let outcome { return try outcome.get() }
      condition.wait()
    }
  }

  /// Opens the file if need be, without waiting for it.
  /// - Parameter completion: Called once, on any thread, when `facts()` will not wait. It must not block.
  func whenOpened(_ completion: @escaping @Sendable () -> Void) {
    let isOver = condition.withLock {
      beginOpening()
      if outcome == nil { waiting.append(completion) }
      return outcome != nil
    }
    if isOver { completion() }
  }

  /// Under the condition.
  private func beginOpening() {
    guard outcome == nil, !isOpening else { return }
    isOpening = true
    let thread = Thread { [self] in
      let result: Result<AssetFacts, AVError>
      do { result = .success(AssetFacts(try open())) } catch { result = .failure(AVError.reading(error)) }
      settle(result, isEnd: true)
    }
    thread.name = "AVFoundation.open"
    thread.start()
  }

  /// The outcome, unless there is one: somebody may have cancelled meanwhile.
  /// - Parameter isEnd: The opening is over.
  private func settle(_ result: Result<AssetFacts, AVError>, isEnd: Bool) {
    let told = condition.withLock {
      if isEnd { isOpening = false }
      if outcome == nil { outcome = result }
      condition.broadcast()
      defer { waiting = [] }
      return waiting
    }
    for completion in told { completion() }
  }

  private func open() throws -> Demuxer {
    var url = url
    if let loader, loader.isFor(url) {
      switch try loader.open(url, interruption) {
      case .bytes(let source):
        return try Demuxer(
          url: url.absoluteString,
          frameRate: frameRate.map { .init(num: $0.numerator, den: $0.denominator) }, access: access,
          source: source, interruption: interruption)
      case .elsewhere(let other): url = other
      }
    }
    return try Demuxer(
      url: url.isFileURL ? url.path : url.absoluteString,
      frameRate: frameRate.map { .init(num: $0.numerator, den: $0.denominator) }, access: access,
      interruption: interruption)
  }

  /// Looks at a file that is open again.
  /// - Returns: What it was and what it is; nil if that is the same, or it cannot be read now.
  func refresh() -> (old: AssetFacts, new: AssetFacts)? {
    guard case .success(let old)? = condition.withLock({ outcome }), let demuxer = try? open() else {
      return nil
    }
    let new = AssetFacts(demuxer)
    func state(_ facts: AssetFacts) -> [[CMTime]] {
      facts.tracks.map {
        [CMTime(value: Int64($0.stream.trackID), timescale: 1), $0.timeRange.start, $0.timeRange.end]
      }
    }
    guard state(old) != state(new) || old.duration != new.duration else { return nil }
    condition.withLock { outcome = .success(new) }
    lock.withLock { knownHeader = nil }
    return (old, new)
  }

  /// Who waits for the file to be opened gets an error, at once; a file that is open stays so.
  func cancel() {
    guard condition.withLock({ isOpening && outcome == nil }) else { return }
    settle(.failure(AVError(.operationCancelled, reason: "The loading was cancelled.")), isEnd: false)
    // What has been opened just before stays open.
    if case .cancelled = state { interruption.interrupt() }
  }

  /// What the headers of a local movie say besides; nil for other files.
  var header: MovieHeader? {
    lock.withLock {
      if let knownHeader { return knownHeader }
      let made = url.isFileURL ? MovieHeader(path: url.path) : nil
      knownHeader = .some(made)
      return made
    }
  }
  /// Under the lock.
  private var knownHeader: MovieHeader??

  /// The facts, or nothing when the file cannot be read. For the synchronous properties, which cannot fail.
  var factsIfReadable: AssetFacts? { try? facts() }
}

/// What is known of a file after it has been opened.
final class AssetFacts: @unchecked Sendable {
  // Sendable: immutable once opened; the demuxer has its own lock.
  /// Let go of the file; a reader opens it again.
  let demuxer: Demuxer
  let tracks: [TrackFacts]
  let duration: CMTime
  let metadata: [String: String]
  let chapters: [MediaChapter]

  init(_ demuxer: Demuxer) {
    self.demuxer = demuxer
    demuxer.suspend()
    let tracks = demuxer.streams.map { TrackFacts($0) }
    self.tracks = tracks
    metadata = demuxer.metadata
    chapters = demuxer.chapters
    duration =
      tracks.filter { $0.mediaType == .video || $0.mediaType == .audio }.map(\.timeRange.end).max() ?? .zero
  }

  var video: TrackFacts? { tracks.first { $0.mediaType == .video } }
}
