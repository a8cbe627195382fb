// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// Where a silo's file is, and who in this process has it open.
///
/// Closing any descriptor of a file gives up all locks that the process has on it (POSIX): a file that is open here must
/// not even be looked into another time.
final class SiloPlace {
  /// Without links, so that the journal's name is the one that SQLite takes.
  let path: String

  private struct Identity: Hashable {
    var device: dev_t
    var node: ino_t
  }

  // These under `lock`, which is held while a silo is opened.
  private static let lock = Lock()
  private static nonisolated(unsafe) var inUse: Set<Identity> = []
  private var reserved: Identity?

  var journal: String { path + "-journal" }

  init(_ path: String) {
    let resolved = realpath(path, nil)
    defer { free(resolved) }
    self.path = resolved.map { String(cString: $0) } ?? path
  }

  /// Runs `open` with nobody else in this process at it, and notes the file that is there then as in use.
  /// - Throws: `busy` if it is in use already.
  func reserve<R>(_ open: () throws(SiloError) -> R) throws(SiloError) -> R {
    try Self.lock.withLock { () throws(SiloError) -> R in
      if let identity, Self.inUse.contains(identity) { throw .busy }
      let result = try open()
      reserved = identity
      if let reserved { Self.inUse.insert(reserved) }
      return result
    }
  }

  /// Gives up a file that was reserved; `close` may remove it before.
  func release(_ close: () -> Void) {
    Self.lock.withLock {
      close()
      if let reserved { Self.inUse.remove(reserved) }
      reserved = nil
    }
  }

  private var identity: Identity? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return Identity(device: status.st_dev, node: status.st_ino)
  }

  enum Content {
    case nothing
    /// A file without a byte.
    case empty
    /// A silo of any version, as far as its head tells.
    case silo
    case other
  }

  /// To be asked for while it is reserved.
  var content: Content {
    var status = stat()
    guard stat(path, &status) == 0 else { return errno == ENOENT || errno == ENOTDIR ? .nothing : .other }
    // To open a pipe is to wait for somebody.
    guard status.st_mode & S_IFMT == S_IFREG else { return .other }
    guard status.st_size > 0 else { return .empty }
    guard let file = FileHandle(forReadingAtPath: path) else { return .other }
    defer { try? file.close() }
    // The number of the format's application is at byte 68, big-endian.
    guard let head = try? file.read(upToCount: 72), head.count == 72,
      head.starts(with: "SQLite format 3\0".utf8),
      head.suffix(4).reduce(0, { $0 << 8 | Int64($1) }) == SiloFile.applicationID
    else { return .other }
    return .silo
  }

  /// Whether the journal beside the file names another one, which SQLite would remove with it. No transaction of a silo
  /// spans files: somebody else has written it.
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
