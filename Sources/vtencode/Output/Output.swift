// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// Where the encoded tracks of a run go: a movie, an elementary stream, or a server that takes a stream live.
///
/// The calls come in this order: `open` when there is a first sample, `add` for each track, `start`; then `append` once for
/// each track, at the same time; when all have returned `finish`, and `publish`. `abandon` comes in place of what is left,
/// at whatever point a run fails.
protocol Output: AnyObject, Sendable {
  // MARK: What it takes

  /// With its article, in a sentence: `a .mp4 file`.
  var name: String { get }
  /// The kinds of tracks that it has. A run leaves all others out without a word.
  var tracks: Set<OutputTrack.Kind> { get }
  /// Whether whoever reads the output is known to play such samples of sound. Others are encoded, unless the user says that
  /// they are to be copied.
  func plays(_ sound: CMFormatDescription) -> Bool
  /// It is read while it is written: a run that is interrupted has not left a part of it, but ended it.
  var isLive: Bool { get }
  /// Time stamps, those of decoding too, have to begin at zero; else they are those of the source.
  var beginsAtZero: Bool { get }
  var backPressure: BackPressure { get }
  /// What becomes of a run that is interrupted and has to be whole, for its message.
  var fateOfBrokenRun: String { get }

  // MARK: What it does

  /// Makes or reaches what it writes to. Nothing is made before there is a sample.
  func open() throws
  /// Adds a track.
  /// - Returns: What `append` names it by; nil if it cannot have such a track.
  func add(_ track: OutputTrack) throws -> OutputTrack.ID?
  /// All tracks are there; samples follow.
  func start() throws
  /// Takes the samples of a track, in decode order, until there are no more. It asks for one whenever it has room, so that
  /// the run waits for it.
  /// - Parameters:
  ///   - next: gives the next sample, which it may wait for; nil after the last.
  ///   - whenFull: told when the output takes no more of this track until it has more of another (true), and when it does
  ///     again.
  func append(
    to track: OutputTrack.ID, from next: @escaping @Sendable () throws -> CMSampleBuffer?,
    whenFull: @escaping @Sendable (Bool) -> Void
  ) async throws
  /// Writes what is left. The output is whole then, and nobody sees it yet unless it is live.
  func finish() async throws
  /// Gives a file its name; a live output has nothing to do.
  /// - Parameter isPart: the run was interrupted, and the output is not all that it was to be.
  func publish(isPart: Bool) throws -> OutputResult
  /// The run has failed. A file vanishes, and a live output tells whoever reads it. Waiting calls of `append` end.
  func abandon()
}

/// What an output does that has no room for a sample.
enum BackPressure: Sendable, Equatable {
  /// The run waits: all samples are to be there, however long it takes.
  case waits
  /// Pictures come at their own pace: those without room are left out, up to the next key frame that has some.
  case dropsToKeyFrame
}

/// A track that an output is to have.
struct OutputTrack: Sendable {
  enum Kind: Sendable, Hashable, CaseIterable {
    case video
    case sound
    case subtitles
    /// Titles, one after the other; of the output's video.
    case chapters
  }

  typealias ID = Int

  /// Sound that the output has to encode, as AAC: its samples are PCM.
  struct SoundEncoding: Sendable {
    /// Hertz.
    var sampleRate: Double
    var channels: Int
    /// For all channels.
    var bitRate: Int
  }

  var kind: Kind
  /// Of the samples; nil where it is not known beforehand.
  var format: CMFormatDescription?
  /// Nil stores sound as it comes.
  var encoding: SoundEncoding?
  /// ISO 639-2/T.
  var languageCode: String?
  /// Players show or play it unless told otherwise.
  var isEnabled = true
  /// How pictures are to be turned.
  var transform = CGAffineTransform.identity
  /// Units per second in which times are exact; 0 leaves it to the output.
  var timescale: CMTimeScale = 0
  /// The samples come at their own pace.
  var isPaced = false

  init(_ kind: Kind, format: CMFormatDescription?) { (self.kind, self.format) = (kind, format) }
}

/// What an output has written.
struct OutputResult: Sendable {
  var fileBytes = 0
  /// Where it was written, if that is not where it was meant to be.
  var path: String?
}

/// What a run has written, for the summary.
struct OutputReport: Sendable {
  var fileBytes = 0
  var sound = SoundReport()
  var text = TextReport()
  /// Pictures that were encoded, and left out since the output had no room for them.
  var leftOut = 0
  /// Where it was written, if that is not where it was meant to be.
  var path: String?
}
