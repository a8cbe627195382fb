// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Opens files whose names come from someone else, such as a file that a plan names.
///
/// Opening a pipe would block until it has a writer, and reading a device may never end. The file's
/// type is therefore checked before a byte is read, and only regular files are read.
enum RegularFile {
  /// The reason why a file was not read.
  enum Problem: Error {
    case system(Int32)
    /// It is a pipe, a device, a socket or a folder.
    case isOther
    case isTooLarge
  }

  /// Calls `body` with the open descriptor and the result of `fstat`.
  /// - Throws: a `Problem`, or what `body` throws.
  static func open<Value>(_ path: String, _ body: (Int32, stat) throws -> Value) throws -> Value {
    // Without `O_NONBLOCK`, opening a pipe blocks until it has a writer, and opening a tape device
    // may move the tape.
    let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw Problem.system(errno) }
    defer { close(descriptor) }
    var fileStatus = stat()
    guard fstat(descriptor, &fileStatus) == 0 else { throw Problem.system(errno) }
    guard fileStatus.st_mode & S_IFMT == S_IFREG else { throw Problem.isOther }
    return try body(descriptor, fileStatus)
  }

  /// Reads a whole file.
  /// - Parameter maximum: the largest size, in bytes.
  /// - Throws: a `Problem` if the file cannot be read or is larger.
  static func contents(_ path: String, maximum: Int) throws -> Data {
    try open(path) { descriptor, fileStatus in
      guard fileStatus.st_size <= maximum else { throw Problem.isTooLarge }
      // Reading one byte more shows whether the file has grown in the meantime.
      guard
        let data = try FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).read(
          upToCount: maximum + 1)
      else { return Data() }
      guard data.count <= maximum else { throw Problem.isTooLarge }
      return data
    }
  }

  /// The error message for a file that was not read.
  /// - Parameters:
  ///   - error: what `open` or `contents` has thrown.
  ///   - name: the file's name for the message.
  static func failure(_ error: any Error, _ name: String) -> Failure {
    switch error {
    case Problem.system(let code) where code == ENOENT || code == ENOTDIR:
      Failure("there is no file '\(name)'; check the name and the folder")
    case Problem.system(let code):
      Failure("cannot read '\(name)': \(String(cString: strerror(code)).lowercased())")
    case Problem.isOther:
      Failure("'\(name)' is not a regular file, but a pipe, a device or a folder; give a file")
    case Problem.isTooLarge: Failure("'\(name)' is too large to be what it should be")
    default: error as? Failure ?? Failure("cannot read '\(name)': \(Failure.describe(error))")
    }
  }
}
