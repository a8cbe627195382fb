// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Foundation
import Synchronization

/// A hidden folder for a run's temporary files: statistics, frames of a pass, parts of a movie.
///
/// It is removed with the run. The process locks it as long as it lives, and the next run in the
/// same folder removes folders that killed processes have left.
final class ScratchFolder: Sendable {
  let path: String
  private let lock: Int32
  private let isRemoved = Mutex(false)

  static let prefix = ".vtscratch-"
  /// The name of an empty file in the folder, which identifies it as one of ours.
  private static let mark = ".vtencode-scratch"

  /// - Parameter parent: the folder of the output, where there is room for the files.
  /// - Throws: a `Failure` if the folder cannot be created.
  init(in parent: String) throws {
    Self.removeLeftovers(in: parent)
    var template = Array("\(parent)/\(Self.prefix)XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw Failure("cannot make a folder in '\(parent)'", systemError: errno)
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // The folder is locked before the mark is created, because only marked folders are taken for
    // leftovers.
    lock = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    _ = flock(lock, LOCK_EX | LOCK_NB)
    let marked = lock < 0 ? -1 : open(path + "/" + Self.mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard marked >= 0 else {
      let code = errno
      // Without the mark, no later run would remove the folder.
      rmdir(path)
      if lock >= 0 { close(lock) }
      throw Failure("cannot use a folder in '\(parent)'", systemError: code)
    }
    close(marked)
    Interrupt.shared.register(scratch: path)
  }

  deinit { remove() }

  /// Removes the folder with its contents, once. To be called at the end of a run whose objects may
  /// outlive it, because a process does not wait for their `deinit`.
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
