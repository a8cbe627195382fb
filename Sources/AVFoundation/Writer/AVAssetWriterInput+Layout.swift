// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

// Where a track lies in the file, and what its header says. Set before `startWriting()`; later without effect.

extension AVAssetWriterInput {
  /// Where in the file an input's samples lie.
  public struct MediaDataLocation: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// In turns with those of the other tracks.
    public static let interleavedWithMainMediaData = MediaDataLocation(
      rawValue: "interleavedWithMainMediaData")
    /// Before those of the others, as is good for small tracks. The others' samples wait, in memory, until the input is
    /// marked as finished.
    public static let beforeMainMediaDataNotInterleaved = MediaDataLocation(
      rawValue: "beforeMainMediaDataNotInterleaved")
  }

  /// What the track tells of itself. See `AVAssetWriter.metadata`.
  public var metadata: [AVMetadataItem] {
    get { lock.withLock { layout.metadata } }
    set { lock.withLock { layout.metadata = newValue } }
  }
  /// The size of the picture in square pixels that the track's header tells; zero: that of the samples.
  public var naturalSize: CGSize {
    get { lock.withLock { layout.naturalSize } }
    set { lock.withLock { layout.naturalSize = newValue } }
  }
  /// How much of the track lies together before another one has its turn; invalid: a sample.
  public var preferredMediaChunkDuration: CMTime {
    get { lock.withLock { layout.chunkDuration } }
    set { lock.withLock { layout.chunkDuration = newValue } }
  }
  /// Bytes; 0: no alignment, which alone is possible: with another writing does not start.
  public var preferredMediaChunkAlignment: Int {
    get { lock.withLock { layout.chunkAlignment } }
    set { lock.withLock { layout.chunkAlignment = newValue } }
  }
  /// Where the files lie that a track refers to instead of holding samples. There are no such tracks here: with a URL
  /// writing does not start.
  public var sampleReferenceBaseURL: URL? {
    get { lock.withLock { layout.referenceBase } }
    set { lock.withLock { layout.referenceBase = newValue } }
  }
  public var mediaDataLocation: MediaDataLocation {
    get { lock.withLock { layout.location } }
    set { lock.withLock { layout.location = newValue } }
  }

  // MARK: - Associations

  /// Whether a track can refer to another's: `audioFallback` from sound to sound, `chapterList` from pictures or sound to
  /// text, `selectionFollower` between any.
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

  /// Refers to another input's track. An association that cannot be added makes the writer fail.
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

  /// What the track of this input is to have in the movie.
  /// - Throws: `AVError` for what a movie cannot have.
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
