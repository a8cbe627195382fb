// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

// The setters have an effect only before `startWriting()`.

extension AVAssetWriter {
  /// Whether the index is written at the front of the file, so that a player can begin before it
  /// has loaded the whole file.
  public var shouldOptimizeForNetworkUse: Bool {
    get { lock.withLock { properties.optimizes } }
    set { lock.withLock { properties.optimizes = newValue } }
  }

  /// The time scale of the movie header, in units per second. 0 means a scale that suits the
  /// tracks.
  public var movieTimeScale: CMTimeScale {
    get { lock.withLock { properties.movieTimeScale } }
    set { lock.withLock { properties.movieTimeScale = max(0, newValue) } }
  }

  /// The metadata of the movie. Items can use the common key space or a key space of movie files.
  /// `startWriting()` fails if the file type cannot hold one of the items.
  public var metadata: [AVMetadataItem] {
    get { lock.withLock { properties.metadata } }
    set { lock.withLock { properties.metadata = newValue } }
  }

  /// The folder for the temporary files of inputs that encode in several passes, which hold encoded
  /// frames and statistics. Nil means the system's temporary folder.
  ///
  /// The movie itself needs no temporary folder: its bytes are written to an unnamed file in the
  /// output folder, which gets its name in the end. `startWriting()` fails if the folder does not
  /// exist or cannot be written to, even if no input needs it.
  public var directoryForTemporaryFiles: URL? {
    get { lock.withLock { properties.temporaryDirectory } }
    set { lock.withLock { properties.temporaryDirectory = newValue } }
  }

  /// The expected duration of the movie. The header of a fragmented movie states it, and encoders
  /// with an average bit rate distribute their bits over it
  /// (`kVTCompressionPropertyKey_ExpectedDuration`). Invalid or zero if the duration is not known.
  public var overallDurationHint: CMTime {
    get { lock.withLock { properties.durationHint } }
    set { lock.withLock { properties.durationHint = newValue } }
  }

  /// The duration of a movie fragment, or an invalid time for a movie without fragments. If the
  /// writing of a fragmented movie is interrupted, the movie can be played up to the end of its
  /// last complete fragment.
  public var movieFragmentInterval: CMTime {
    get { lock.withLock { properties.fragmentInterval } }
    set { lock.withLock { properties.fragmentInterval = newValue } }
  }

  /// The duration of the first fragment of a fragmented movie. An invalid time, the default, means
  /// `movieFragmentInterval`.
  public var initialMovieFragmentInterval: CMTime {
    get { lock.withLock { properties.firstFragmentInterval } }
    set { lock.withLock { properties.firstFragmentInterval = newValue } }
  }

  /// Whether the fragments of this movie can be appended to the fragments of another movie, which a
  /// writer with the same settings made of the samples that come before. If true, the fragments
  /// carry source times, the movie has no edit list that moves its start to zero, fragments are
  /// numbered from `initialMovieFragmentSequenceNumber`, and the header of the other movie
  /// describes them. Has no effect on a movie without fragments.
  public var producesCombinableFragments: Bool {
    get { lock.withLock { properties.makesCombinableFragments } }
    set { lock.withLock { properties.makesCombinableFragments = newValue } }
  }

  /// The sequence number of the first fragment, at least 1.
  public var initialMovieFragmentSequenceNumber: Int {
    get { lock.withLock { properties.firstFragment } }
    set { lock.withLock { properties.firstFragment = max(1, newValue) } }
  }
}

// MARK: - Segments

extension AVAssetWriter {
  /// The interval of segments. A segment ends at the first sync sample at or after the next
  /// multiple of this interval, counted from `initialSegmentStartTime`. An invalid time, the
  /// default, means six seconds. With an indefinite time, segments end only at calls of
  /// `flushSegment()`.
  public var preferredOutputSegmentInterval: CMTime {
    get { lock.withLock { properties.segmentInterval } }
    set { lock.withLock { properties.segmentInterval = newValue } }
  }

  /// The source time from which segments are counted. The first segment ends at the first sync
  /// sample at or after the first multiple of the segment interval, counted from this time, that
  /// follows the session's start. An invalid time, the default, means the session's start.
  public var initialSegmentStartTime: CMTime {
    get { lock.withLock { properties.segmentStart } }
    set { lock.withLock { properties.segmentStart = newValue } }
  }

  /// The profile that segments conform to. A writer of segments must have one.
  public var outputFileTypeProfile: AVFileTypeProfile? {
    get { lock.withLock { properties.profile } }
    set { lock.withLock { properties.profile = newValue } }
  }

  /// The receiver of the segments. The writer does not retain it.
  public weak var delegate: (any AVAssetWriterDelegate)? {
    get { lock.withLock { properties.delegate } }
    set { lock.withLock { properties.delegate = newValue } }
  }

  /// Ends the current segment with all samples that have been appended, except those that an
  /// encoder still holds. The next sample that is appended begins a new segment and should be a
  /// sync sample; the writer does not make an encoder produce one.
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
          let offset = MuxerSegment.firstSampleOffset(
            in: segment.bytes, trackID: UInt32(track.number + 1))
          return AVAssetSegmentTrackReport(
            trackID: CMPersistentTrackID(track.number + 1), mediaType: track.type,
            earliestPresentationTimeStamp: first + start, duration: end - first,
            firstVideoSampleInformation: sample.flatMap { sample in
              offset.map {
                AVAssetSegmentReportSampleInformation(
                  presentationTimeStamp: sample.time + start, offset: $0, length: sample.size,
                  isSyncSample: sample.isSync)
              }
            })
        })
    delegate.assetWriter(
      self, didOutputSegmentData: segment.bytes,
      segmentType: segment.isInitialization ? .initialization : .separable,
      segmentReport: report)
  }
}

/// The kinds of segments.
public enum AVAssetSegmentType: Int, Sendable {
  /// The header of the movie, which is needed to decode all other segments.
  case initialization = 1
  /// A part of the movie that can be decoded without other parts, given the header.
  case separable = 2
}

/// Receives the segments that a writer makes.
public protocol AVAssetWriterDelegate: AnyObject {
  /// Called for each complete segment, in order, on the thread whose call completed the segment.
  func assetWriter(
    _ writer: AVAssetWriter, didOutputSegmentData segmentData: Data, segmentType: AVAssetSegmentType,
    segmentReport: AVAssetSegmentReport?)
  /// Called in place of the method above for a delegate that does not implement that method.
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

/// The contents of a segment.
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

/// The samples of one track in a segment.
open class AVAssetSegmentTrackReport: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  public let trackID: CMPersistentTrackID
  public let mediaType: AVMediaType
  public let earliestPresentationTimeStamp: CMTime
  public let duration: CMTime
  /// Nil for media other than video.
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

/// The first video sample of a segment.
open class AVAssetSegmentReportSampleInformation: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  public let presentationTimeStamp: CMTime
  /// The offset of the sample from the beginning of the segment, in bytes.
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

/// Checks that temporary files can be made in a folder.
/// - Parameter url: The folder, or nil for the system's temporary folder, which is not checked.
/// - Throws: `AVError(.incorrectlyConfigured)` if the URL is not one of an existing folder that can
///   be written to.
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
