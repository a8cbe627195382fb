// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Reads a regular file on a local file system.
final class LocalFileReader: MediaByteReader {
  private let descriptor: Int32
  let length: Int64?

  /// Opens a file.
  /// - Returns: nil if there is no such file, or if it is not a regular one (a pipe, a device, a
  ///   folder).
  init?(path: String) {
    var status = stat()
    // Checked before opening: opening a pipe would make this process its reader.
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

  /// Bytes of the file without its holes. A sparse file may have any length without occupying
  /// storage.
  var storedLength: Int64 {
    guard let length else { return 0 }
    // SEEK_DATA and SEEK_HOLE, which Swift does not import.
    let (data, hole): (Int32, Int32) = (3, 4)
    var (stored, position) = (Int64(0), off_t(0))
    // Each piece between holes occupies at least one page of storage, so that 65,536 of them are
    // worth their claimed length.
    for _ in 0..<(1 << 16) {
      let start = lseek(descriptor, position, data)
      // ENXIO: there is no data after `position`. Other errors: the file system does not support
      // this, and the length is believed.
      guard start >= 0 else { return errno == ENXIO ? stored : length }
      let end = lseek(descriptor, start, hole)
      guard end > start else { return length }
      stored += Int64(end) - Int64(start)
      position = end
    }
    return length
  }
}

/// Reads bytes in memory.
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
