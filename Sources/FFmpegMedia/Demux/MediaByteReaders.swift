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

  /// Bytes that are somewhere: a file is as long as it says even where it consists of holes.
  var storedLength: Int64 {
    guard let length else { return 0 }
    // SEEK_DATA and SEEK_HOLE, which Swift does not import.
    let (data, hole): (Int32, Int32) = (3, 4)
    var (stored, place) = (Int64(0), off_t(0))
    // Each piece is of a page at least: of so many, what a file says has its price.
    for _ in 0..<(1 << 16) {
      let start = lseek(descriptor, place, data)
      // A file system that cannot tell is believed.
      guard start >= 0 else { return errno == ENXIO ? stored : length }
      let end = lseek(descriptor, start, hole)
      guard end > start else { return length }
      stored += Int64(end) - Int64(start)
      place = end
    }
    return length
  }
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
