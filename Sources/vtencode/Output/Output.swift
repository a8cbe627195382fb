// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// The destination of a run's encoded tracks: a movie, an elementary stream, or a server for a live
/// stream.
///
/// The calls come in this order: `open` when there is a first sample; `add` for each track;
/// `start`; then `append` once for each track, all at the same time; when all of these have
/// returned, `finish` and `publish`. If the run fails at any point, `abandon` replaces the
/// remaining calls.
protocol Output: AnyObject, Sendable {
  // MARK: Capabilities

  /// A noun phrase for messages, with its article, such as `a .mp4 file`.
  var name: String { get }
  /// The kinds of tracks that the output can hold. A run leaves out all others without a message.
  var tracks: Set<OutputTrack.Kind> { get }
  /// Whether readers of the output are known to play audio of this format. Audio of other formats
  /// is encoded, unless the user asks for a copy.
  func plays(_ audio: CMFormatDescription) -> Bool
  /// Whether the output is read while it is written. Interrupting a run then ends the output
  /// regularly and leaves no incomplete file.
  var isLive: Bool { get }
  /// Whether time stamps, including decode time stamps, have to begin at zero. If not, they are
  /// those of the source.
  var beginsAtZero: Bool { get }
  /// Whether texts are passed on when the pictures have reached their beginning, and not their end:
  /// one may then outlast the last picture.
  var takesTextsEarly: Bool { get }
  /// How samples are handled that the output has no room for.
  var backPressure: BackPressure { get }
  /// The end of the message about an interrupted run whose output has to be complete.
  var outcomeOfInterruptedRun: String { get }

  // MARK: Steps of a run

  /// Records the first picture, before any other step. Outputs that make the times themselves need
  /// it.
  func begin(with first: CMSampleBuffer)

  /// Creates the file or connects to the destination. It is not called before there is a sample.
  /// - Throws: a `Failure` if that is not possible.
  func open() throws
  /// Adds a track.
  /// - Returns: the track's identifier for `append`; nil if the output cannot hold the track.
  func add(_ track: OutputTrack) throws -> OutputTrack.ID?
  /// Begins writing. All tracks have been added.
  func start() throws
  /// Writes the samples of a track, in decode order, until there are no more. It calls `next`
  /// whenever it has room, so the run waits for the output.
  /// - Parameters:
  ///   - track: the track's identifier.
  ///   - next: returns the next sample, and may block until there is one; nil after the last.
  ///   - whenFull: is called with true when the output takes no more samples of this track until it
  ///     has more of another one, and with false when it takes them again.
  /// - Throws: a `Failure` of the output, or the error that `next` throws.
  func append(
    to track: OutputTrack.ID, from next: @escaping @Sendable () throws -> CMSampleBuffer?,
    whenFull: @escaping @Sendable (Bool) -> Void
  ) async throws
  /// Writes what is left. The output is then complete; a file still has its temporary name.
  func finish() async throws
  /// Gives a file its final name. A live output has nothing to do.
  /// - Parameter isPart: whether the run was interrupted, so that the output is incomplete.
  /// - Returns: the size, and the path if it is another one than intended.
  func publish(isPart: Bool) throws -> OutputResult
  /// Discards the output of a run that has failed: a file is removed, and the readers of a live
  /// output are notified. Blocked calls of `append` return.
  func abandon()
}

extension Output {
  var takesTextsEarly: Bool { false }
  func begin(with first: CMSampleBuffer) {}
}

/// How a run treats samples that the output has no room for.
enum BackPressure: Sendable, Equatable {
  /// The run waits, so that no sample is lost.
  case waits
  /// The run does not wait: encoded pictures without room are dropped, up to the next key frame for
  /// which there is room.
  case dropsToKeyFrame
}

/// The description of a track for an output.
struct OutputTrack: Sendable {
  enum Kind: Sendable, Hashable, CaseIterable {
    case video
    case audio
    case subtitles
    /// The titles of chapters, which belong to the output's video track.
    case chapters
  }

  typealias ID = Int

  /// The parameters with which the output encodes PCM samples as AAC.
  struct AudioEncoding: Sendable {
    /// The sample rate in hertz.
    var sampleRate: Double
    var channels: Int
    /// The bit rate over all channels, in bits a second.
    var bitRate: Int
  }

  var kind: Kind
  /// The format of the samples; nil if it is not known beforehand.
  var format: CMFormatDescription?
  /// How audio is encoded; nil stores its samples as they are.
  var encoding: AudioEncoding?
  /// The language by its code of ISO 639-2/T.
  var languageCode: String?
  /// Whether players use the track by default.
  var isEnabled = true
  /// The rotation with which players display the pictures.
  var transform = CGAffineTransform.identity
  /// The time scale in units per second; 0 leaves it to the output.
  var timescale: CMTimeScale = 0
  /// Whether the samples arrive in real time.
  var isPaced = false

  init(_ kind: Kind, format: CMFormatDescription?) { (self.kind, self.format) = (kind, format) }
}

/// The result of `Output.publish`.
struct OutputResult: Sendable {
  var fileBytes = 0
  /// The file's path, if it is not the intended one.
  var path: String?
  /// The reports about the servers.
  var servers: [ServerReport] = []
  /// The further files of the same encoding.
  var others: [AdditionalFile] = []
  /// Why further outputs have failed.
  var failures: [OutputFailure] = []
}

/// A further file of a run.
struct AdditionalFile: Sendable {
  /// The number of the output in `Destination.all`.
  var number: Int
  /// The file's path, if it is not the intended one.
  var path: String?
  var fileBytes: Int
}

/// Why one of several outputs has failed.
struct OutputFailure: Sendable {
  /// The number of the output in `Destination.all`.
  var number: Int
  var message: String
}

/// The output's part of the summary.
struct OutputReport: Sendable {
  var fileBytes = 0
  var audio = AudioReport()
  var text = TextReport()
  /// The number of encoded pictures that were dropped because the output had no room for them.
  var leftOut = 0
  /// The file's path, if it is not the intended one.
  var path: String?
  /// The reports about the servers.
  var servers: [ServerReport] = []
  /// The further files of the same encoding.
  var others: [AdditionalFile] = []
  /// Why further outputs have failed.
  var failures: [OutputFailure] = []
}
