import CFFmpeg
import Foundation

/// A file that comes into being whole, under its final name, or not at all.
///
/// The bytes go into a nameless file in the final folder (or, where the file system has none, into a hidden one) that
/// gets its name when it is complete. When the process dies before, the nameless file is gone with it.
package final class MuxerFile {
  package let finalPath: String
  /// What libavformat opens, for writing and for reading again.
  let workingURL: String
  private var descriptor: Int32
  /// The hidden file's path, where one was needed.
  private var temporaryPath: String?
  /// The file has its final name from the start (fragmented movies, which are playable at any time).
  private let isVisible: Bool

  /// - Parameters:
  ///   - path: The final name. Nothing may exist there.
  ///   - visible: Give the file its final name at once.
  package init(finalPath path: String, visible: Bool) throws {
    finalPath = path
    isVisible = visible
    let folder = (path as NSString).deletingLastPathComponent
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
    guard lstat(path, &status) != 0 else {
      throw MediaFileError(.fileExists, "\(path) exists already", code: ovt_averror(EEXIST))
    }

    var descriptor: Int32 = -1
    if visible {
      descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      if descriptor >= 0 { temporaryPath = path }
    } else {
      // O_TMPFILE is a macro that Swift does not import: __O_TMPFILE | O_DIRECTORY.
      descriptor = Glibc.open(directory, O_RDWR | 0o20_000_000 | O_DIRECTORY | O_CLOEXEC, 0o666)
      if descriptor >= 0, access("/proc/self/fd/\(descriptor)", R_OK | W_OK) != 0 {
        Glibc.close(descriptor)
        descriptor = -1
      }
      if descriptor < 0, errno != EACCES, errno != EROFS, errno != EPERM {
        let hidden = directory + "/.\(name).\(UInt32.random(in: 0 ... .max)).partial"
        descriptor = Glibc.open(hidden, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        if descriptor >= 0 { temporaryPath = hidden }
      }
    }
    guard descriptor >= 0 else {
      let code = ovt_averror(errno)
      throw MediaFileError.libav(code, "cannot write into \(directory)")
    }
    self.descriptor = descriptor
    workingURL = "file:" + (temporaryPath ?? "/proc/self/fd/\(descriptor)")
  }

  deinit { discard() }

  /// Gives the complete file its name. Nothing that exists is replaced.
  func commit() throws {
    guard descriptor >= 0 else { return }
    if !isVisible {
      let source = temporaryPath ?? "/proc/self/fd/\(descriptor)"
      var result = linkat(AT_FDCWD, source, AT_FDCWD, finalPath, temporaryPath == nil ? AT_SYMLINK_FOLLOW : 0)
      if result != 0, errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS, let temporaryPath {
        // No hard links on this file system.
        result = access(finalPath, F_OK) == 0 ? -1 : rename(temporaryPath, finalPath)
        if result == 0 { self.temporaryPath = nil }
      }
      guard result == 0 else {
        let error = MediaFileError.libav(
          ovt_averror(errno), "the finished movie cannot be named \(finalPath)")
        discard()
        throw error
      }
      if let temporaryPath { unlink(temporaryPath) }
    }
    temporaryPath = nil
    Glibc.close(descriptor)
    descriptor = -1
  }

  /// Removes what has been written.
  package func discard() {
    guard descriptor >= 0 else { return }
    if let temporaryPath { unlink(temporaryPath) }
    temporaryPath = nil
    Glibc.close(descriptor)
    descriptor = -1
  }

  /// Leaves the file as it is, cut to its first `length` bytes: complete fragments.
  func keep(length: Int64) {
    guard descriptor >= 0, isVisible, length > 0 else { return discard() }
    ftruncate(descriptor, off_t(length))
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
