// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Foundation
import VideoEncoding

/// The file with the statistics of a pass that has ended, for the next pass.
package final class PassFile {
  /// The size of the file in bytes.
  package let size: Int
  /// The file descriptor.
  private let descriptor: Int32
  /// The time of the last modification when the file was opened.
  private let changed: timespec

  /// Opens a file.
  /// - Parameter path: its path.
  /// - Throws: `CodecError.badData` if it is not a regular file, or cannot be read.
  package init(_ path: String) throws(CodecError) {
    // Does not wait for a writer if there is a pipe of that name.
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    var properties = stat()
    guard descriptor >= 0, fstat(descriptor, &properties) == 0, properties.st_mode & S_IFMT == S_IFREG else {
      if descriptor >= 0 { close(descriptor) }
      throw .badData("the statistics of the first pass cannot be read")
    }
    size = Int(properties.st_size)
    changed = properties.st_mtim
  }

  deinit { close(descriptor) }

  /// Reads bytes for `StoredPass`.
  /// - Parameters:
  ///   - offset: the offset of the first byte.
  ///   - count: the number of bytes.
  /// - Returns: fewer bytes at the end of the file; nil if it cannot be read, or was changed since
  ///   it was opened.
  package func read(_ offset: Int, _ count: Int) -> [UInt8]? {
    var properties = stat()
    guard let bytes = readBytes(descriptor, offset, count), fstat(descriptor, &properties) == 0,
      Int(properties.st_size) == size, properties.st_mtim.tv_sec == changed.tv_sec,
      properties.st_mtim.tv_nsec == changed.tv_nsec
    else { return nil }
    return bytes
  }
}

/// Reads bytes of a file.
/// - Parameters:
///   - descriptor: the file descriptor.
///   - offset: the offset of the first byte.
///   - count: the number of bytes.
/// - Returns: fewer bytes at the end of the file; nil if it cannot be read.
func readBytes(_ descriptor: Int32, _ offset: Int, _ count: Int) -> [UInt8]? {
  guard count > 0 else { return [] }
  var failed = false
  let bytes = [UInt8](unsafeUninitializedCapacity: count) { memory, filled in
    while filled < count {
      let got = pread(
        descriptor, memory.baseAddress.map { $0 + filled }, count - filled, off_t(offset + filled))
      if got > 0 {
        filled += got
      } else if got == 0 {
        return
      } else if errno != EINTR {
        failed = true
        return
      }
    }
  }
  return failed ? nil : bytes
}
