// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A file whose name somebody else may have chosen, such as one that a plan names or that lies beside it.
///
/// A pipe would be waited for until somebody writes into it, and a device may never end: what is opened is looked at before a
/// byte is read, and nothing but a regular file is.
enum RegularFile {
  /// Why there is none.
  enum Problem: Error {
    case system(Int32)
    /// It is a pipe, a device, a socket or a folder.
    case isOther
    case isTooLarge
  }

  /// Calls `body` with an open file and what the system says of it.
  static func open<Value>(_ path: String, _ body: (Int32, stat) throws -> Value) throws -> Value {
    // To open a pipe for reading waits for its writer without this flag, and a tape may be wound.
    let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw Problem.system(errno) }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0 else { throw Problem.system(errno) }
    guard facts.st_mode & S_IFMT == S_IFREG else { throw Problem.isOther }
    return try body(descriptor, facts)
  }

  /// All of a file.
  /// - Parameter most: bytes that it may have.
  static func contents(_ path: String, most: Int) throws -> Data {
    try open(path) { descriptor, facts in
      guard facts.st_size <= most else { throw Problem.isTooLarge }
      // One byte more tells that it has grown meanwhile.
      guard
        let data = try FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).read(upToCount: most + 1)
      else { return Data() }
      guard data.count <= most else { throw Problem.isTooLarge }
      return data
    }
  }

  /// What is wrong with a file, for a person.
  /// - Parameter name: what it is called.
  static func failure(_ error: any Error, _ name: String) -> Failure {
    switch error {
    case Problem.system(let code) where code == ENOENT || code == ENOTDIR:
      Failure("there is no file '\(name)'; check the name and the folder")
    case Problem.system(let code):
      Failure("cannot read '\(name)': \(String(cString: strerror(code)).lowercased())")
    case Problem.isOther:
      Failure("'\(name)' is no file, but a pipe, a device or a folder; give a file")
    case Problem.isTooLarge: Failure("'\(name)' is too large to be what it should be")
    default: error as? Failure ?? Failure("cannot read '\(name)': \(Failure.describe(error))")
    }
  }
}
