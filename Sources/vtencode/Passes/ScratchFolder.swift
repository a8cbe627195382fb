// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Foundation
import Synchronization

/// A hidden folder for what a run keeps on disk meanwhile: statistics, frames of a pass, parts of a movie.
///
/// It goes with the run. As long as the process lives it is locked; what a process that was killed has left, the next run
/// that writes beside removes.
final class ScratchFolder: Sendable {
  let path: String
  private let lock: Int32
  private let isRemoved = Mutex(false)

  static let prefix = ".vtscratch-"
  /// Empty, and in every folder of ours: nobody else's has it.
  private static let mark = ".vtencode-scratch"

  /// - Parameter parent: beside what is written, where there is room for it.
  init(in parent: String) throws {
    Self.removeLeftovers(in: parent)
    var template = Array("\(parent)/\(Self.prefix)XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw Failure("cannot make a folder in '\(parent)'", systemError: errno)
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // Locked before it is marked: what has no mark is not taken for a leftover.
    lock = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    _ = flock(lock, LOCK_EX | LOCK_NB)
    let marked = lock < 0 ? -1 : open(path + "/" + Self.mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard marked >= 0 else {
      let code = errno
      // Nobody would know it for a leftover.
      rmdir(path)
      if lock >= 0 { close(lock) }
      throw Failure("cannot use a folder in '\(parent)'", systemError: code)
    }
    close(marked)
    Interrupt.shared.register(scratch: path)
  }

  deinit { remove() }

  /// Removes it with all that is in it, once. To be called where others hold the object for longer than the run lasts: a
  /// process that ends does not wait for them.
  func remove() {
    let isFirst = isRemoved.withLock { isRemoved in
      defer { isRemoved = true }
      return !isRemoved
    }
    guard isFirst else { return }
    ovt_remove_folder(lock, path)
    Interrupt.shared.unregister(scratch: path)
    close(lock)
  }

  func url(_ name: String) -> URL { URL(fileURLWithPath: path + "/" + name) }

  private static func removeLeftovers(in parent: String) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
    for name in names where name.hasPrefix(prefix) && name.count == prefix.count + 6 {
      let path = parent + "/" + name
      let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      defer { close(descriptor) }
      var status = stat()
      guard fstat(descriptor, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o777 == 0o700,
        access(path + "/" + mark, F_OK) == 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0
      else { continue }
      try? FileManager.default.removeItem(atPath: path)
    }
  }
}
