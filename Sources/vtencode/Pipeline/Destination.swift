// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// Where a run writes to, checked before anything is decoded.
struct Destination: Sendable {
  enum Kind: Sendable, Equatable {
    case movie(AVFileType)
    case elementaryStream
    case standardOutput
  }

  var kind: Kind
  /// Nil for standard output.
  var path: String?
  /// Whether what has the name may lose it: something had it when that was asked.
  var replaces = false
  /// What is interrupted gets no name, not even that of a part.
  var isWholeOrNothing = false
  /// The time of the source that is the movie's beginning.
  var movieStart = CMTime.zero

  /// It says how its pictures are to be turned.
  var hasTransform: Bool {
    if case .movie = kind { true } else { false }
  }
  var isStandardOutput: Bool { kind == .standardOutput }
  var name: String { path ?? "standard output" }

  /// What may be advised where `--out` names no file that can be written: not every command has it.
  struct Choices: Sendable {
    var hasCodec = true
    var takesPipe = true
  }

  /// - Parameters:
  ///   - argument: what `--out` says; nil derives a name from the movie's.
  ///   - suffix: what distinguishes the derived name, such as `transcoding`.
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

  /// A movie at a place that is known to be good.
  init(movie path: String, type: AVFileType, start: CMTime = .zero) {
    kind = .movie(type)
    self.path = path
    movieStart = start
  }

  /// What a run writes to.
  func makeOutput(source: MovieSource, plan: EncodingPlan) -> any Output {
    switch kind {
    case .movie(let type):
      MovieOutput(
        path: path ?? "", type: type, replaces: replaces, beginning: movieStart, metadata: source.metadata,
        isFastStart: plan.isFastStart)
    case .elementaryStream, .standardOutput: ElementaryStreamOutput(path: path, replaces: replaces)
    }
  }

  /// What a link's name leads to, there or not: a movie goes to its place, and the link stays.
  static func target(of path: String) -> String {
    var path = path
    // As many as the system follows.
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

  /// Whether two paths lead to one file, through links of any kind too, or would once it is there.
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
