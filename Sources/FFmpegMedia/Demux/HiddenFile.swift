// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

/// A temporary file under a hidden name in the folder of the final file. It is used on file systems
/// without nameless files (`O_TMPFILE`), and where the result replaces an existing file.
///
/// The name has 64 random bits, and its creator holds a lock (`flock`) on the file: a file of such
/// a name that is not locked was left behind by a process that has ended.
struct HiddenFile {
  private let name: String
  private let folder: String
  private static let ending = ".partial"

  init(for name: String, in folder: String) {
    // File names have 255 bytes at most, of which the prefix and the suffix need some.
    var stem = name
    while stem.utf8.count > 200 { stem.removeLast() }
    self.name = stem
    self.folder = folder
  }

  /// Creates, opens and locks a file.
  /// - Returns: The file descriptor and the path; -1, with `errno` set, on failure.
  func create() -> (descriptor: Int32, path: String?) {
    for _ in 0..<16 {
      let path = randomPath()
      let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
      if descriptor < 0 {
        if errno == EEXIST { continue }
        return (-1, nil)
      }
      // `removeLeftovers` of another process may delete the file before it is locked; then its link
      // count is 0.
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

  /// Locks a nameless file and links it under a hidden name.
  /// - Parameter descriptor: The descriptor of the nameless file.
  /// - Returns: 0 and the path, or an error number and nil.
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

  /// Deletes the temporary files of this name whose creators have ended: those that can be locked.
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

  /// Whether a name is ".NAME.", sixteen hexadecimal digits and ".partial".
  private func isOurs(_ candidate: String) -> Bool {
    let start = ".\(name)."
    guard candidate.hasPrefix(start), candidate.hasSuffix(Self.ending) else { return false }
    let digits = candidate.dropFirst(start.count).dropLast(Self.ending.count)
    return digits.count == 16 && digits.allSatisfy(\.isHexDigit)
  }
}
