// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// Where a run writes to. The place is checked before anything is decoded.
struct Destination: Sendable {
  enum Kind: Sendable, Equatable {
    case movie(AVFileType)
    case elementaryStream
    case standardOutput
  }

  var kind: Kind
  /// The file's path; nil for standard output.
  var path: String?
  /// Whether an existing file may be replaced: it existed when the user was asked.
  var replaces = false
  /// Whether an interrupted run leaves no file at all, not even one with `-part` in its name.
  var isWholeOrNothing = false
  /// The time in the source at which the movie begins.
  var movieStart = CMTime.zero

  /// Whether the output can store a rotation of the picture.
  var hasTransform: Bool {
    if case .movie = kind { true } else { false }
  }
  var isStandardOutput: Bool { kind == .standardOutput }
  var name: String { path ?? "standard output" }

  /// What an error message may suggest if `--out` names no file that can be written; not every
  /// subcommand takes all of it.
  struct Choices: Sendable {
    var hasCodec = true
    var takesPipe = true
  }

  /// - Parameters:
  ///   - argument: the value of `--out`; nil derives a name from the movie's.
  ///   - movie: the input's path.
  ///   - suffix: is appended to the derived name, such as `transcoding`.
  ///   - codec: the codec, which must fit the file name's extension.
  ///   - choices: what error messages may suggest.
  /// - Throws: a `Failure` if nothing can be written there.
  init(argument: String?, movie: String, suffix: String, codec: Codec, choices: Choices = Choices()) throws {
    if argument == "-" {
      kind = .standardOutput
      guard isatty(STDOUT_FILENO) == 0 else {
        throw Failure("--out - writes a video stream; send standard output to a file or a program")
      }
      return
    }
    let derived = ((movie as NSString).lastPathComponent as NSString).deletingPathExtension + "-\(suffix).mov"
    let path = Self.target(of: argument ?? derived)
    self.path = path
    kind = try Self.kind(ofFile: path, codec: codec, choices)
    try checkPlace(path, movie: movie)
  }

  /// A movie at a path that has already been checked.
  init(movie path: String, type: AVFileType, start: CMTime = .zero) {
    kind = .movie(type)
    self.path = path
    movieStart = start
  }

  /// Makes the output that the run writes to.
  func makeOutput(source: MovieSource, plan: EncodingPlan) -> any Output {
    switch kind {
    case .movie(let type):
      MovieOutput(
        path: path ?? "", type: type, replaces: replaces, beginning: movieStart, metadata: source.metadata,
        isFastStart: plan.isFastStart)
    case .elementaryStream, .standardOutput: ElementaryStreamOutput(path: path, replaces: replaces)
    }
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

  private static func kind(ofFile path: String, codec: Codec, _ choices: Choices) throws -> Kind {
    let ending = (path as NSString).pathExtension.lowercased()
    switch ending {
    case "mov", "qt": return .movie(.mov)
    case "mp4": return .movie(.mp4)
    case "m4v": return .movie(.m4v)
    case "264", "h264", "avc", "265", "h265", "hevc":
      let isHEVC = ["265", "h265", "hevc"].contains(ending)
      guard isHEVC == (codec == .hvc1) else {
        throw Failure(
          "a .\(ending) file cannot hold \(codec.name); name it .\(codec.streamEnding)"
            + (choices.hasCodec ? ", or choose --codec \(isHEVC ? "hvc1" : "avc1")" : ""), status: 64)
      }
      return .elementaryStream
    case "mkv", "webm", "ts", "m2ts", "avi", "gif", "webp":
      // FFmpeg rewraps what was encoded without loss; the codecs of the others are not encoded here.
      let advice =
        ["mkv", "ts", "m2ts", "avi"].contains(ending)
        ? "end the name of --out in .mp4, and ffmpeg -i FILE.mp4 -c copy FILE.\(ending) rewraps it without loss"
        : "they hold neither H.264 nor HEVC, which are what vtencode encodes; end the name of --out in .mp4"
      throw Failure("cannot write .\(ending) files: \(advice)", status: 64)
    default:
      let what = ending.isEmpty ? "'\(path)' has no file type" : "cannot write .\(ending) files"
      let streams = choices.hasCodec ? ".264 or .265" : "or .\(codec.streamEnding)"
      throw Failure(
        "\(what); end the name of --out in .mov, .mp4, .m4v\(choices.hasCodec ? "," : "") \(streams)"
          + (choices.takesPipe ? ", or give -" : ""), status: 64)
    }
  }

  private func checkPlace(_ path: String, movie: String) throws {
    let place = folder(of: path)
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: place, isDirectory: &isFolder) else {
      throw Failure(
        "the output folder '\(place)' does not exist; create it first (mkdir -p) or choose another")
    }
    guard isFolder.boolValue else {
      throw Failure("'\(place)' is not a folder; choose another place with --out")
    }
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
      throw Failure("'\(path)' is a folder; give a file name with --out")
    }
    if Self.areSameFile(path, InputFile.path(of: movie)) {
      throw Failure("the output '\(path)' is the input itself; choose another name with --out")
    }
    guard access(place, W_OK) == 0 else {
      throw Failure("cannot write into '\(place)': \(Failure.advice(forSystemError: errno))")
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
