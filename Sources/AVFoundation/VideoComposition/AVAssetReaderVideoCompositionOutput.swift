// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// The pictures of several tracks, made into one by a video composition.
open class AVAssetReaderVideoCompositionOutput: AVAssetReaderOutput, @unchecked Sendable {
  // Sendable: `compositionLock` guards what changes.
  public let videoTracks: [AVAssetTrack]
  public let videoSettings: [String: Any]?
  private let request: Result<PictureRequirements, AVError>
  private let compositionLock = Lock()
  private var composition: AVVideoComposition?
  private var compositor: (any AVVideoCompositing)?

  /// Of the parameters:
  ///
  /// - `videoTracks`: Tracks of one asset.
  /// - `videoSettings`: What pictures are to be like, as for `AVAssetReaderTrackOutput`; nil: as the compositor makes
  ///   them.
  public init(videoTracks: [AVAssetTrack], videoSettings: [String: Any]?) {
    self.videoTracks = videoTracks
    self.videoSettings = videoSettings
    request = Result {
      guard !videoTracks.isEmpty, videoTracks.allSatisfy({ $0.mediaType == .video }) else {
        throw AVError(.operationNotAllowed, reason: "What is to be composed is not video.")
      }
      guard videoSettings?[AVVideoDecompressionPropertiesKey] == nil else {
        throw AVError(
          .unsupportedOutputSettings, reason: "A composition's pictures come from no decoder.",
          advice: "Leave AVVideoDecompressionPropertiesKey out.")
      }
      let wanted = try PictureRequirements(videoSettings ?? [:])
      guard !wanted.fields.changesPictures else {
        throw AVError(
          .unsupportedOutputSettings, reason: "A composition's pictures have no fields.",
          advice: "Leave the field and deinterlacing modes out.")
      }
      return wanted
    }.mapError { AVError.reading($0) }
    super.init()
  }

  /// What is made of the tracks. Set it before reading begins: without one the reader fails.
  open var videoComposition: AVVideoComposition? {
    get { compositionLock.withLock { composition } }
    set {
      guard reader?.status ?? .unknown == .unknown else { return }
      let copy = newValue.flatMap { $0.copy() as? AVVideoComposition }
      use(copy, copy?.makeCompositor())
    }
  }

  /// Takes a composition with the object that makes its pictures.
  func use(_ composition: AVVideoComposition?, _ compositor: (any AVVideoCompositing)?) {
    let old = compositionLock.withLock {
      defer { (self.composition, self.compositor) = (composition, compositor) }
      return (self.composition, self.compositor)
    }
    // A client's objects go when the lock is free: they may come back here.
    withExtendedLifetime(old) {}
  }

  /// The object that makes the pictures; nil where layer instructions are followed.
  open var customVideoCompositor: (any AVVideoCompositing)? { compositionLock.withLock { compositor } }

  override var settingsError: AVError? {
    if case .failure(let error) = request { return error }
    return nil
  }

  override func belongs(to asset: AVAsset) -> Bool {
    !videoTracks.isEmpty && videoTracks.allSatisfy { $0.file === asset.file }
  }

  override func makeSource(asset: AVAsset, copies: Bool) throws -> any SampleSource {
    guard let composition = videoComposition else {
      throw AVError(
        .invalidVideoComposition, reason: "There is no video composition.", advice: "Set videoComposition.")
    }
    return try ComposedVideo(
      composition, customVideoCompositor, videoTracks, request.get(),
      asset: asset, copies: copies, damage: damage)
  }
}
