// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A file on the disk.
final class LocalFileReader: MediaByteReader {
  private let descriptor: Int32
  let length: Int64?

  /// - Returns: nil if there is no such file, or it is none that has places.
  init?(path: String) {
    var status = stat()
    // Whoever writes into a pipe would take this for its reader.
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      return nil
    }
    length = Int64(status.st_size)
  }

  deinit { close(descriptor) }

  func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    max(0, pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)))
  }

  func cancel() {}
}

/// Bytes in memory.
final class MemoryReader: MediaByteReader {
  private let bytes: Data

  init(_ bytes: Data) { self.bytes = bytes }

  var length: Int64? { Int64(bytes.count) }

  func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard offset >= 0, offset < Int64(bytes.count) else { return 0 }
    let piece = bytes.dropFirst(Int(offset)).prefix(buffer.count)
    return piece.copyBytes(to: buffer)
  }

  func cancel() {}
}
