// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

// Set these before `startWriting()`; later they have no effect.

extension AVAssetWriter {
  /// The index goes to the front of the file, so that a player can begin while it loads.
  public var shouldOptimizeForNetworkUse: Bool {
    get { lock.withLock { properties.optimizes } }
    set { lock.withLock { properties.optimizes = newValue } }
  }

  /// Units per second of the movie header; 0: one that suits the tracks.
  public var movieTimeScale: CMTimeScale {
    get { lock.withLock { properties.movieTimeScale } }
    set { lock.withLock { properties.movieTimeScale = max(0, newValue) } }
  }

  /// What the movie tells of itself. Items may be of the common key space or of one of movie files' own; with one that
  /// a movie cannot hold writing does not start.
  public var metadata: [AVMetadataItem] {
    get { lock.withLock { properties.metadata } }
    set { lock.withLock { properties.metadata = newValue } }
  }

  /// A folder for the frames and the statistics of an input that makes several passes; nil takes the system's. The movie
  /// itself needs none: its bytes go into a nameless file where it will be, so that it need not be copied. A folder that does
  /// not exist, or cannot be written to, is an error in any case.
  public var directoryForTemporaryFiles: URL? {
    get { lock.withLock { properties.temporaryDirectory } }
    set { lock.withLock { properties.temporaryDirectory = newValue } }
  }

  /// How long the movie will be, as far as is known: a movie in fragments says so in its header, and encoders with an
  /// average bit rate share the bits out for so long (`kVTCompressionPropertyKey_ExpectedDuration`).
  public var overallDurationHint: CMTime {
    get { lock.withLock { properties.durationHint } }
    set { lock.withLock { properties.durationHint = newValue } }
  }

  /// Length of a movie fragment: a movie in fragments can be played up to the last one when its writing is
  /// interrupted. Invalid: no fragments.
  public var movieFragmentInterval: CMTime {
    get { lock.withLock { properties.fragmentInterval } }
    set { lock.withLock { properties.fragmentInterval = newValue } }
  }

  /// Length of the first movie fragment, where there are fragments; invalid, as it is unless set: that of the others.
  public var initialMovieFragmentInterval: CMTime {
    get { lock.withLock { properties.firstFragmentInterval } }
    set { lock.withLock { properties.firstFragmentInterval = newValue } }
  }

  /// Whether the fragments of a movie can be appended to those of another one that a writer with the same settings makes of
  /// what comes before. They then carry source times, without an edit list that moves them to zero, and continue at
  /// `initialMovieFragmentSequenceNumber`; the other movie's header serves for them. Without effect where there are no
  /// fragments.
  public var producesCombinableFragments: Bool {
    get { lock.withLock { properties.makesCombinableFragments } }
    set { lock.withLock { properties.makesCombinableFragments = newValue } }
  }

  /// The number of the first fragment, from 1.
  public var initialMovieFragmentSequenceNumber: Int {
    get { lock.withLock { properties.firstFragment } }
    set { lock.withLock { properties.firstFragment = max(1, newValue) } }
  }
}

// MARK: - Segments

extension AVAssetWriter {
  /// Length of a segment, which ends where a sync sample comes so much after its beginning, or later. Invalid, as it is
  /// unless set: six seconds. Indefinite: each `flushSegment()` ends one.
  public var preferredOutputSegmentInterval: CMTime {
    get { lock.withLock { properties.segmentInterval } }
    set { lock.withLock { properties.segmentInterval = newValue } }
  }

  /// The source time that segments are counted from: the first one ends where a sync sample comes one interval after it, or
  /// the next multiple after the session's start. Invalid, as it is unless set: the session's start.
  public var initialSegmentStartTime: CMTime {
    get { lock.withLock { properties.segmentStart } }
    set { lock.withLock { properties.segmentStart = newValue } }
  }

  /// How segments are written; needed for segments.
  public var outputFileTypeProfile: AVFileTypeProfile? {
    get { lock.withLock { properties.profile } }
    set { lock.withLock { properties.profile = newValue } }
  }

  /// Receives the segments. Not retained.
  public weak var delegate: (any AVAssetWriterDelegate)? {
    get { lock.withLock { properties.delegate } }
    set { lock.withLock { properties.delegate = newValue } }
  }

  /// Ends the current segment with all samples that have been appended, but for those that an encoder still has. What is
  /// appended next begins another, and should be a sync sample: nothing asks an encoder for one.
  public func flushSegment() {
    guard let assembly else { return }
    do { try assembly.cutNow() } catch { fail(AVError.writing(error)) }
  }

  func deliver(_ segment: MovieAssembly.Segment) {
    guard let delegate else { return }
    let start = sessionStart
    let report =
      segment.isInitialization
      ? nil
      : AVAssetSegmentReport(
        segmentType: .separable,
        trackReports: segment.tracks.compactMap { track in
          guard let first = track.tally.first, let end = track.tally.end else { return nil }
          let sample = track.type == .video ? track.tally.firstSample : nil
          let offset =
            MuxerSegment.firstSampleOffset(in: segment.bytes, trackID: UInt32(track.number + 1)) ?? 0
          return AVAssetSegmentTrackReport(
            trackID: CMPersistentTrackID(track.number + 1), mediaType: track.type,
            earliestPresentationTimeStamp: first + start, duration: end - first,
            firstVideoSampleInformation: sample.map {
              AVAssetSegmentReportSampleInformation(
                presentationTimeStamp: $0.time + start, offset: offset, length: $0.size,
                isSyncSample: $0.isSync)
            })
        })
    delegate.assetWriter(
      self, didOutputSegmentData: segment.bytes,
      segmentType: segment.isInitialization ? .initialization : .separable,
      segmentReport: report)
  }
}

/// What a segment is.
public enum AVAssetSegmentType: Int, Sendable {
  /// The header, which every segment needs.
  case initialization = 1
  /// A part that can be decoded on its own, with the header.
  case separable = 2
}

/// Receives the segments that a writer makes.
public protocol AVAssetWriterDelegate: AnyObject {
  /// A segment is complete. Called in order, on the thread that made it so.
  func assetWriter(
    _ writer: AVAssetWriter, didOutputSegmentData segmentData: Data, segmentType: AVAssetSegmentType,
    segmentReport: AVAssetSegmentReport?)
  /// The same without a report, for delegates that do not want one.
  func assetWriter(
    _ writer: AVAssetWriter, didOutputSegmentData segmentData: Data, segmentType: AVAssetSegmentType)
}

extension AVAssetWriterDelegate {
  public func assetWriter(
    _ writer: AVAssetWriter, didOutputSegmentData segmentData: Data, segmentType: AVAssetSegmentType,
    segmentReport: AVAssetSegmentReport?
  ) {
    assetWriter(writer, didOutputSegmentData: segmentData, segmentType: segmentType)
  }

  public func assetWriter(
    _ writer: AVAssetWriter, didOutputSegmentData segmentData: Data, segmentType: AVAssetSegmentType
  ) {}
}

/// What is in a segment.
open class AVAssetSegmentReport: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  public let segmentType: AVAssetSegmentType
  public let trackReports: [AVAssetSegmentTrackReport]

  init(segmentType: AVAssetSegmentType, trackReports: [AVAssetSegmentTrackReport]) {
    self.segmentType = segmentType
    self.trackReports = trackReports
    super.init()
  }
}

/// What is in a segment of one track.
open class AVAssetSegmentTrackReport: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  public let trackID: CMPersistentTrackID
  public let mediaType: AVMediaType
  public let earliestPresentationTimeStamp: CMTime
  public let duration: CMTime
  /// Of video only.
  public let firstVideoSampleInformation: AVAssetSegmentReportSampleInformation?

  init(
    trackID: CMPersistentTrackID, mediaType: AVMediaType, earliestPresentationTimeStamp: CMTime,
    duration: CMTime,
    firstVideoSampleInformation: AVAssetSegmentReportSampleInformation?
  ) {
    self.trackID = trackID
    self.mediaType = mediaType
    self.earliestPresentationTimeStamp = earliestPresentationTimeStamp
    self.duration = duration
    self.firstVideoSampleInformation = firstVideoSampleInformation
    super.init()
  }
}

/// A segment's first video sample.
open class AVAssetSegmentReportSampleInformation: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  public let presentationTimeStamp: CMTime
  /// Where it lies in the segment, in bytes.
  public let offset: Int
  public let length: Int
  public let isSyncSample: Bool

  init(presentationTimeStamp: CMTime, offset: Int, length: Int, isSyncSample: Bool) {
    self.presentationTimeStamp = presentationTimeStamp
    self.offset = offset
    self.length = length
    self.isSyncSample = isSyncSample
    super.init()
  }
}

/// - Throws: `AVError` if a folder for temporary files cannot be used.
func checkTemporaryDirectory(_ url: URL?) throws {
  guard let url else { return }
  var isDirectory: ObjCBool = false
  guard url.isFileURL, FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory),
    isDirectory.boolValue, access(url.path, W_OK) == 0
  else {
    throw AVError(
      .incorrectlyConfigured, reason: "Temporary files cannot be made in \(url.path).",
      advice: "Set directoryForTemporaryFiles to a folder that can be written to, or to nil.")
  }
}
