// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation

/// A subcommand that decodes data which anyone may have made.
protocol SandboxedCommand: ParsableCommand {
  var sandboxing: SandboxOptions { get }
  /// Does what is impossible inside the sandbox, such as looking up the address of a host.
  /// - Returns: the access that the run needs.
  mutating func prepareForSandbox() throws -> Sandbox.Needs
}

/// The option `--sandbox` and its companion.
struct SandboxOptions: ParsableArguments {
  @Flag(
    help: ArgumentHelp(
      "Before the movie is opened, give up access to the file system except for the movie and the output's "
        + "folder, to the network as far as the command does not need it, and all privileges: for movies "
        + "from untrusted sources. Needs landlock (Linux 5.19)."))
  var sandbox = false

  @Option(
    help: ArgumentHelp(
      "With --sandbox: a device, or a folder of devices, that stays accessible, for a hardware encoder or "
        + "decoder. Can be given several times.", valueName: "path"))
  var sandboxDevice: [String] = []

  func validate() throws {
    if !sandbox, !sandboxDevice.isEmpty {
      throw ValidationError("--sandbox-device goes with --sandbox; without it every device is accessible.")
    }
  }
}

/// A subcommand that encodes a movie.
protocol EncodingCommand: SandboxedCommand {
  var options: EncodingOptions { get }
  /// The path of another file that it writes; nil if there is none.
  var furtherOutput: String? { get }
  /// The arguments that name movies which it reads in addition to the first one.
  var furtherMovies: [String] { get }
  /// The paths of files other than movies that it reads.
  var furtherInputs: [String] { get }
}

extension EncodingCommand {
  var furtherOutput: String? { nil }
  var furtherMovies: [String] { [] }
  var furtherInputs: [String] { [] }
  var sandboxing: SandboxOptions { options.sandboxing }

  mutating func prepareForSandbox() throws -> Sandbox.Needs {
    Sandbox.Needs(
      reading: try ([options.movie] + furtherMovies).flatMap { try Sandbox.paths(ofMovie: $0) }
        + Sandbox.paths(ofFiles: furtherInputs),
      // A file name that is derived from the movie's is in the current folder.
      writing: Sandbox.folders(
        of: (options.outs.isEmpty ? ["derived.mov"] : options.outs) + [furtherOutput].compactMap(\.self)))
  }
}

extension Split: SandboxedCommand {
  var sandboxing: SandboxOptions { options.sandboxing }

  mutating func prepareForSandbox() throws -> Sandbox.Needs {
    Sandbox.Needs(reading: try Sandbox.paths(ofMovie: options.movie), writing: Sandbox.folders(of: plan))
  }
}

extension EncodeSegment: SandboxedCommand {
  mutating func prepareForSandbox() throws -> Sandbox.Needs {
    let folder = PartFolder(of: planOptions.plan)
    try folder.create()
    return Sandbox.Needs(reading: try planOptions.inputs(), writing: [folder.path])
  }
}

extension Join: SandboxedCommand {
  mutating func prepareForSandbox() throws -> Sandbox.Needs {
    Sandbox.Needs(
      reading: try planOptions.inputs() + [PartFolder(of: planOptions.plan).path],
      writing: Sandbox.folders(of: out))
  }
}

extension PlanOptions {
  /// The plan and its movie. The plan names the movie, so it has to be read before the sandbox is
  /// entered; it is parsed by Foundation's JSON decoder, which is written in Swift.
  fileprivate func inputs() throws -> [String] {
    let source = InputFile.path(of: try movie ?? EncodingPlanFile.read(plan).source.path)
    return try Sandbox.paths(ofFiles: [plan, source])
  }
}

extension Export: SandboxedCommand {
  mutating func prepareForSandbox() throws -> Sandbox.Needs {
    Sandbox.Needs(reading: try Sandbox.paths(ofMovie: movie), writing: Sandbox.folders(of: out))
  }
}

extension Play: SandboxedCommand {
  mutating func prepareForSandbox() throws -> Sandbox.Needs {
    Sandbox.Needs(
      reading: try Sandbox.paths(ofMovie: movie), writing: Sandbox.folders(of: snapshot), terminal: true)
  }
}

extension Call: SandboxedCommand {
  mutating func prepareForSandbox() throws -> Sandbox.Needs {
    Sandbox.Needs(
      reading: try Sandbox.paths(ofMovie: options.movie),
      writing: Sandbox.folders(
        of: options.report, options.results.dump, options.results.received, options.results.sdp,
        options.results.record),
      network: options.results.sdp == nil ? .none : .datagrams)
  }
}
