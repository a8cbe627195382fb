// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// The path of a silo's file, with a register of the files that silos in this process have open.
///
/// Closing any descriptor of a file releases all locks that the process holds on it (POSIX), so a
/// file that is open here must not be opened another time, not even for reading.
final class SiloPath {
  /// The path with symbolic links resolved, so that `journal` is the name that SQLite uses.
  let path: String

  private struct Identity: Hashable {
    var device: dev_t
    var node: ino_t
  }

  // Guarded by `lock`, which is held while a silo is opened.
  private static let lock = Lock()
  /// The files that silos have open.
  private static nonisolated(unsafe) var inUse: Set<Identity> = []
  /// The file that this object has entered in `inUse`.
  private var reserved: Identity?

  /// The path of SQLite's rollback journal.
  var journal: String { path + "-journal" }

  init(_ path: String) {
    let resolved = realpath(path, nil)
    defer { free(resolved) }
    self.path = resolved.map { String(cString: $0) } ?? path
  }

  /// Opens the silo's file and enters it in the register. No other silo is opened in this process
  /// meanwhile.
  /// - Parameter open: Opens or creates the file.
  /// - Returns: The result of `open`.
  /// - Throws: `busy` if the file is open already, or the error of `open`.
  func reserve<R>(_ open: () throws(SiloError) -> R) throws(SiloError) -> R {
    try Self.lock.withLock { () throws(SiloError) -> R in
      if let identity, Self.inUse.contains(identity) { throw .busy }
      let result = try open()
      reserved = identity
      if let reserved { Self.inUse.insert(reserved) }
      return result
    }
  }

  /// Closes the silo's file and removes it from the register.
  /// - Parameter close: Closes the file; it may remove the file too.
  func release(_ close: () -> Void) {
    Self.lock.withLock {
      close()
      if let reserved { Self.inUse.remove(reserved) }
      reserved = nil
    }
  }

  /// The device and inode of the file at `path`; nil if there is none.
  private var identity: Identity? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return Identity(device: status.st_dev, node: status.st_ino)
  }

  enum Content {
    case nothing
    /// A file of 0 bytes.
    case empty
    /// A silo of any version, by the first bytes of the file.
    case silo
    case other
  }

  /// The kind of file at `path` now. It may be read within `reserve` only.
  var content: Content {
    var status = stat()
    guard stat(path, &status) == 0 else { return errno == ENOENT || errno == ENOTDIR ? .nothing : .other }
    // Opening a pipe would block until it has a writer.
    guard status.st_mode & S_IFMT == S_IFREG else { return .other }
    guard status.st_size > 0 else { return .empty }
    guard let file = FileHandle(forReadingAtPath: path) else { return .other }
    defer { try? file.close() }
    // SQLite stores the application ID at byte 68, big-endian.
    guard let head = try? file.read(upToCount: 72), head.count == 72,
      head.starts(with: "SQLite format 3\0".utf8),
      head.suffix(4).reduce(0, { $0 << 8 | Int64($1) }) == SiloFile.applicationID
    else { return .other }
    return .silo
  }

  /// Whether the journal next to the file names a super-journal, which SQLite would delete together
  /// with the journal. A silo's transactions never span several files, so that somebody else has
  /// written such a journal.
  var hasForeignJournal: Bool {
    var status = stat()
    guard stat(journal, &status) == 0 else { return false }
    guard status.st_mode & S_IFMT == S_IFREG, let file = FileHandle(forReadingAtPath: journal) else {
      return true
    }
    defer { try? file.close() }
    guard status.st_size >= 8 else { return false }
    guard (try? file.seek(toOffset: UInt64(status.st_size - 8))) != nil,
      let end = try? file.read(upToCount: 8)
    else { return true }
    return Array(end) == [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
  }
}
