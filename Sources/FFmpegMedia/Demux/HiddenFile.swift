// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

/// A file under a hidden name next to its final one, for file systems that have no nameless files, and for what takes the
/// place of another file.
///
/// Its name cannot be guessed, and as long as its maker lives it is locked: what is not locked was left behind.
struct HiddenFile {
  private let name: String
  private let folder: String
  private static let ending = ".partial"

  init(for name: String, in folder: String) {
    // Names have 255 bytes at most, and the rest needs some.
    var stem = name
    while stem.utf8.count > 200 { stem.removeLast() }
    self.name = stem
    self.folder = folder
  }

  /// - Returns: The open, locked file and its path; -1, with `errno` set, if there can be none.
  func create() -> (descriptor: Int32, path: String?) {
    for _ in 0..<16 {
      let path = randomPath()
      let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
      if descriptor < 0 {
        if errno == EEXIST { continue }
        return (-1, nil)
      }
      // A sweep may come between the making and the lock; then the file has no name any more.
      var status = stat()
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno == ENOLCK || errno == ENOSYS,
        fstat(descriptor, &status) == 0, status.st_nlink > 0
      {
        return (descriptor, path)
      }
      close(descriptor)
    }
    errno = EEXIST
    return (-1, nil)
  }

  /// Gives a nameless file such a name.
  /// - Parameter descriptor: of the file, which is locked.
  /// - Returns: 0 and the path, or an error number.
  func take(_ descriptor: Int32) -> (code: Int32, path: String?) {
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno == ENOLCK || errno == ENOSYS else {
      return (errno, nil)
    }
    for _ in 0..<16 {
      let path = randomPath()
      if linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 {
        return (0, path)
      }
      if errno != EEXIST { return (errno, nil) }
    }
    return (EEXIST, nil)
  }

  private func randomPath() -> String {
    let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
    return "\(folder)/.\(name)." + String(repeating: "0", count: 16 - digits.count) + digits + Self.ending
  }

  /// Removes files of this name whose makers have died.
  func removeLeftovers() {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for candidate in names where isOurs(candidate) {
      let path = folder + "/" + candidate
      let descriptor = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      defer { close(descriptor) }
      var status = stat()
      guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
        flock(descriptor, LOCK_EX | LOCK_NB) == 0
      else { continue }
      unlink(path)
    }
  }

  /// ".NAME.", sixteen hexadecimal digits, ".partial".
  private func isOurs(_ candidate: String) -> Bool {
    let start = ".\(name)."
    guard candidate.hasPrefix(start), candidate.hasSuffix(Self.ending) else { return false }
    let digits = candidate.dropFirst(start.count).dropLast(Self.ending.count)
    return digits.count == 16 && digits.allSatisfy(\.isHexDigit)
  }
}
