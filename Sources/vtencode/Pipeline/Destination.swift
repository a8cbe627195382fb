// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import FFmpegMedia
import Foundation

/// The outputs of a run. Their folders are checked before anything is decoded.
struct Destination: Sendable {
  enum Kind: Sendable, Equatable {
    case movie(AVFileType)
    /// A file, or standard output if there is no path, in a container that libavformat writes.
    case container(StreamContainer)
    case elementaryStream
    /// An elementary stream.
    case standardOutput
    /// A server or receiver of a live stream, and the container if the address does not decide it.
    case server(StreamAddress, StreamContainer?)
    /// Segments next to a multivariant playlist, whose path it is.
    case segments(SegmentPlan)
  }

  var kind: Kind
  /// The file's path; nil for standard output.
  var path: String?
  /// Whether an existing file may be replaced: it existed when the user was asked.
  var replaces = false
  /// Whether an interrupted run leaves no file at all, not even one with `-part` in its name.
  var isAllOrNothing = false
  /// The time in the source at which the movie begins.
  var movieStart = CMTime.zero

  /// Further outputs of the same encoding.
  var further: [Destination] = []

  /// All outputs.
  var all: [Destination] { [self] + further }

  /// Whether the output can store a rotation of the picture.
  var hasTransform: Bool {
    all.allSatisfy { if case .movie = $0.kind { true } else { false } }
  }
  /// The path of the first output that is a file.
  var firstPath: String? { all.lazy.compactMap(\.path).first }
  var isStandardOutput: Bool { path == nil && !isServer }
  var isServer: Bool {
    if case .server = kind { true } else { false }
  }
  /// Whether every output is read while it is written, so that a user ends the run.
  var isLive: Bool { all.allSatisfy { $0.isServer || $0.segments?.isLive == true } }
  /// How segments are written; nil for other outputs.
  var segments: SegmentPlan? {
    if case .segments(let plan) = kind { plan } else { nil }
  }
  /// Whether a file's name asks for segments with a playlist.
  static func isPlaylist(_ argument: String) -> Bool {
    !StreamAddress.isAddress(argument) && (argument as NSString).pathExtension.lowercased() == "m3u8"
  }
  /// The name for people. It contains no secret of an address.
  var name: String {
    if case .server(let address, _) = kind { return address.description }
    return path ?? "standard output"
  }

  /// Whether the output holds subtitles.
  var holdsText: Bool {
    switch kind {
    case .movie, .segments: true
    case .container(let container): container.holdsText
    case .server, .elementaryStream, .standardOutput: false
    }
  }

  /// Whether the output holds audio.
  var holdsAudio: Bool {
    switch kind {
    case .movie, .container, .server, .segments: true
    case .elementaryStream, .standardOutput: false
    }
  }

  /// Whether audio of a format can be stored and is known to play there.
  func plays(_ audio: CMFormatDescription) -> Bool {
    switch kind {
    case .movie(let type): AudioTrackProperties.isPlayable(audio, in: type)
    case .container(let container): container.holds(audio)
    case .server(let address, let container): (container ?? address.container).holds(audio)
    case .segments: CodecString.of(audio) != nil
    case .elementaryStream, .standardOutput: false
    }
  }

  /// The suggestion in an error message if `--out` names no file that can be written; not every
  /// subcommand takes all of it.
  struct Choices: Sendable {
    var hasCodec = true
    var acceptsPipe = true
    var takesServer = false
    var takesContainers = true
    /// How segments are written; nil where none can be.
    var segments: SegmentPlan?
  }

  /// - Parameters:
  ///   - argument: the value of `--out`; nil derives a name from the movie's.
  ///   - movie: the input's path.
  ///   - suffix: is appended to the derived name, such as `transcoding`.
  ///   - codec: the codec, which must fit the file name's extension.
  ///   - format: the container on standard output, or to a server; nil for the usual one.
  ///   - choices: what error messages may suggest.
  /// - Throws: a `Failure` if nothing can be written there.
  init(
    argument: String?, movie: String, suffix: String, codec: Codec, format: StreamFormat? = nil,
    choices: Choices = Choices()
  ) throws {
    if let argument, StreamAddress.isAddress(argument) {
      kind = try Self.server(argument, codec: codec, format: format, choices)
      return
    }
    if argument == "-" {
      kind = try format.map { .container(try $0.container(for: codec)) } ?? .standardOutput
      guard isatty(STDOUT_FILENO) == 0 else {
        throw Failure("--out - writes a video stream; send standard output to a file or a program")
      }
      return
    }
    let derived = ((movie as NSString).lastPathComponent as NSString).deletingPathExtension + "-\(suffix).mov"
    let path = Self.target(of: argument ?? derived)
    self.path = path
    kind = try Self.kind(ofFile: path, codec: codec, choices)
    try checkFolder(path, movie: movie)
  }

  /// A movie at a path that has already been checked.
  init(movie path: String, type: AVFileType, start: CMTime = .zero) {
    kind = .movie(type)
    self.path = path
    movieStart = start
  }

  /// Follows symbolic links to the path that they lead to, whether it exists or not. The movie is
  /// written there, and the link stays.
  static func target(of path: String) -> String {
    var path = path
    // Linux follows at most 40 links too.
    for _ in 0..<40 {
      guard let link = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { return path }
      path = link.hasPrefix("/") ? link : folder(of: path) + "/" + link
    }
    return path
  }

  private func checkFolder(_ path: String, movie: String) throws {
    let parent = folder(of: path)
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: parent, isDirectory: &isFolder) else {
      throw Failure(
        "the output folder '\(parent)' does not exist; create it first (mkdir -p) or choose another")
    }
    guard isFolder.boolValue else {
      throw Failure("'\(parent)' is not a folder; choose another place with --out")
    }
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
      throw Failure("'\(path)' is a folder; give a file name with --out")
    }
    if Self.areSameFile(path, InputFile.path(of: movie)) {
      throw Failure("the output '\(path)' is the input itself; choose another name with --out")
    }
    guard access(parent, W_OK) == 0 else {
      throw Failure("cannot write into '\(parent)': \(Failure.advice(forSystemError: errno))")
    }
  }

  /// Whether two paths lead to the same file through links of any kind, or would if it existed.
  static func areSameFile(_ one: String, _ other: String) -> Bool {
    var first = stat()
    var second = stat()
    switch (stat(one, &first), stat(other, &second)) {
    case (0, 0): return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    case (0, _), (_, 0): return false
    default: break
    }
    guard (one as NSString).lastPathComponent == (other as NSString).lastPathComponent else { return false }
    return areSameFile(folder(of: one), folder(of: other))
  }
}
