// SPDX-License-Identifier: Apache-2.0
import CSandbox
import FFmpegMedia
import Foundation

/// Gives up, for the rest of the process, what a run does not need: the movies that it decodes come from anywhere.
///
/// What is left of the file system is the movie, for reading, the folder of the output, devices that were named, the
/// process's own part of `/proc`, and the system's random numbers, time zone, and what it says about the processors. What is left of the network is what the run
/// is about, of other programs nothing, and of capabilities none, or one for files of others.
enum Sandbox {
  /// What a run needs.
  struct Needs: Sendable {
    /// Files, or folders with all that is in them.
    var reading: [String] = []
    /// Folders that are written to.
    var writing: [String] = []
    var devices: [String] = []
    var network: Network = .none
    /// More that may be there, of the system's: what is not there is passed over.
    var system: [String] = []
    var terminal = false
  }

  /// Sockets that are left.
  enum Network: Sendable, Equatable {
    case none
    /// UDP.
    case datagrams
    /// UDP, and TCP to listen at a port.
    case server(port: UInt16)

    fileprivate var flags: UInt32 {
      switch self {
      case .none: 0
      case .datagrams: UInt32(OVT_NETWORK_DATAGRAMS)
      case .server: UInt32(OVT_NETWORK_DATAGRAMS | OVT_NETWORK_SERVER)
      }
    }

    fileprivate var ports: [UInt16] {
      if case .server(let port) = self { [port] } else { [] }
    }
  }

  /// Of the system's, what every run needs: without random numbers Foundation's identifiers would all be the same.
  private static let system = [
    "/proc/self", "/sys/devices/system/cpu", "/dev/urandom", "/dev/random", "/etc/localtime",
  ]

  /// Enters it. To be called while the process has one thread: landlock holds for the thread that asks and those that it
  /// starts.
  /// - Throws: a `Failure` if the kernel cannot do it: a run that asks for it does not go on without.
  static func enter(_ needs: Needs) throws {
    // The second version is the first that lets a file move from one folder to another, as the finished movie does.
    guard ovt_landlock_version() >= 2 else {
      throw Failure(
        "--sandbox needs a kernel with landlock (5.19 or later, switched on), and this one has none")
    }
    guard threadCount() == 1 else {
      throw Failure("--sandbox has to be entered before other threads run")
    }
    var paths = (needs.reading + needs.system + Self.system).map { (path: $0, access: OVT_ACCESS_READ) }
    for device in needs.devices {
      // A path that is not there would be passed over.
      guard access(device, F_OK) == 0 else {
        throw Failure("--sandbox-device \(device): no such file or folder")
      }
      paths.append((device, OVT_ACCESS_DEVICE))
    }
    // Keys that a person presses.
    if needs.terminal { paths.append(("/dev/tty", OVT_ACCESS_DEVICE)) }
    paths += needs.writing.map { ($0, OVT_ACCESS_WRITE) }
    let copies = paths.map { strdup($0.path) }
    defer { copies.forEach { free($0) } }
    let allowed = zip(copies, paths).map { ovt_allowed_path(path: $0, access: $1.access) }
    let ports = needs.network.ports
    let privilege = privilege(needs)
    var code = ovt_landlock_restrict(allowed, Int32(allowed.count), ports, Int32(ports.count))
    if code == 0 { code = ovt_drop_capabilities(privilege) }
    if code == 0 { code = ovt_seccomp_restrict(needs.network.flags) }
    guard code == 0 else {
      throw Failure("--sandbox cannot be entered: \(String(cString: strerror(code)).lowercased())")
    }
  }

  /// Root may read and write what belongs to others by a capability. It is kept where the run could not do without, and
  /// reaches no further than landlock lets it.
  private static func privilege(_ needs: Needs) -> ovt_file_privilege {
    guard ovt_capabilities() != 0 else { return OVT_FILES_OF_OTHERS_NOT }
    if (needs.writing.contains { ovt_is_denied_without_capabilities($0, W_OK | X_OK) != 0 })
      || needs.devices.contains(where: { ovt_is_denied_without_capabilities($0, R_OK) != 0 })
    {
      return OVT_FILES_OF_OTHERS_WRITTEN
    }
    let isDenied = (needs.reading + needs.writing).contains { path in
      if ovt_is_denied_without_capabilities(path, R_OK) != 0 { return true }
      guard let files = FileManager.default.enumerator(atPath: path) else { return false }
      // A folder's files are as its owner has made them: as many are asked as a plan has segments, thrice.
      return files.lazy.prefix(3 * PartFolder.mostSegments).contains { file in
        guard needs.reading.contains(path), let file = file as? String else { return false }
        return ovt_is_denied_without_capabilities(path + "/" + file, R_OK) != 0
      }
    }
    return isDenied ? OVT_FILES_OF_OTHERS_READ : OVT_FILES_OF_OTHERS_NOT
  }

  /// Where a movie is read: a pipe is copied to a file that has to be there before, and of a sequence of pictures it is the
  /// folder.
  static func places(ofMovie argument: String) throws -> [String] {
    let movie = InputFile.path(of: argument)
    if InputFile.isPipe(movie) { return [movie, try InputFile.prepareCopy()] }
    return [InputFile.isSequence(movie) && access(movie, F_OK) != 0 ? folder(of: movie) : movie]
  }

  /// The folders of files that are written; of a link's, where it leads to.
  static func folders(of files: String?...) -> [String] {
    files.compactMap { $0 }.filter { $0 != "-" }.map { folder(of: Destination.target(of: $0)) }
  }

  /// Libraries that are loaded with the first need of them, and could not be any more. Without one that is said then.
  static func loadLibraries() { try? FilterLibrary.load() }

  private static func threadCount() -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
  }
}
