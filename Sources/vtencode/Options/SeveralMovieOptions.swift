// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FFmpegMedia
import Foundation

/// The options for more than one movie.
struct SeveralMovieOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "More movies, encoded one after the other into the folder that --out names, each under its own name.",
      valueName: "more-movies"),
    completion: .file())
  var further: [String] = []

  @Flag(help: "Join the movies to one, in the given order. The audio is encoded.")
  var join = false

  /// Whether `--out` names a folder: a name that ends in a slash or, for several movies, a folder
  /// that exists. For one movie, the name of a folder without a slash may be a slip.
  func isFolder(_ out: String?) -> Bool {
    guard let out, out != "-", !StreamAddress.isAddress(out) else { return false }
    if out.hasSuffix("/") { return true }
    var isFolder: ObjCBool = false
    return !further.isEmpty && !join
      && FileManager.default.fileExists(atPath: out, isDirectory: &isFolder) && isFolder.boolValue
  }

  func validate(with options: EncodingOptions) throws {
    if join, further.isEmpty {
      throw ValidationError("--join needs at least two movies; give another one, or omit it.")
    }
    if join, options.audio.audio == .copy {
      throw ValidationError("--join encodes the audio, and --audio copy does not; give one of them.")
    }
    guard !further.isEmpty, !join else { return }
    if !isFolder(options.out) {
      throw ValidationError(
        "several movies need a folder to be written to, such as --out small/; --join makes one movie of them."
      )
    }
    for movie in [options.movie] + further
    where LiveSource.isReadOnce(movie) || InputFile.isStandardInput(movie) {
      throw ValidationError("'\(movie)' cannot be one of several inputs; encode it by itself.")
    }
    if options.sandboxing.sandbox {
      throw ValidationError("--sandbox is for one movie at a time; encode each by itself.")
    }
  }
}

/// Encodes several movies, one after the other, into a folder.
struct SeveralMovies: Sendable {
  let movies: [String]
  let options: EncodingOptions
  /// The paths of the files that are read next to the movies.
  let otherInputs: [String]

  /// Makes the folder of the output if it does not exist.
  /// - Throws: a `Failure` if that is not possible.
  static func makeFolder(_ folder: String) throws {
    guard !FileManager.default.fileExists(atPath: folder) else { return }
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    } catch {
      throw Failure("the folder '\(folder)' cannot be made: \(Failure.describe(error))")
    }
  }

  /// The path of the movie that is made of another one. It keeps its ending if movies of that type
  /// can be written, and gets `.mov` otherwise.
  static func path(of movie: String, in folder: String) -> String {
    let name: String
    if LiveSource.isLive(movie) {
      name = String(movie.prefix { $0 != ":" })
    } else {
      name = (movie as NSString).lastPathComponent
    }
    let ending = (name as NSString).pathExtension
    let kept = ["mov", "mp4", "m4v"].contains(ending.lowercased()) ? ending : "mov"
    return (folder as NSString).appendingPathComponent(
      (name as NSString).deletingPathExtension + "." + kept)
  }

  /// Encodes all movies, and says at the end how many were.
  /// - Parameter encode: encodes one movie with its own options.
  /// - Throws: a `Failure` with the exit status of the worst result, after all movies; that of an
  ///   interruption at once.
  func run(encode: (EncodingOptions) async throws -> Void) async throws {
    try checkNames()
    var failed: [(movie: String, failure: Failure)] = []
    for (index, movie) in movies.enumerated() {
      var options = options
      options.movie = movie
      if options.progressOption.progress == .auto {
        Console.note("[\(index + 1)/\(movies.count)] \(movie)")
      }
      do {
        try await encode(options)
      } catch {
        let failure = error as? Failure ?? Failure(Failure.describe(error))
        if Interrupt.shared.isRequested { throw failure }
        // Options that make no sense make none for the other movies.
        Console.printError(failure.message)
        failed.append((movie, failure))
      }
    }
    let damaged = failed.filter { $0.failure.status == SourceDamage.exitStatus }.count
    let lost = failed.count - damaged
    var parts = ["\(movies.count - failed.count) of \(TextFormat.plural(movies.count, "movie")) encoded"]
    if damaged > 0 { parts.append("\(damaged) damaged and encoded as far as possible") }
    if lost > 0 { parts.append("\(lost) failed") }
    let summary = parts.joined(separator: ", ")
    guard !failed.isEmpty else { return try Console.print(summary + "\n") }
    throw Failure(
      "\(summary): \(failed.map { "'\($0.movie)'" }.joined(separator: ", "))",
      status: lost > 0 ? EXIT_FAILURE : SourceDamage.exitStatus)
  }

  /// Checks that no two movies get the same name, and that no output is an input of any of the
  /// runs: with `--overwrite`, one run would replace what a later one reads.
  private func checkNames() throws {
    var known: [String: String] = [:]
    for movie in movies {
      let path = Self.path(of: movie, in: options.out ?? ".")
      if let other = known[path.lowercased()] {
        throw Failure(
          "'\(other)' and '\(movie)' would both become '\(path)'; encode one of them into another folder",
          status: 64)
      }
      known[path.lowercased()] = movie
      for input in movies.map({ InputFile.path(of: $0) }) + otherInputs
      where Destination.areSameFile(path, input) {
        throw Failure(
          "'\(movie)' would become '\(path)', which is one of the inputs; name another folder with --out",
          status: 64)
      }
    }
  }
}
