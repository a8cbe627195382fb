// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

/// A file that appears under its final name only when it is complete.
///
/// The bytes are written to a nameless file (`O_TMPFILE`) in the final folder, or to a hidden one
/// where the file system does not support that. The file gets its name when it is complete. If the
/// process dies before, the nameless file is gone.
package final class MuxerFile {
  /// The path that the complete file has.
  package let finalPath: String
  /// The URL at which libavformat opens the file, for writing and for reading it back.
  let workingURL: String
  private var descriptor: Int32
  /// The path of the hidden file, or of a visible one; nil for a nameless file.
  private var temporaryPath: String?
  /// Whether the file has its final name from the start, as fragmented movies do, which are
  /// playable at any time.
  private let isVisible: Bool
  /// Properties of the existing file that is replaced when this one is complete; nil if there was
  /// none.
  private var replaced: stat?

  /// Creates the file.
  /// - Parameters:
  ///   - path: The final path. No file may exist there, unless `replaces` is true.
  ///   - visible: Whether the file gets its final name at once.
  ///   - replaces: Whether an existing regular file, which must be writable, is replaced when this
  ///     one is complete. Not possible for a visible file.
  /// - Throws: `MediaFileError`.
  package init(finalPath path: String, visible: Bool, replaces: Bool = false) throws {
    finalPath = path
    isVisible = visible
    let folder = folderPath(path)
    let directory = folder.isEmpty ? "." : folder
    let name = (path as NSString).lastPathComponent
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: directory, isDirectory: &isDirectory) else {
      throw MediaFileError(.notFound, "the folder \(directory) does not exist", code: ovt_averror(ENOENT))
    }
    guard isDirectory.boolValue else {
      throw MediaFileError(.notFound, "\(directory) is not a folder", code: ovt_averror(ENOTDIR))
    }
    var status = stat()
    if lstat(path, &status) == 0 {
      guard replaces, !visible else {
        throw MediaFileError(.fileExists, "\(path) exists already", code: ovt_averror(EEXIST))
      }
      guard status.st_mode & S_IFMT == S_IFREG else {
        throw MediaFileError(
          .fileExists, "\(path) exists, and is not a regular file", code: ovt_averror(EEXIST))
      }
      guard access(path, W_OK) == 0 else {
        throw MediaFileError(.notPermitted, "\(path) cannot be replaced", code: ovt_averror(errno))
      }
      replaced = status
    }

    var descriptor: Int32 = -1
    var createdPath: String?
    if visible {
      descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
      createdPath = path
    } else {
      // O_TMPFILE is a macro that Swift does not import: __O_TMPFILE | O_DIRECTORY.
      descriptor = Glibc.open(directory, O_RDWR | 0o20_000_000 | O_DIRECTORY | O_CLOEXEC, 0o666)
      if descriptor >= 0, access("/proc/self/fd/\(descriptor)", R_OK | W_OK) != 0 {
        Glibc.close(descriptor)
        descriptor = -1
      }
      if descriptor < 0, errno != EACCES, errno != EROFS, errno != EPERM {
        let hidden = HiddenFile(for: name, in: directory)
        hidden.removeLeftovers()
        (descriptor, createdPath) = hidden.create()
      }
    }
    guard descriptor >= 0 else {
      let code = ovt_averror(errno)
      throw MediaFileError.libav(code, "cannot write into \(directory)")
    }
    self.descriptor = descriptor
    temporaryPath = createdPath
    // The descriptor's path is preferred to the name, under which there may be another file by now.
    let own = "/proc/self/fd/\(descriptor)"
    workingURL = "file:" + (access(own, R_OK | W_OK) == 0 ? own : createdPath ?? own)
  }

  deinit { discard() }

  /// Flushes the complete file to storage and gives it its final name. If another file has taken
  /// the name meanwhile, the movie is kept under a different name, which is in the error.
  /// - Throws: `MediaFileError`.
  func commit() throws {
    guard descriptor >= 0 else { return }
    do {
      try flush(descriptor)
      if let replaced {
        try replaceExisting(of: replaced)
      } else if !isVisible {
        try renameToFinalName()
      }
      try close()
      try Self.flushFolder(of: finalPath)
    } catch {
      discard()
      throw error
    }
  }

  private func renameToFinalName() throws {
    var code = link(as: finalPath)
    if code == EEXIST, let other = chooseFreeName() {
      throw MediaFileError(
        .fileExists, "\(finalPath) exists by now; the finished movie is in \(other)",
        code: ovt_averror(EEXIST))
    }
    if code != 0, code != EEXIST, temporaryPath != nil {
      // The file system does not support hard links.
      code = rename(as: finalPath)
    }
    guard code == 0 else {
      throw MediaFileError.libav(ovt_averror(code), "the finished movie cannot be named \(finalPath)")
    }
    if let temporaryPath { unlink(temporaryPath) }
    temporaryPath = nil
  }

  /// Replaces the existing file atomically, so that the name always refers to one of the two.
  private func replaceExisting(of other: stat) throws {
    // The new file gets the permissions of the old one, so that it is not readable for more users.
    fchmod(descriptor, other.st_mode & 0o777)
    var code: Int32 = 0
    if temporaryPath == nil {
      let folder = folderPath(finalPath)
      let hidden = HiddenFile(
        for: (finalPath as NSString).lastPathComponent, in: folder.isEmpty ? "." : folder)
      hidden.removeLeftovers()
      (code, temporaryPath) = hidden.take(descriptor)
    }
    if let temporaryPath, Glibc.rename(temporaryPath, finalPath) != 0 { code = errno }
    guard code == 0 else {
      throw MediaFileError.libav(ovt_averror(code), "\(finalPath) cannot be replaced")
    }
    temporaryPath = nil
  }

  /// Links the file under a path. Fails if the path exists.
  /// - Returns: An error number, or 0.
  private func link(as path: String) -> Int32 {
    let source = temporaryPath ?? "/proc/self/fd/\(descriptor)"
    let result = linkat(AT_FDCWD, source, AT_FDCWD, path, temporaryPath == nil ? AT_SYMLINK_FOLLOW : 0)
    return result == 0 ? 0 : errno
  }

  private func rename(as path: String) -> Int32 {
    guard let temporaryPath else { return EINVAL }
    let code = ovt_rename_without_replacing(temporaryPath, path)
    if code == EINVAL || code == ENOSYS {
      guard access(path, F_OK) != 0 else { return EEXIST }
      guard Glibc.rename(temporaryPath, path) == 0 else { return errno }
    } else if code != 0 {
      return code
    }
    self.temporaryPath = nil
    return 0
  }

  /// Names the file "movie 2.mov", "movie 3.mov" and so on, whichever is free.
  /// - Returns: The path; nil if that fails.
  private func chooseFreeName() -> String? {
    let ending = (finalPath as NSString).pathExtension
    let stem = (finalPath as NSString).deletingPathExtension
    for number in 2...99 {
      let path = "\(stem) \(number)" + (ending.isEmpty ? "" : ".\(ending)")
      var code = link(as: path)
      if code != 0, code != EEXIST, temporaryPath != nil { code = rename(as: path) }
      if code == 0 {
        if let temporaryPath { unlink(temporaryPath) }
        temporaryPath = nil
        try? close()
        try? Self.flushFolder(of: path)
        return path
      }
      guard code == EEXIST else { return nil }
    }
    return nil
  }

  /// Some file systems report a full disk only when a file is closed.
  private func close() throws {
    let result = Glibc.close(descriptor)
    let code = errno
    descriptor = -1
    guard result == 0 || code == EINTR else {
      throw MediaFileError.libav(ovt_averror(code), "completing \(finalPath) failed")
    }
  }

  private func flush(_ descriptor: Int32) throws {
    // If the file system does not support fsync, the data is taken as written.
    guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOSYS || errno == ENOTSUP else {
      throw MediaFileError.libav(ovt_averror(errno), "completing \(finalPath) failed")
    }
  }

  /// Flushes the folder's entry of the new name to storage.
  private static func flushFolder(of path: String) throws {
    let folder = folderPath(path)
    let descriptor = Glibc.open(folder.isEmpty ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A folder that is writable but not readable cannot be flushed.
    guard descriptor >= 0 else { return }
    defer { Glibc.close(descriptor) }
    guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOSYS || errno == ENOTSUP else {
      throw MediaFileError.libav(ovt_averror(errno), "the name of \(path) cannot be written to the disk")
    }
  }

  /// Closes the file and deletes it.
  package func discard() {
    guard descriptor >= 0 else { return }
    if let temporaryPath { unlink(temporaryPath) }
    temporaryPath = nil
    Glibc.close(descriptor)
    descriptor = -1
  }

  /// Closes the file and keeps its first `length` bytes, which are complete fragments. Deletes it
  /// if it is not visible or nothing is to be kept.
  func keep(length: Int64) {
    guard descriptor >= 0, isVisible, length > 0, ftruncate(descriptor, off_t(length)) == 0 else {
      return discard()
    }
    fsync(descriptor)
    temporaryPath = nil
    Glibc.close(descriptor)
    descriptor = -1
  }

  func read(at offset: Int64, count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = pread(descriptor, &bytes, count, off_t(offset))
    return got == count ? bytes : nil
  }

  func write(_ bytes: [UInt8], at offset: Int64) throws {
    guard pwrite(descriptor, bytes, bytes.count, off_t(offset)) == bytes.count else {
      throw MediaFileError.libav(ovt_averror(errno), "writing \(finalPath) failed")
    }
  }

  var size: Int64 {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
  }
}
