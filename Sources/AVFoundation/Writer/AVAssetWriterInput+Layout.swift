// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

// The position of a track's samples in the file, and the contents of its header. The setters have
// an effect only before `startWriting()`.

extension AVAssetWriterInput {
  /// Positions in the file for an input's samples.
  public struct MediaDataLocation: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The samples are interleaved with those of the other tracks.
    public static let interleavedWithMainMediaData = MediaDataLocation(
      rawValue: "interleavedWithMainMediaData")
    /// The samples come before those of the other tracks, which suits small tracks. The samples of
    /// the other tracks are kept in memory until the input is marked as finished.
    public static let beforeMainMediaDataNotInterleaved = MediaDataLocation(
      rawValue: "beforeMainMediaDataNotInterleaved")
  }

  /// The metadata of the track. See `AVAssetWriter.metadata`.
  public var metadata: [AVMetadataItem] {
    get { lock.withLock { layout.metadata } }
    set { lock.withLock { layout.metadata = newValue } }
  }
  /// The size of the picture in the track's header, in square pixels. Zero means the size of
  /// the samples. With a side outside of 1 to 32767 `startWriting()` fails.
  public var naturalSize: CGSize {
    get { lock.withLock { layout.naturalSize } }
    set { lock.withLock { layout.naturalSize = newValue } }
  }
  /// The duration of the parts in which the track is interleaved with others. An invalid time means
  /// that tracks can alternate at each sample.
  public var preferredMediaChunkDuration: CMTime {
    get { lock.withLock { layout.chunkDuration } }
    set { lock.withLock { layout.chunkDuration = newValue } }
  }
  /// The alignment of chunks in bytes. Alignment is not supported: with a value other than 0
  /// `startWriting()` fails.
  public var preferredMediaChunkAlignment: Int {
    get { lock.withLock { layout.chunkAlignment } }
    set { lock.withLock { layout.chunkAlignment = newValue } }
  }
  /// The base URL of the files that a track refers to in place of holding samples. Such tracks are
  /// not supported: with a URL `startWriting()` fails.
  public var sampleReferenceBaseURL: URL? {
    get { lock.withLock { layout.referenceBase } }
    set { lock.withLock { layout.referenceBase = newValue } }
  }
  public var mediaDataLocation: MediaDataLocation {
    get { lock.withLock { layout.location } }
    set { lock.withLock { layout.location = newValue } }
  }

  // MARK: - Associations

  /// Whether this input's track can refer to the track of another input. Associations can have the
  /// type `audioFallback` from audio to audio, `chapterList` from video or audio to text, and
  /// `selectionFollower` between any media types.
  public func canAddTrackAssociation(
    withTrackOf input: AVAssetWriterInput, type trackAssociationType: String
  ) -> Bool {
    guard input !== self, writer?.status ?? .unknown == .unknown else { return false }
    switch trackAssociationType {
    case AVAssetTrack.AssociationType.audioFallback.rawValue:
      return mediaType == .audio && input.mediaType == .audio
    case AVAssetTrack.AssociationType.chapterList.rawValue:
      return [.video, .audio].contains(mediaType) && input.mediaType == .text
    case AVAssetTrack.AssociationType.selectionFollower.rawValue: return true
    default: return false
    }
  }

  /// Makes this input's track refer to the track of another input. Adding an association that
  /// cannot be added makes the writer fail.
  public func addTrackAssociation(
    withTrackOf input: AVAssetWriterInput, type trackAssociationType: String
  ) {
    guard canAddTrackAssociation(withTrackOf: input, type: trackAssociationType) else {
      writer?.fail(
        AVError(
          .operationNotAllowed, reason: "The tracks cannot be associated as \(trackAssociationType)."))
      return
    }
    lock.withLock { layout.associations.append((trackAssociationType, WeakInput(input))) }
  }

  // MARK: - For the writer

  struct Layout {
    var metadata: [AVMetadataItem] = []
    var naturalSize = CGSize.zero
    var chunkDuration = CMTime.invalid
    var chunkAlignment = 0
    var referenceBase: URL?
    var location = MediaDataLocation.interleavedWithMainMediaData
    var associations: [(type: String, input: WeakInput)] = []
  }

  struct WeakInput {
    weak var input: AVAssetWriterInput?
    init(_ input: AVAssetWriterInput) { self.input = input }
  }

  /// Copies the layout properties to the track.
  /// - Throws: `AVError` for properties that a movie cannot have.
  func configureLayout(of track: TrackAssembly, in writer: AVAssetWriter) throws {
    let layout = lock.withLock { self.layout }
    guard layout.chunkAlignment == 0 else {
      throw AVError(
        .incorrectlyConfigured, reason: "Chunks cannot be aligned.",
        advice: "Leave preferredMediaChunkAlignment at 0.")
    }
    guard layout.referenceBase == nil else {
      throw AVError(.incorrectlyConfigured, reason: "Tracks that refer to other files cannot be written.")
    }
    let size = layout.naturalSize
    guard
      size == .zero
        || mediaType == .video && (1..<32768).contains(size.width) && (1..<32768).contains(size.height)
    else { throw AVError(.incorrectlyConfigured, reason: "The natural size cannot be written.") }
    track.items = try MetadataCoding.stored(
      layout.metadata, inQuickTime: writer.container == .mov, ofMovie: false
    ).items
    track.alternateGroup = writer.group(of: self)?.number
    if size != .zero {
      track.naturalSize = (Int((size.width * 65536).rounded()), Int((size.height * 65536).rounded()))
    }
    track.goesFirst = layout.location == .beforeMainMediaDataNotInterleaved
    if layout.chunkDuration.isNumeric { track.chunkDuration = layout.chunkDuration }
    track.associations = try layout.associations.map { association in
      guard let input = association.input.input, input.writer === writer else {
        throw AVError(
          .incorrectlyConfigured, reason: "A track refers to one that is not in the movie.",
          advice: "Add both inputs to the writer.")
      }
      return (association.type, association.input)
    }
  }
}
