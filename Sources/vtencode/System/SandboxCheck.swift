// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CSandbox
import Foundation

/// Shows which operations `--sandbox` still permits.
struct SandboxCheck: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sandbox-check",
    abstract: "Enters the sandbox of --sandbox and shows which operations it permits.",
    discussion: """
      Prints a line for each operation that is tried, with "works", or "fails" and the system's error. Operations that \
      work change nothing, because they set the present values. With --outside the same operations are tried without \
      the sandbox, for comparison.

      Examples:
        vtencode sandbox-check movie.mov --out out.mp4 /etc/passwd
        vtencode sandbox-check movie.mov --out out.mp4 --outside
        vtencode sandbox-check movie.mov --out out.mp4 --port 8080
      """)

  @Argument(help: "The movie that would be read.")
  var movie: String

  @Option(name: .shortAndLong, help: "The file that would be written.")
  var out: String

  @Option(help: "A device, or a folder of devices, that stays accessible.")
  var device: [String] = []

  @Flag(help: "Permit UDP, as for send and receive.")
  var datagrams = false

  @Option(help: ArgumentHelp("Permit UDP, and listening at this TCP port, as for --web.", valueName: "port"))
  var port: UInt16?

  @Flag(help: "Try without the sandbox.")
  var outside = false

  @Argument(help: "Files to try to open.")
  var others: [String] = []

  func run() throws {
    if !outside {
      let network = port.map(Sandbox.Network.server) ?? (datagrams ? .datagrams : .none)
      try Sandbox.enter(
        Sandbox.Needs(
          reading: [movie], writing: Sandbox.folders(of: out), devices: device, network: network))
    }
    printResult("read \(movie)", reads(movie))
    printResult("write \(out)", writes(out))
    for file in others {
      printResult("read \(file)", reads(file))
      printResult("control \(file)", controls(file))
      printResult("write \(file).new", writes(file + ".new"))
      printResult("change mode of \(file)", changesMode(file))
    }
    printResult("run", runs())
    var count: Int32 = 0
    let trials = ovt_trials(&count)
    for trial in UnsafeBufferPointer(start: trials, count: Int(count)) {
      printResult(String(cString: trial.name), trial.run())
    }
    print("capabilities \(Self.capabilities)")
  }

  /// The names or numbers (capability.h) of the remaining capabilities.
  private static var capabilities: String {
    let bits = ovt_capabilities()
    let names = (0..<64).filter { bits >> $0 & 1 == 1 }.map {
      switch $0 {
      case 1: "CAP_DAC_OVERRIDE"
      case 2: "CAP_DAC_READ_SEARCH"
      default: "\($0)"
      }
    }
    return names.isEmpty ? "none" : names.joined(separator: ", ")
  }

  private func printResult(_ what: String, _ code: Int32) {
    print(what, code == 0 ? "works" : "fails: \(String(cString: strerror(code)).lowercased())")
  }

  private func reads(_ path: String) -> Int32 {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    // Some files of the system can be opened but not read.
    var byte: UInt8 = 0
    return read(descriptor, &byte, 1) >= 0 || errno == EAGAIN || errno == EISDIR ? 0 : errno
  }

  /// Opens a file for reading and writing and sends it a device command (`ioctl`).
  private func controls(_ path: String) -> Int32 {
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    var size = winsize()
    // ENOTTY means that the command has reached a file that is not a terminal; the sandbox returns
    // another error.
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 || errno == ENOTTY ? 0 : errno
  }

  private func writes(_ path: String) -> Int32 {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return errno }
    close(descriptor)
    unlink(path)
    return 0
  }

  /// Sets a file's mode to its present value.
  private func changesMode(_ path: String) -> Int32 {
    var properties = stat()
    guard stat(path, &properties) == 0, chmod(path, properties.st_mode & 0o7777) == 0 else { return errno }
    return 0
  }

  /// Tries to execute a program that does not exist; an existing one would replace this process.
  /// ENOENT shows that executing is permitted.
  private func runs() -> Int32 {
    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("/none/of/this/name"), nil]
    defer { arguments.forEach { free($0) } }
    execv("/none/of/this/name", &arguments)
    return errno == ENOENT ? 0 : errno
  }
}
