// SPDX-License-Identifier: Apache-2.0
import CSandbox
import FFmpegMedia
import Foundation

/// Gives up, for the rest of the process, the rights that a run does not need, since the movies
/// that it decodes may come from anyone.
///
/// Of the file system, the run keeps the movie for reading, the output's folder, devices that were
/// named, the process's own part of `/proc`, and the system's random numbers, time zone and
/// description of the processors. It keeps the network only as far as the run uses it, cannot start
/// other programs, and has no capabilities except, where necessary, the one for other users' files.
enum Sandbox {
  /// The access that a run needs.
  struct Needs: Sendable {
    /// Files, or folders with all their contents.
    var reading: [String] = []
    /// Folders in which files are written.
    var writing: [String] = []
    var devices: [String] = []
    var network: Network = .none
    /// Further files of the system for reading; missing ones are ignored.
    var system: [String] = []
    var terminal = false
  }

  /// The kinds of sockets that stay available.
  enum Network: Sendable, Equatable {
    case none
    /// UDP.
    case datagrams
    /// UDP, and TCP for listening at a port.
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

  /// Files of the system that every run needs. Without random numbers, all of Foundation's
  /// identifiers would be the same.
  private static let system = [
    "/proc/self", "/sys/devices/system/cpu", "/dev/urandom", "/dev/random", "/etc/localtime",
  ]

  /// Enters the sandbox. To be called while the process has one thread, because landlock restricts
  /// the calling thread and those that it starts.
  /// - Throws: a `Failure` if the kernel does not support it; a run that asks for the sandbox does
  ///   not continue without it.
  static func enter(_ needs: Needs) throws {
    // Version 2 of landlock is the first that permits moving a file between folders, which
    // publishing a movie needs.
    guard ovt_landlock_version() >= 2 else {
      throw Failure(
        "--sandbox needs a kernel with landlock (5.19 or later, switched on), and this one has none")
    }
    guard threadCount() == 1 else {
      throw Failure("--sandbox has to be entered before other threads run")
    }
    var paths = (needs.reading + needs.system + Self.system).map { (path: $0, access: OVT_ACCESS_READ) }
    for device in needs.devices {
      // Landlock would ignore a missing path.
      guard access(device, F_OK) == 0 else {
        throw Failure("--sandbox-device \(device): no such file or folder")
      }
      paths.append((device, OVT_ACCESS_DEVICE))
    }
    // The terminal, for the keys that the user presses.
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

  /// The file capability that a run by root keeps. Root accesses other users' files by a
  /// capability, which is kept only where the run needs it, and which landlock confines to the
  /// allowed paths.
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
      // The files in a folder may have any owner and mode. At most three times as many as a plan
      // has segments are checked.
      return files.lazy.prefix(3 * PartFolder.maxSegments).contains { file in
        guard needs.reading.contains(path), let file = file as? String else { return false }
        return ovt_is_denied_without_capabilities(path + "/" + file, R_OK) != 0
      }
    }
    return isDenied ? OVT_FILES_OF_OTHERS_READ : OVT_FILES_OF_OTHERS_NOT
  }

  /// The paths that reading a movie needs. A pipe is copied to a file, which is created here
  /// because it cannot be created inside the sandbox; a sequence of pictures needs its folder, and
  /// so does a playlist.
  /// - Throws: a `Failure` if the argument names a folder, which would make all of its contents
  ///   accessible.
  static func paths(ofMovie argument: String) throws -> [String] {
    let movie = InputFile.path(of: argument)
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: movie, isDirectory: &isFolder), isFolder.boolValue {
      throw InputFile.isFolder(argument)
    }
    if InputFile.isPipe(movie) { return [movie, try InputFile.prepareCopy()] }
    if Destination.isPlaylist(movie) {
      // All of the folder becomes readable.
      let folder = folder(of: Destination.target(of: movie))
      let home = FileManager.default.homeDirectoryForCurrentUser.path
      guard folder != "/", (folder as NSString).standardizingPath != (home as NSString).standardizingPath
      else {
        throw Failure(
          "--sandbox would let '\(argument)' read all of '\(folder)'; move the playlist and its segments to a "
            + "folder of their own", status: 64)
      }
      return [folder]
    }
    return [InputFile.isSequence(movie) && access(movie, F_OK) != 0 ? folder(of: movie) : movie]
  }

  /// The paths of files that are read, which are not movies.
  /// - Throws: a `Failure` for what is not a regular file: a folder would make all of its contents
  ///   accessible.
  static func paths(ofFiles files: [String]) throws -> [String] {
    for file in files {
      do { try RegularFile.open(file) { _, _ in } } catch { throw RegularFile.failure(error, file) }
    }
    return files
  }

  /// The folders of files that are written, after following symbolic links.
  static func folders(of files: String?...) -> [String] { folders(of: files) }

  static func folders(of files: [String?]) -> [String] {
    files.compactMap { $0 }.filter { $0 != "-" }.map { folder(of: Destination.target(of: $0)) }
  }

  /// Loads libraries that are otherwise loaded at their first use, which is impossible inside the
  /// sandbox. If one is missing, its first use reports it.
  static func loadLibraries() { try? FilterLibrary.load() }

  private static func threadCount() -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
  }
}
