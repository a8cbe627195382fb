// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Delivers the pictures that a video composition makes from several tracks.
open class AVAssetReaderVideoCompositionOutput: AVAssetReaderOutput, @unchecked Sendable {
  // Sendable: `compositionLock` guards what changes.
  public let videoTracks: [AVAssetTrack]
  public let videoSettings: [String: Any]?
  private let request: Result<PictureRequirements, AVError>
  private let compositionLock = Lock()
  private var composition: AVVideoComposition?
  private var compositor: (any AVVideoCompositing)?

  /// Creates an output. Wrong arguments are reported when the reader starts.
  /// - Parameters:
  ///   - videoTracks: Video tracks of one asset.
  ///   - videoSettings: The format of the pictures, as for `AVAssetReaderTrackOutput`; nil for the
  ///     compositor's format.
  public init(videoTracks: [AVAssetTrack], videoSettings: [String: Any]?) {
    self.videoTracks = videoTracks
    self.videoSettings = videoSettings
    request = Result {
      guard !videoTracks.isEmpty, videoTracks.allSatisfy({ $0.mediaType == .video }) else {
        throw AVError(.operationNotAllowed, reason: "What is to be composed is not video.")
      }
      guard videoSettings?[AVVideoDecompressionPropertiesKey] == nil else {
        throw AVError(
          .unsupportedOutputSettings, reason: "The pictures of a composition are not from a decoder.",
          advice: "Omit AVVideoDecompressionPropertiesKey.")
      }
      let wanted = try PictureRequirements(videoSettings ?? [:])
      guard !wanted.fields.changesPictures else {
        throw AVError(
          .unsupportedOutputSettings, reason: "A composition's pictures have no fields.",
          advice: "Omit the field and deinterlacing modes.")
      }
      return wanted
    }.mapError { AVError.reading($0) }
    super.init()
  }

  /// The video composition, which is copied. It must be set before reading begins, or the reader
  /// fails; later changes have no effect.
  open var videoComposition: AVVideoComposition? {
    get { compositionLock.withLock { composition } }
    set {
      guard reader?.status ?? .unknown == .unknown else { return }
      let copy = newValue.flatMap { $0.copy() as? AVVideoComposition }
      use(copy, copy?.makeCompositor())
    }
  }

  /// Sets a composition and the object that makes its pictures.
  func use(_ composition: AVVideoComposition?, _ compositor: (any AVVideoCompositing)?) {
    let old = compositionLock.withLock {
      defer { (self.composition, self.compositor) = (composition, compositor) }
      return (self.composition, self.compositor)
    }
    // The previous objects are released after the lock: their deinitializers may call this output.
    withExtendedLifetime(old) {}
  }

  /// The object that makes the pictures; nil if the layer instructions determine them.
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
    return try VideoCompositionSource(
      composition, customVideoCompositor, videoTracks, request.get(),
      asset: asset, copies: copies, damage: damage)
  }
}
