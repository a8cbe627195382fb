import ArgumentParser
import Foundation
import VideoToolbox

/// The command line. Every failure is one line on standard error and an exit status other than 0.
@main
enum Main {
  static func main() async {
    // A closed pipe and a file-size limit are reported by write(2), like every other error.
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    do {
      let arguments = joiningValues(Array(CommandLine.arguments.dropFirst()))
      var command = try VTEncode.parseAsRoot(arguments)
      // Before the first thread, which the sandbox would not hold.
      if let sandboxed = command as? any SandboxedCommand, sandboxed.options.sandbox {
        try Sandbox.enter(for: sandboxed)
      }
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch {
      leave(with: error)
    }
  }

  private static func leave(with error: any Error) -> Never {
    if let failure = error as? Failure {
      Console.complain(failure.message)
      exit(failure.status)
    }
    let code = VTEncode.exitCode(for: error)
    // Help and version are "errors" to the parser, and print to standard output.
    if code.isSuccess { VTEncode.exit(withError: error) }
    if code == .validationFailure {
      Console.complain(VTEncode.message(for: error))
      exit(code.rawValue)
    }
    Console.complain(Failure.describe(error))
    exit(EXIT_FAILURE)
  }

  /// `--dimensions 640 360` as one argument, so that the movie may follow it; and `--option -1` as `--option=-1`, so
  /// that a number below zero is told from an option, and refused as a number.
  static func joiningValues(_ arguments: [String]) -> [String] {
    var joined: [String] = []
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--" { return joined + [argument] + rest }
      guard argument.hasPrefix("--"), let value = rest.first else {
        joined.append(argument)
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
        vtencode encoders
      """,
    version: kOVTVersion,
    subcommands: [
      Transcoding.self, Streaming.self, Conferencing.self, Call.self, Encoders.self, SandboxCheck.self,
    ])
}
