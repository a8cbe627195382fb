// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A file whose first line is a key.
enum KeyFile {
  /// The largest file that is read, in bytes. A key has 64 characters.
  static let maxBytes = 4096

  /// Reads the first line of a file that only its owner can access.
  ///
  /// The checks apply to the opened descriptor, since the path may be replaced between a check and
  /// the opening. The file is opened without blocking on a pipe or a device.
  /// - Throws: a `Failure` with advice if the file cannot be read, is not a regular file, is too
  ///   large, or is accessible to others.
  static func firstLine(of path: String) throws -> String {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw failure(path, system: errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure(path, system: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw Failure(
        "cannot read the key from '\(path)': it is not a regular file, but \(kind(of: status.st_mode)); put "
          + "the key into a file"
      )
    }
    try checkRights(status, path)
    guard status.st_size <= maxBytes else {
      throw Failure(
        "cannot read the key from '\(path)': it has \(status.st_size) bytes, and a file with a key has no more than "
          + "\(maxBytes); is it another file?")
    }
    let text = String(decoding: try bytes(descriptor, path), as: UTF8.self)
    return text.split(whereSeparator: \.isNewline).first.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
  }

  /// Refuses a key that others can read or change, as ssh does.
  private static func checkRights(_ status: stat, _ path: String) throws {
    let others = status.st_mode & (S_IRWXG | S_IRWXO)
    guard others == 0 else {
      let mode = String(status.st_mode & 0o777, radix: 8)
      throw Failure(
        "others on this machine have access to the key in '\(path)' (its mode is \(mode)); remove it with "
          + "chmod 600 '\(path)', and make a new key if somebody may have read this one")
    }
  }

  private static func bytes(_ descriptor: Int32, _ path: String) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: maxBytes)
    var count = 0
    while count < maxBytes {
      let got = bytes.withUnsafeMutableBytes { buffer in
        buffer.baseAddress.map { read(descriptor, $0 + count, maxBytes - count) } ?? 0
      }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw failure(path, system: errno) }
      if got == 0 { break }
      count += got
    }
    return Array(bytes[..<count])
  }

  private static func kind(of mode: mode_t) -> String {
    switch mode & S_IFMT {
    case S_IFDIR: "a folder"
    case S_IFIFO: "a pipe"
    case S_IFCHR, S_IFBLK: "a device"
    default: "something else"
    }
  }

  private static func failure(_ path: String, system code: Int32) -> Failure {
    // ENXIO is the error of opening a socket.
    let reason = code == ENXIO ? "it is not a regular file" : String(cString: strerror(code)).lowercased()
    return Failure("cannot read the key from '\(path)': \(reason)")
  }
}
