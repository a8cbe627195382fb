// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A file that gets its final name when it is complete and flushed to the disk, and that is removed
/// if the run fails.
///
/// Until then it lies in a hidden folder of its own next to its final path, whose name cannot be
/// guessed. The folder is locked as long as the process lives; the next run removes folders that
/// are not locked.
final class PendingFile {
  let path: String
  private let finalPath: String
  private let folder: String
  private var lock: Int32
  private var isReleased = false
  /// Whether the file may replace an existing one under its final name.
  private let replaces: Bool

  private static let prefix = ".vtencode-"

  /// - Parameters:
  ///   - finalPath: the path that the file gets in the end.
  ///   - replaces: whether an existing file there may be replaced.
  ///   - isKept: whether the file is kept, with `-part` in its name, if the process has to end at
  ///     once, because it records live input.
  init(for finalPath: String, replaces: Bool, isKept: Bool = false) throws {
    self.finalPath = finalPath
    self.replaces = replaces
    let parent = vtencode.folder(of: finalPath)
    Self.removeLeftovers(in: parent)
    (folder, lock) = try Self.makeFolder(in: parent, for: finalPath)
    path = folder + "/" + (finalPath as NSString).lastPathComponent
    let keep: @Sendable () -> Void = { [path] in
      var status = stat()
      guard stat(path, &status) == 0, status.st_size > 0 else { return }
      try? Self.flush(path, O_RDONLY | O_NOFOLLOW, for: finalPath)
      _ = try? Self.linkWherePossible(path, as: finalPath, isPart: true)
    }
    Interrupt.shared.register(unfinished: path, keep: isKept ? keep : nil)
  }

  deinit { discard() }

  /// Creates such a file and removes it, so that a name that is too long or a folder that is not
  /// writable is found before the work begins.
  static func check(_ finalPath: String) throws {
    let trial = try PendingFile(for: finalPath, replaces: false)
    Foundation.close(try trial.open())
  }

  /// Creates the file, for an output that writes it through a descriptor.
  func open() throws -> Int32 {
    let descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
    if descriptor < 0 { throw Self.failure(errno, finalPath) }
    return descriptor
  }

  /// Flushes the file and gives it its final name. It replaces only a file that existed when the
  /// run began, if that was allowed; if the name has been taken since, or if the run was
  /// interrupted, the file gets a free name.
  /// - Parameter isPart: whether the run was interrupted, so that the file gets `-part` in its
  ///   name.
  /// - Returns: the path.
  @discardableResult
  func commit(isPart: Bool) throws -> String {
    try Self.flush(path, O_RDONLY | O_NOFOLLOW, for: finalPath)
    let name = try Interrupt.shared.naming(path) {
      defer { rmdir(folder) }
      if replaces && !isPart {
        guard rename(path, finalPath) == 0 else { throw Self.failure(errno, finalPath) }
        return finalPath
      }
      let name = try Self.linkWherePossible(path, as: finalPath, isPart: isPart)
      unlink(path)
      return name
    }
    release()
    try Self.flush(vtencode.folder(of: folder), O_RDONLY | O_DIRECTORY, for: finalPath)
    return name
  }

  /// Links the file to its final path if that is free, or to the first free one of `out-2.mp4`,
  /// `out-3.mp4` and so on. A part gets `out-part.mp4`, `out-part-2.mp4` and so on.
  private static func linkWherePossible(_ path: String, as finalPath: String, isPart: Bool) throws -> String {
    let ending = (finalPath as NSString).pathExtension
    let stem = (finalPath as NSString).deletingPathExtension
    let part = isPart ? "-part" : ""
    var status = stat()
    for number in 1..<10_000 {
      let mark = number > 1 ? "\(part)-\(number)" : part
      let name = mark.isEmpty ? finalPath : stem + mark + (ending.isEmpty ? "" : ".\(ending)")
      if link(path, name) == 0 { return name }
      // A file system may have no hard links. Then the file is renamed if `lstat` finds nothing at
      // the new path.
      if errno != EEXIST, lstat(name, &status) != 0 {
        guard rename(path, name) == 0 else { throw failure(errno, finalPath) }
        return name
      }
    }
    throw failure(EEXIST, finalPath)
  }

  func discard() {
    guard !isReleased else { return }
    unlink(path)
    release()
  }

  private func release() {
    isReleased = true
    rmdir(folder)
    close(lock)
    Interrupt.shared.unregister(unfinished: path)
  }

  private static func flush(_ path: String, _ flags: Int32, for finalPath: String) throws {
    let descriptor = Foundation.open(path, flags | O_CLOEXEC)
    // A folder may be writable without being readable.
    if descriptor < 0, flags & O_DIRECTORY != 0 { return }
    guard descriptor >= 0 else { throw failure(errno, finalPath) }
    defer { close(descriptor) }
    // Some file systems do not support `fsync`.
    if fsync(descriptor) != 0, errno != EINVAL, errno != ENOSYS, errno != ENOTSUP {
      throw failure(errno, finalPath)
    }
  }

  private static func failure(_ code: Int32, _ finalPath: String) -> Failure {
    Failure("cannot write '\(finalPath)'", systemError: code)
  }

  // MARK: - The folder

  private static func makeFolder(in parent: String, for finalPath: String) throws -> (
    path: String, lock: Int32
  ) {
    var code = EEXIST
    for _ in 0..<16 {
      var template = Array("\(parent)/\(prefix)XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else {
        code = errno
        break
      }
      let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let lock = Foundation.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      // Another run may have removed the folder as a leftover between its creation and its lock.
      var status = stat()
      if lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0 || errno == ENOLCK || errno == ENOSYS,
        stat(path, &status) == 0
      {
        return (path, lock)
      }
      code = errno
      if lock >= 0 { close(lock) }
      // The folder cannot be opened, so the next one could not be locked either.
      if lock < 0, code != ENOENT {
        rmdir(path)
        break
      }
    }
    throw failure(code, finalPath)
  }

  /// Removes the hidden folders of runs that were killed.
  private static func removeLeftovers(in parent: String) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
    for name in names where name.hasPrefix(prefix) && name.count == prefix.count + 6 {
      let path = parent + "/" + name
      let descriptor = Foundation.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      defer { close(descriptor) }
      var status = stat()
      // Only folders as `mkdtemp` creates them, with at most one file in them, are removed; other
      // folders may have such a name too.
      guard fstat(descriptor, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o777 == 0o700,
        flock(descriptor, LOCK_EX | LOCK_NB) == 0
      else { continue }
      // A run that encodes again (`RateRefinement`) has such a folder within the first one's.
      removeLeftovers(in: path)
      guard let files = try? FileManager.default.contentsOfDirectory(atPath: path), files.count <= 1 else {
        continue
      }
      if let file = files.first {
        guard lstat(path + "/" + file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
        unlink(path + "/" + file)
      }
      rmdir(path)
    }
  }
}
