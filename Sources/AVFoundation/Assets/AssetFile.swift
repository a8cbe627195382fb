// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// The file of an asset. It is opened on first use and examined once. The asset, its tracks and
/// their readers share it.
final class AssetFile: @unchecked Sendable {
  // Sendable: `condition` and `lock` guard what changes.
  enum State { case untouched, loading, loaded, cancelled, failed(AVError) }

  /// A frame rate as a fraction, in frames per second.
  struct FrameRate: Sendable {
    var numerator: Int32
    var denominator: Int32
  }

  let url: URL
  private let frameRate: FrameRate?
  let restrictions: AVAssetReferenceRestrictions
  /// Loads the data of URLs that libavformat does not support.
  private let loader: AVAssetResourceLoader?
  /// A stream that is read once; nil for files.
  private let network: NetworkInput?
  /// Interrupts the opening in progress.
  private let interruption = MediaInterruption()
  private let lock = Lock()
  /// Guards the result of opening the file, for which several threads may wait.
  private let condition = NSCondition()
  private var outcome: Result<AssetDescription, AVError>?
  private var isOpening = false
  /// The closures to be called when the result is available; guarded by `condition`.
  private var waiting: [@Sendable () -> Void] = []

  init(
    url: URL, frameRate: FrameRate?, restrictions: AVAssetReferenceRestrictions,
    loader: AVAssetResourceLoader? = nil
  ) {
    self.url = url
    network = nil
    self.loader = loader
    self.frameRate = frameRate
    self.restrictions = restrictions
  }

  /// - Parameters:
  ///   - url: The address, without secrets.
  ///   - network: A stream that is read once.
  init(url: URL, network: NetworkInput) {
    self.url = url
    self.network = network
    loader = nil
    frameRate = nil
    restrictions = .forbidAll
  }

  /// Creates an object without a file; every use of it fails.
  init(failure: AVError) {
    url = URL(fileURLWithPath: "/")
    network = nil
    loader = nil
    frameRate = nil
    restrictions = .forbidAll
    outcome = .failure(failure)
  }

  /// The references to other files that are permitted.
  private var access: MediaAccess {
    var access = MediaAccess()
    access.localToLocal = !restrictions.contains(.forbidLocalReferenceToLocal)
    access.localToRemote = !restrictions.contains(.forbidLocalReferenceToRemote)
    access.remoteToLocal = !restrictions.contains(.forbidRemoteReferenceToLocal)
    // Sites cannot be distinguished, so references between remote files need permission for
    // cross-site references, even on the same site.
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

  /// Returns the properties, and opens the file if necessary.
  ///
  /// A separate thread opens it, so that callers can continue after cancellation even if a system
  /// call does not return.
  /// - Throws: `AVError` if the file cannot be read or loading was cancelled.
  func properties() throws -> AssetDescription {
    condition.lock()
    defer { condition.unlock() }
    beginOpening()
    while true {
      if let outcome { return try outcome.get() }
      condition.wait()
    }
  }

  /// Opens the file if necessary, without waiting.
  /// - Parameter completion: Called once, on any thread, when `properties()` does not block any
  ///   more. It must not block.
  func whenOpened(_ completion: @escaping @Sendable () -> Void) {
    let isFinished = condition.withLock {
      beginOpening()
      if outcome == nil { waiting.append(completion) }
      return outcome != nil
    }
    if isFinished { completion() }
  }

  /// Starts opening the file. The caller holds `condition`.
  private func beginOpening() {
    guard outcome == nil, !isOpening else { return }
    isOpening = true
    let thread = Thread { [self] in
      let result: Result<AssetDescription, AVError>
      do { result = .success(AssetDescription(try open())) } catch {
        result = .failure(AVError.reading(error))
      }
      complete(result, isEnd: true)
    }
    thread.name = "AVFoundation.open"
    thread.start()
  }

  /// Sets the result, unless there is one already, for example because of cancellation, and calls
  /// the waiting closures.
  /// - Parameters:
  ///   - result: The result.
  ///   - isEnd: Whether the opening thread has finished.
  private func complete(_ result: Result<AssetDescription, AVError>, isEnd: Bool) {
    let completions = condition.withLock {
      if isEnd { isOpening = false }
      if outcome == nil { outcome = result }
      condition.broadcast()
      defer { waiting = [] }
      return waiting
    }
    for completion in completions { completion() }
  }

  private func open() throws -> Demuxer {
    if let network { return try Demuxer(network: network) }
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

  /// Reads an open file again.
  /// - Returns: The previous and the new properties; nil if they are equal or the file cannot be
  ///   read now.
  func refresh() -> (old: AssetDescription, new: AssetDescription)? {
    guard network == nil, case .success(let old)? = condition.withLock({ outcome }), let demuxer = try? open()
    else {
      return nil
    }
    let new = AssetDescription(demuxer)
    func state(_ properties: AssetDescription) -> [[CMTime]] {
      properties.tracks.map {
        [CMTime(value: Int64($0.stream.trackID), timescale: 1), $0.timeRange.start, $0.timeRange.end]
      }
    }
    guard state(old) != state(new) || old.duration != new.duration else { return nil }
    condition.withLock { outcome = .success(new) }
    lock.withLock { knownHeader = nil }
    return (old, new)
  }

  /// Cancels opening in progress: waiting callers get an error at once. A file that is open is not
  /// affected.
  func cancel() {
    guard condition.withLock({ isOpening && outcome == nil }) else { return }
    complete(.failure(AVError(.operationCancelled, reason: "The loading was cancelled.")), isEnd: false)
    // The file may have been opened in the meantime; then it stays open.
    if case .cancelled = state { interruption.interrupt() }
  }

  /// The further contents of the header of a local movie file; nil for other files.
  var header: MovieHeader? {
    lock.withLock {
      if let knownHeader { return knownHeader }
      let made = url.isFileURL ? MovieHeader(path: url.path) : nil
      knownHeader = .some(made)
      return made
    }
  }
  /// The cached header, guarded by `lock`. The inner optional is nil if there is no header.
  private var knownHeader: MovieHeader??

  /// The properties; nil if the file cannot be read. It serves the synchronous properties, which
  /// cannot throw.
  var propertiesIfReadable: AssetDescription? { try? properties() }
}

/// The description of a file after it has been opened.
final class AssetDescription: @unchecked Sendable {
  // Sendable: immutable once opened; the demuxer has its own lock.
  /// The demuxer, which has closed the file; a reader opens it again.
  let demuxer: Demuxer
  let tracks: [TrackDescription]
  let duration: CMTime
  let metadata: [String: String]
  let chapters: [MediaChapter]

  init(_ demuxer: Demuxer) {
    self.demuxer = demuxer
    demuxer.suspend()
    let tracks = demuxer.streams.map { TrackDescription($0) }
    self.tracks = tracks
    metadata = demuxer.metadata
    chapters = demuxer.chapters
    duration =
      tracks.filter { $0.mediaType == .video || $0.mediaType == .audio }.map(\.timeRange.end).max() ?? .zero
  }

  var video: TrackDescription? { tracks.first { $0.mediaType == .video } }
}
