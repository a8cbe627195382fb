// SPDX-License-Identifier: Apache-2.0
import CSandbox
import FFmpegMedia
import Foundation

/// A subcommand that decodes what anybody may have made.
protocol SandboxedCommand {
  var options: EncodingOptions { get }
  /// Another file that it writes.
  var furtherOutput: String? { get }
}

extension SandboxedCommand {
  var furtherOutput: String? { nil }
}

/// Gives up, for the rest of the process, what a run does not need: the movies that it decodes come from anywhere.
///
/// What is left of the file system is the movie, for reading, the folder of the output, devices that were named, and what
/// the system says about processes (of others: state and arguments, no memory or environment) and the processors. What is left of the network, and of other programs, is nothing.
enum Sandbox {
  /// Enters it. To be called while the process has one thread: landlock holds for the thread that asks and those that it
  /// starts.
  /// - Throws: a `Failure` if the kernel cannot do it: a run that asks for it does not go on without.
  static func enter(reading inputs: [String], writing outputs: [String], devices: [String] = []) throws {
    // The second version is the first that lets a file move from one folder to another, as the finished movie does.
    guard ovt_landlock_version() >= 2 else {
      throw Failure(
        "--sandbox needs a kernel with landlock (5.19 or later, switched on), and this one has none")
    }
    guard threadCount() == 1 else {
      throw Failure("--sandbox has to be entered before other threads run")
    }
    var paths = (inputs + ["/proc/self", "/sys/devices/system/cpu"]).map {
      (path: $0, access: OVT_ACCESS_READ)
    }
    // libdispatch looks at its threads, which come later, in /proc/THREAD/stat, and ends the process if it cannot. What
    // there is of other processes' memory and environment stays out of reach: landlock counts looking at it as tracing.
    paths.append(("/proc", OVT_ACCESS_READ_FILES))
    for device in devices {
      // A path that is not there would be passed over.
      guard access(device, F_OK) == 0 else {
        throw Failure("--sandbox-device \(device): no such file or folder")
      }
      paths.append((device, OVT_ACCESS_DEVICE))
    }
    for output in outputs {
      paths.append((folder(of: output), OVT_ACCESS_WRITE))
    }
    let copies = paths.map { strdup($0.path) }
    defer { copies.forEach { free($0) } }
    let allowed = zip(copies, paths).map { ovt_allowed_path(path: $0, access: $1.access) }
    var code = ovt_landlock_restrict(allowed, Int32(allowed.count))
    if code == 0 { code = ovt_seccomp_restrict() }
    guard code == 0 else {
      throw Failure("--sandbox cannot be entered: \(String(cString: strerror(code)).lowercased())")
    }
  }

  static func enter(for command: any SandboxedCommand) throws {
    let options = command.options
    // A name that is derived from the movie's is one in the current folder.
    // Where the movie turns out to be interlaced, its filter could not be loaded any more. Without the library that is
    // said then.
    try? FilterLibrary.load()
    let output = options.out == "-" ? nil : Destination.target(of: options.out ?? "derived.mov")
    let movie = InputFile.path(of: options.movie)
    let isSequence = InputFile.isSequence(movie) && access(movie, F_OK) != 0
    // What a pipe is copied to has no place inside, unless it is there before.
    let copy = InputFile.isPipe(movie) ? try InputFile.prepareCopy() : nil
    try enter(
      reading: [isSequence ? folder(of: movie) : movie] + (copy.map { [$0] } ?? []),
      writing: [output, command.furtherOutput].compactMap { $0 },
      devices: options.sandboxDevice)
  }

  private static func threadCount() -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
  }
}
