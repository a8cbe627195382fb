// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// A movie: its tracks and the properties of the whole.
///
/// The file is opened when a property is first read. The synchronous properties block until then,
/// and have empty values if the file cannot be read. `load(_:)` does not block, and throws the
/// error.
open class AVAsset: NSObject, AVAsynchronousKeyValueLoading, ValuePreparing, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  let file: AssetFile
  private let lock = Lock()
  private var cachedTracks: [AVAssetTrack]?

  /// Creates an asset for a file.
  public convenience init(url: URL) {
    self.init(file: AssetFile(url: url, frameRate: nil, restrictions: .forbidAll))
  }

  init(file: AssetFile) {
    self.file = file
    super.init()
  }

  // MARK: Loading

  @discardableResult
  open func statusOfValue(forKey key: String, error outError: NSErrorPointer) -> AVKeyValueStatus {
    switch file.state {
    case .untouched: return .unknown
    case .loading: return .loading
    case .loaded: return .loaded
    case .cancelled: return .cancelled
    case .failed(let error):
      outError?.pointee = error as NSError
      return .failed
    }
  }

  @preconcurrency open func loadValuesAsynchronously(
    forKeys keys: [String], completionHandler handler: (@Sendable () -> Void)? = nil
  ) {
    prepared("tracks") { handler?() }
  }

  func prepare(_ key: String, _ completion: @escaping @Sendable () -> Void) { file.whenOpened(completion) }

  /// Cancels loading in progress, which ends with `AVError.Code.operationCancelled`; the asset
  /// remains in that state. Waiting callers are notified at once, even if the file system, a server
  /// or a resource loader's delegate does not respond. It has no effect if nothing is being loaded.
  open func cancelLoading() { file.cancel() }

  // MARK: Tracks

  func makeTrack(_ properties: TrackDescription) -> AVAssetTrack {
    AVAssetTrack(asset: self, properties: properties)
  }

  func loadedTracks() throws -> [AVAssetTrack] {
    let properties = try file.properties()
    return lock.withLock {
      if let cachedTracks { return cachedTracks }
      let made = properties.tracks.map { makeTrack($0) }
      cachedTracks = made
      return made
    }
  }

  /// The tracks in the order of the file; empty if it cannot be read.
  open var tracks: [AVAssetTrack] { (try? loadedTracks()) ?? [] }

  @discardableResult
  open func track(withTrackID trackID: CMPersistentTrackID) -> AVAssetTrack? {
    tracks.first { $0.trackID == trackID }
  }

  // The method of the same name of `AVMutableComposition` returns tracks of its own class, and is
  // preferred.
  @_disfavoredOverload
  @discardableResult
  open func tracks(withMediaType mediaType: AVMediaType) -> [AVAssetTrack] {
    tracks.filter { $0.mediaType == mediaType }
  }

  @discardableResult
  open func tracks(withMediaCharacteristic mediaCharacteristic: AVMediaCharacteristic) -> [AVAssetTrack] {
    tracks.filter { $0.hasMediaCharacteristic(mediaCharacteristic) }
  }

  open func loadTrack(withTrackID trackID: CMPersistentTrackID) async throws -> AVAssetTrack? {
    try await loadAllTracks().first { $0.trackID == trackID }
  }

  open func loadTracks(withMediaType mediaType: AVMediaType) async throws -> [AVAssetTrack] {
    try await loadAllTracks().filter { $0.mediaType == mediaType }
  }

  open func loadTracks(
    withMediaCharacteristic mediaCharacteristic: AVMediaCharacteristic
  ) async throws -> [AVAssetTrack] {
    try await loadAllTracks().filter { $0.hasMediaCharacteristic(mediaCharacteristic) }
  }

  @preconcurrency open func loadTrack(
    withTrackID trackID: CMPersistentTrackID,
    completionHandler: @escaping @Sendable (AVAssetTrack?, (any Error)?) -> Void
  ) {
    withTracks({ $0.first { $0.trackID == trackID } }) { completionHandler($0 ?? nil, $1) }
  }

  @preconcurrency open func loadTracks(
    withMediaType mediaType: AVMediaType,
    completionHandler: @escaping @Sendable ([AVAssetTrack]?, (any Error)?) -> Void
  ) {
    withTracks({ $0.filter { $0.mediaType == mediaType } }, completionHandler)
  }

  @preconcurrency open func loadTracks(
    withMediaCharacteristic mediaCharacteristic: AVMediaCharacteristic,
    completionHandler: @escaping @Sendable ([AVAssetTrack]?, (any Error)?) -> Void
  ) {
    withTracks({ $0.filter { $0.hasMediaCharacteristic(mediaCharacteristic) } }, completionHandler)
  }

  private func loadAllTracks() async throws -> [AVAssetTrack] {
    try await withCheckedThrowingContinuation { continuation in
      prepared("tracks") { continuation.resume(with: Result { try self.loadedTracks() }) }
    }
  }

  private func withTracks<T>(
    _ choose: @escaping @Sendable ([AVAssetTrack]) -> T,
    _ handler: @escaping @Sendable (T?, (any Error)?) -> Void
  ) {
    prepared("tracks") {
      do {
        handler(choose(try self.loadedTracks()), nil)
      } catch { handler(nil, error) }
    }
  }

  // MARK: The whole

  /// The latest end of any video or audio track.
  open var duration: CMTime { file.propertiesIfReadable?.duration ?? .zero }
  /// The preferred rate of playback according to the header of a local movie file; 1.0 for others.
  open var preferredRate: Float { file.header?.rate ?? 1 }
  /// The preferred volume, from 0.0 to 1.0, according to the header of a local movie file; 1.0 for
  /// others.
  open var preferredVolume: Float { file.header?.volume ?? 1 }
  /// The transform of the movie as a whole, according to the header of a local movie file. Tracks
  /// may have transforms of their own in addition.
  open var preferredTransform: CGAffineTransform {
    file.header.flatMap { CGAffineTransform(movieMatrix: $0.matrix) } ?? .identity
  }
  /// Always invalid, since a file is not a live stream.
  open var minimumTimeOffsetFromLive: CMTime { .invalid }
  /// Whether times are exact: true if the container has a sample table.
  open var providesPreciseDurationAndTiming: Bool {
    file.propertiesIfReadable?.tracks.contains { $0.stream.sampleCount != nil } ?? false
  }
  /// The references to other files that are not followed; see `AVURLAssetReferenceRestrictionsKey`.
  open var referenceRestrictions: AVAssetReferenceRestrictions { file.restrictions }

  open var isReadable: Bool { tracks.contains { $0.isDecodable } && !hasProtectedContent }
  open var isPlayable: Bool { isReadable }
  open var isExportable: Bool { isReadable }
  open var isComposable: Bool { isReadable }
  /// Whether the content is encrypted.
  open var hasProtectedContent: Bool {
    file.propertiesIfReadable?.tracks.contains { $0.stream.isProtected } ?? false
  }
  /// Whether a photo library would accept the movie: true for H.264 and HEVC.
  open var isCompatibleWithSavedPhotosAlbum: Bool {
    tracks(withMediaType: .video).contains {
      ["h264", "hevc"].contains($0.properties.stream.codec.codecName)
    }
  }
  /// The duration according to the header of the file.
  open var overallDurationHint: CMTime { duration }
}

/// The kinds of references between files that an asset must not follow.
public struct AVAssetReferenceRestrictions: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }

  public static let forbidRemoteReferenceToLocal = AVAssetReferenceRestrictions(rawValue: 1 << 0)
  public static let forbidLocalReferenceToRemote = AVAssetReferenceRestrictions(rawValue: 1 << 1)
  public static let forbidCrossSiteReference = AVAssetReferenceRestrictions(rawValue: 1 << 2)
  public static let forbidLocalReferenceToLocal = AVAssetReferenceRestrictions(rawValue: 1 << 3)
  public static let forbidAll = AVAssetReferenceRestrictions(rawValue: 0xFFFF)
  public static let defaultPolicy: AVAssetReferenceRestrictions = .forbidLocalReferenceToRemote
}
