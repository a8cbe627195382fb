// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CSandbox
import Foundation

/// Shows what `--sandbox` leaves of the system.
struct SandboxCheck: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sandbox-check",
    abstract: "Enters the sandbox of --sandbox and tells what still works there.")

  @Argument(help: "The movie that would be read.")
  var movie: String

  @Option(name: .shortAndLong, help: "The file that would be written.")
  var out: String

  @Option(help: "A device, or a folder of devices, that stays within reach.")
  var device: [String] = []

  @Argument(help: "Files to try to open.")
  var others: [String] = []

  func run() throws {
    try Sandbox.enter(reading: [movie], writing: [out], devices: device)
    tell("read \(movie)", reads(movie))
    tell("write \(out)", writes(out))
    for file in others {
      tell("read \(file)", reads(file))
      tell("control \(file)", controls(file))
      tell("write \(file).new", writes(file + ".new"))
      tell("change mode of \(file)", changesMode(file))
    }
    tell("socket", makesSocket())
    tell("run", runs())
    tell("signal", signals())
    tell("limits of others", limits())
    tell("priority of others", prioritizes())
    tell("shared memory", sharesMemory())
    tell("pair of sockets", makesPair())
    tell("signals of files to others", ovt_own_signals(getppid()))
    tell("type into the terminal", ovt_type_nothing())
    tell("truncate by name", truncates())
  }

  private func tell(_ what: String, _ code: Int32) {
    print(what, code == 0 ? "works" : "fails: \(String(cString: strerror(code)).lowercased())")
  }

  private func reads(_ path: String) -> Int32 { result(open(path, O_RDONLY | O_CLOEXEC)) }

  /// Opens a file to read and write, and sends it a command of devices.
  private func controls(_ path: String) -> Int32 {
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    var size = winsize()
    // What is no terminal says so; a command that the sandbox does not let through never gets there.
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 || errno == ENOTTY ? 0 : errno
  }

  private func writes(_ path: String) -> Int32 {
    let code = result(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600))
    if code == 0 { unlink(path) }
    return code
  }

  /// Gives a file the mode that it has.
  private func changesMode(_ path: String) -> Int32 {
    var facts = stat()
    guard stat(path, &facts) == 0, chmod(path, facts.st_mode & 0o7777) == 0 else { return errno }
    return 0
  }

  /// Asks whether the process that started this one could be sent a signal.
  private func signals() -> Int32 { kill(getppid(), 0) == 0 ? 0 : errno }

  /// Gives the process that started this one the limit of core files that this one has.
  private func limits() -> Int32 { ovt_limit_core_files(getppid()) }

  /// Gives that process the priority that it has.
  private func prioritizes() -> Int32 {
    let parent = id_t(getppid())
    let priority = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), parent)
    return setpriority(__priority_which_t(PRIO_PROCESS.rawValue), parent, priority) == 0 ? 0 : errno
  }

  private func sharesMemory() -> Int32 {
    // Nobody else's: without a name.
    let memory = shmget(0, 4096, 0o600)
    guard memory >= 0 else { return errno }
    shmctl(memory, IPC_RMID, nil)
    return 0
  }

  private func makesPair() -> Int32 {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0, &ends) == 0 else { return errno }
    ends.forEach { _ = close($0) }
    return 0
  }

  /// Of a file that is not there.
  private func truncates() -> Int32 { truncate("/none-of-this-name", 0) == 0 || errno == ENOENT ? 0 : errno }

  private func makesSocket() -> Int32 { result(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)) }

  private func result(_ descriptor: Int32) -> Int32 {
    guard descriptor >= 0 else { return errno }
    close(descriptor)
    return 0
  }

  /// Tries to become another program.
  private func runs() -> Int32 {
    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/true"), nil]
    defer { arguments.forEach { free($0) } }
    execv("/bin/true", &arguments)
    return errno
  }
}
