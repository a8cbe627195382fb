// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// The input movie as a seekable file. Data from a pipe is copied to a temporary file first.
///
/// The index of a movie may be at its end, and its tracks are read at different paces, so a pipe
/// has to be read to its end before anything can be decoded. The copy has no name, so that it
/// disappears with the process, however that ends.
final class InputFile: Sendable {
  /// The name for messages, as the user gave it.
  let name: String
  /// A path at which the movie can be opened as often as needed.
  let path: String
  private let descriptor: Int32?

  /// - Parameters:
  ///   - argument: a path, a `file:` address, a name pattern of a sequence of pictures, or `-` for
  ///     standard input.
  ///   - isRegular: takes a regular file only, no pipe and no sequence of pictures.
  /// - Throws: a `Failure` if the input cannot be read, or if an interrupt ends its copying.
  init(_ argument: String, isRegular: Bool = false) throws {
    let given = Self.path(of: argument)
    if isRegular {
      (name, path, descriptor) = (argument, given, nil)
      do { try RegularFile.open(given) { _, _ in } } catch { throw RegularFile.failure(error, argument) }
      return
    }
    if Self.isStandardInput(argument) {
      name = "standard input"
      let copy = try Self.store(STDIN_FILENO, "standard input")
      descriptor = copy
      path = Self.path(of: copy)
      return
    }
    name = argument
    try LiveSource.refuse(argument)
    if given.contains("://") {
      let scheme = given.prefix(upTo: given.range(of: "://")?.lowerBound ?? given.startIndex)
      throw Failure(
        "'\(argument)' is a \(scheme) address, and only files are read; fetch it first, for instance with "
          + "curl '\(argument)' | vtencode ... -", status: 64)
    }
    var fileStatus = stat()
    guard stat(given, &fileStatus) == 0 else {
      if errno == ENOENT, Self.isSequence(given) {
        descriptor = nil
        path = given
        return
      }
      if errno == ENOENT || errno == ENOTDIR {
        throw Failure("there is no file '\(argument)'; check the name and the folder")
      }
      throw Failure("cannot read '\(argument)': \(String(cString: strerror(errno)).lowercased())")
    }
    switch fileStatus.st_mode & S_IFMT {
    case S_IFDIR: throw Self.isFolder(argument)
    case S_IFCHR, S_IFBLK:
      // A device may have no end, and it contains no movie file.
      throw Failure("'\(argument)' is a device; give a movie file")
    case S_IFIFO, S_IFSOCK:
      let opened = open(given, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      guard opened >= 0 else {
        throw Failure("cannot read '\(argument)': \(String(cString: strerror(errno)).lowercased())")
      }
      defer { close(opened) }
      let copy = try Self.store(opened, argument)
      descriptor = copy
      path = Self.path(of: copy)
    default:
      guard access(given, R_OK) == 0 else {
        throw Failure("cannot read '\(argument)': \(String(cString: strerror(errno)).lowercased())")
      }
      descriptor = nil
      path = given
    }
  }

  deinit { if let descriptor { close(descriptor) } }

  /// Whether it is a playlist of segments.
  var isPlaylist: Bool { descriptor == nil && (path as NSString).pathExtension.lowercased() == "m3u8" }

  /// The error for a folder in place of a movie.
  static func isFolder(_ name: String) -> Failure { Failure("'\(name)' is a folder; give a movie file") }

  /// The path of an argument, which may also be a `file:` address; `-` for names of standard input.
  static func path(of argument: String) -> String {
    if argument.hasPrefix("file://"), let url = URL(string: argument), url.isFileURL { return url.path }
    if argument == "/dev/stdin" || argument == "/dev/fd/0" { return "-" }
    return argument
  }

  static func isStandardInput(_ argument: String) -> Bool {
    ["-", "pipe:", "pipe:0"].contains(path(of: argument))
  }

  /// Whether the argument is a pipe or socket, which is copied to a file before it is read.
  static func isPipe(_ argument: String) -> Bool {
    var fileStatus = stat()
    return isStandardInput(argument)
      || stat(path(of: argument), &fileStatus) == 0
        && [S_IFIFO, S_IFSOCK].contains(fileStatus.st_mode & S_IFMT)
  }

  /// Whether a file name has a place for a number, such as `frame%04d.png`.
  static func isSequence(_ path: String) -> Bool {
    (path as NSString).lastPathComponent.range(of: "%0?[0-9]{0,2}d", options: .regularExpression) != nil
  }

  private static func path(of descriptor: Int32) -> String { "/proc/self/fd/\(descriptor)" }

  /// The files for the next copies of pipes, created before the sandbox was entered.
  private static let prepared = Mutex<[Int32]>([])

  /// Creates the file that a pipe will be copied to, before the sandbox makes its folder
  /// inaccessible.
  /// - Returns: the path at which it can be read.
  static func prepareCopy() throws -> String {
    let copy = try makeCopy()
    prepared.withLock { $0.append(copy) }
    return path(of: copy)
  }

  /// Creates a temporary file and removes its name.
  private static func makeCopy() throws -> Int32 {
    let folder = FileManager.default.temporaryDirectory.path
    var template = Array((folder as NSString).appendingPathComponent("vtencode-XXXXXX").utf8CString)
    let copy = mkstemp(&template)
    guard copy >= 0 else { throw cannotStore(in: folder, errno) }
    _ = fcntl(copy, F_SETFD, FD_CLOEXEC)
    template.withUnsafeBufferPointer { if let path = $0.baseAddress { _ = unlink(path) } }
    return copy
  }

  private static func cannotStore(in folder: String, _ code: Int32) -> Failure {
    let reason = Failure.advice(forSystemError: code, option: "TMPDIR")
    return Failure(
      "cannot store the data from the pipe in '\(folder)': \(reason)"
        + (reason.contains("TMPDIR") ? "" : "; TMPDIR names another place"))
  }

  /// Copies everything from a descriptor into a file without a name.
  private static func store(_ source: Int32, _ name: String) throws -> Int32 {
    guard isatty(source) == 0 else {
      throw Failure("standard input is a terminal; send a movie through a pipe, or name a file", status: 64)
    }
    var fileStatus = stat()
    var empty = stat()
    // A device may never end; /dev/null is an exception, and gives the error of an empty input.
    if fstat(source, &fileStatus) == 0, [S_IFCHR, S_IFBLK].contains(fileStatus.st_mode & S_IFMT),
      stat("/dev/null", &empty) != 0 || fileStatus.st_rdev != empty.st_rdev
    {
      throw Failure("\(name) is a device; send a movie through a pipe, or name a file")
    }
    Interrupt.shared.watch()
    let folder = FileManager.default.temporaryDirectory.path
    let ready = prepared.withLock { $0.popLast() }
    let copy = try ready ?? makeCopy()
    var isWhole = false
    defer { if !isWhole { close(copy) } }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { buffer.deallocate() }
    var total = 0
    while true {
      var waiting = pollfd(fd: source, events: Int16(POLLIN), revents: 0)
      let ready = poll(&waiting, 1, 200)
      if Interrupt.shared.isRequested {
        throw Failure(
          "interrupted while reading \(name); nothing was written", status: Interrupt.shared.status)
      }
      if ready < 0, errno != EINTR {
        throw Failure("cannot read \(name): \(Failure.advice(forSystemError: errno))")
      }
      // No data has come yet. Linux reports the end of a named pipe only after a writer has opened
      // it.
      if ready <= 0 { continue }
      let count = read(source, buffer.baseAddress, buffer.count)
      if count < 0 {
        if errno == EINTR || errno == EAGAIN { continue }
        throw Failure("cannot read \(name): \(Failure.advice(forSystemError: errno))")
      }
      if count == 0 { break }
      total += count
      var written = 0
      while written < count {
        let done = write(copy, buffer.baseAddress.map { $0 + written }, count - written)
        if done < 0 {
          if errno == EINTR { continue }
          throw cannotStore(in: folder, errno)
        }
        written += done
      }
    }
    guard total > 0 else { throw Failure("\(name) is empty; send a movie through the pipe") }
    isWhole = true
    return copy
  }
}
