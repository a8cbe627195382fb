// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FFmpegMedia
import Foundation
import VideoToolbox

/// The command line. Every failure prints one line on standard error and gives an exit status other
/// than 0.
@main
enum Main {
  static func main() async {
    // Without these signals, `write` returns an error for a closed pipe and for a file-size limit,
    // which is reported like any other error.
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    let arguments = joiningValues(Array(CommandLine.arguments.dropFirst()))
    do {
      try checkSubcommand(arguments.first)
      var command = try prepared(arguments)
      if let asynchronous = command as? any AsyncParsableCommand {
        // The command is not shared: it is created, changed and run here, in this order.
        nonisolated(unsafe) var alone = asynchronous
        try await alone.run()
      } else {
        try command.run()
      }
    } catch {
      exitProcess(with: error, arguments: arguments)
    }
  }

  /// Parses the arguments, enters the sandbox and checks the resource limits.
  /// - Throws: the parser's errors, and a `Failure` of the sandbox or the limits.
  private static func prepared(_ arguments: [String]) throws -> any ParsableCommand {
    var command = try VTEncode.parseAsRoot(arguments)
    // The sandbox is entered while the process has only one thread, because it would not restrict
    // other threads.
    if let sandboxed = command as? any SandboxedCommand { command = try enterSandbox(sandboxed) }
    try ResourceLimits.prepare(for: command)
    return command
  }

  /// Whether `--progress json` is among the arguments, even if the parser rejects them.
  private static func requestsJSONProgress(_ arguments: [String]) -> Bool {
    let options = arguments.prefix { $0 != "--" }
    return options.contains("--progress=json")
      || zip(options, options.dropFirst()).contains { $0 == "--progress" && $1 == "json" }
  }

  /// Enters the sandbox if `--sandbox` is given.
  /// - Returns: the command with the values that had to be determined before.
  private static func enterSandbox(_ command: some SandboxedCommand) throws -> any ParsableCommand {
    guard command.sandboxing.sandbox else { return command }
    var command = command
    Sandbox.loadLibraries()
    var needs = try command.prepareForSandbox()
    needs.devices = command.sandboxing.sandboxDevice
    try Sandbox.enter(needs)
    return command
  }

  private static func exitProcess(with error: any Error, arguments: [String]) -> Never {
    let code = VTEncode.exitCode(for: error)
    // The parser reports help and version as errors with a successful exit code, and prints them to
    // standard output.
    if !(error is Failure), code.isSuccess { VTEncode.exit(withError: error) }
    var failure =
      error as? Failure
      ?? (code == .validationFailure
        ? Failure(
          OptionAdvice.improved(VTEncode.message(for: error), arguments: arguments), status: code.rawValue)
        : Failure(Failure.describe(error)))
    // An address of a server may have a password or a key, which belongs in no message.
    for argument in arguments {
      let value =
        argument.hasPrefix("-") ? argument.firstIndex(of: "=").map { argument[$0...].dropFirst() } : nil
      failure.message = StreamAddress.redacting(value.map(String.init) ?? argument, in: failure.message)
    }
    Console.printError(failure.message)
    // An interrupted run or one of a damaged movie has already written its last event.
    if requestsJSONProgress(arguments), !Console.isConcluded || failure.status == EXIT_FAILURE {
      Console.conclude(FailureEvent(message: Console.oneLine(failure.message), status: failure.status))
    }
    exit(failure.status)
  }

  /// Checks the subcommand's name.
  /// - Throws: a `Failure` with the most similar subcommand, if the word is none.
  static func checkSubcommand(_ word: String?) throws {
    guard let word, !word.hasPrefix("-"), word != "help" else { return }
    let configurations = VTEncode.configuration.subcommands.map { ($0._commandName, $0.configuration) }
    let names = configurations.filter(\.1.shouldDisplay).map(\.0)
    guard !configurations.contains(where: { $0.0 == word || $0.1.aliases.contains(word) }) else { return }
    let near = names.min { distance($0, word) < distance($1, word) } ?? "transcoding"
    let hint =
      distance(near, word) <= max(word.count / 2, 2)
      ? "did you mean vtencode \(near)?"
      : FileManager.default.fileExists(atPath: word)
        ? "to encode a movie: vtencode transcoding '\(word)'"
        : "the subcommands are \(names.joined(separator: ", "))"
    throw Failure("'\(word)' is not a subcommand; \(hint)", status: 64)
  }

  /// The Levenshtein distance between two words.
  static func distance(_ one: String, _ other: String) -> Int {
    let target = Array(other)
    var row = Array(0...target.count)
    for (i, letter) in one.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, letterOfOther) in target.enumerated() {
        let above = row[j + 1]
        row[j + 1] = min(above + 1, row[j] + 1, diagonal + (letter == letterOfOther ? 0 : 1))
        diagonal = above
      }
    }
    return row[target.count]
  }

  /// Joins `--dimensions 640 360` to one argument, so that the movie may follow, and `--option -1`
  /// to `--option=-1`, so that the parser takes a negative number for a value and the range checks
  /// can refuse it.
  static func joiningValues(_ arguments: [String]) -> [String] {
    var joined: [String] = []
    var rest = arguments[...]
    // `export` has a flag `--multi-pass`, which takes no number.
    let passes = arguments.first == "export" ? nil : "--multi-pass"
    while let argument = rest.popFirst() {
      if argument == "--" { return joined + [argument] + rest }
      // The parser's own name for the option.
      if argument == "--help-all" {
        joined.append("--help-hidden")
        continue
      }
      guard argument.hasPrefix("--"), let value = rest.first else {
        joined.append(argument == passes ? "\(argument)=\(PassOptions.defaultCount)" : argument)
        continue
      }
      let isNegative = value.first == "-" && value.dropFirst().first?.isNumber == true
      if argument == "--dimensions", Double(value) != nil {
        rest.removeFirst()
        var size = value
        if let height = rest.first, Int(height) != nil {
          rest.removeFirst()
          size += "x\(height)"
        }
        joined.append("\(argument)=\(size)")
      } else if argument == passes {
        // The number may be omitted.
        if Int(value) != nil { rest.removeFirst() }
        joined.append("\(argument)=\(Int(value) ?? PassOptions.defaultCount)")
      } else if isNegative {
        rest.removeFirst()
        joined.append("\(argument)=\(value)")
      } else {
        joined.append(argument)
      }
    }
    return joined
  }
}

struct VTEncode: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "vtencode",
    abstract: "Encodes movies with VTCompressionSession.",
    discussion: """
      Examples:
        vtencode transcoding holiday.mov --codec hvc1 --out small.mp4
        vtencode streaming talk.mp4 --bitrate 2500k --cbr --out stream.mp4
        vtencode thumbnails holiday.mov --sheet 4x3 --out sheet.png
        vtencode encoders

      vtencode SUBCOMMAND --help shows the options that are used most, and --help-all shows all of them. Times \
      (seconds, m:ss, h:mm:ss), rates (k, M), sizes and sources (a file, -, x11:, v4l2:, test:) are written alike \
      everywhere.

      Exit status: 0 for success, 1 for failure, 2 if the movie is damaged and its readable part was written or \
      shown, 64 for invalid options, and 129, 130 and 143 for runs ended by SIGHUP, SIGINT and SIGTERM. A call of send \
      and receive that is ended by a signal is successful (0). --progress json reports the progress of a run, and its \
      result or error, as one JSON object per line on standard error. For completion in bash, zsh or fish: \
      vtencode --generate-completion-script SHELL.
      """,
    version: kOVTVersion,
    subcommands: [
      Transcoding.self, Streaming.self, Conferencing.self, Call.self,
    ] + liveCommands + [
      Play.self, Export.self, Thumbnails.self, Split.self, EncodeSegment.self, Join.self, Encoders.self,
      SandboxCheck.self,
    ])
}
