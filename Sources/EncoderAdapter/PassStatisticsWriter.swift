// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Foundation
import VideoEncoding

/// Collects the statistics of a running pass in a file without a name. Hours of pictures then take
/// no memory, and a pass that is interrupted leaves nothing behind. At the end the statistics are
/// copied to a file with a name.
package final class PassStatisticsWriter {
  /// The descriptor of the file without a name, which holds the records.
  private let descriptor: Int32
  /// The number of pictures.
  private var count = 0
  /// The bytes written to the file.
  private var written = 0
  /// Records that are not written yet.
  private var pending: [UInt8] = []
  /// The number of pictures that were stored under the name; nil: none.
  private var stored: Int?

  /// Creates the file.
  /// - Parameter path: the path under which the statistics will be stored; the file is in the same
  ///   folder.
  /// - Throws: `CodecError.malfunction` if it cannot be created.
  package init(beside path: String) throws(CodecError) {
    let folder = (path as NSString).deletingLastPathComponent
    // O_TMPFILE is a macro that Swift does not import: __O_TMPFILE | O_DIRECTORY.
    var opened = open(
      folder.isEmpty ? "." : folder, O_RDWR | 0o20_000_000 | O_DIRECTORY | O_CLOEXEC, 0o600)
    if opened < 0 {
      // The file system does not support O_TMPFILE.
      let other = try Self.create(path)
      opened = other.descriptor
      unlink(other.name)
    }
    descriptor = opened
  }

  deinit { close(descriptor) }

  /// Adds the statistics of the pictures that follow.
  package func append(_ statistics: PassStatistics) throws(CodecError) {
    count += statistics.count
    pending += statistics.records
    if pending.count >= Self.blockSize { try writePending() }
  }

  /// Writes the pending records to the file.
  private func writePending() throws(CodecError) {
    let code = writeBytes(descriptor, pending[...])
    guard code == 0 else { throw Self.error(code) }
    written += pending.count
    pending.removeAll(keepingCapacity: true)
  }

  /// Stores the statistics collected so far under a name. After an error the file that had the name
  /// before is unchanged. More statistics may be added and stored afterwards.
  /// - Parameters:
  ///   - path: the path of the file.
  ///   - width: the width of the pictures, in luma samples.
  ///   - height: their height, in luma samples.
  /// - Throws: `CodecError.malfunction` if they cannot be written.
  package func store(at path: String, width: Int, height: Int) throws(CodecError) {
    guard stored != count else { return }
    var properties = stat()
    let isThere = stat(path, &properties) == 0
    // A pipe or a device is not replaced by a file.
    guard !isThere || properties.st_mode & S_IFMT == S_IFREG else { throw Self.error(EEXIST) }
    if !pending.isEmpty { try writePending() }
    let (name, target) = try Self.create(path)
    var code = copy(to: target, width: width, height: height)
    // The file keeps the permissions of the one that it replaces.
    if code == 0, isThere { fchmod(target, properties.st_mode & 0o777) }
    if code == 0, fsync(target) != 0, errno != EINVAL, errno != ENOSYS { code = errno }
    if close(target) != 0, code == 0 { code = errno }
    if code == 0, rename(name, path) != 0 { code = errno }
    guard code == 0 else {
      unlink(name)
      throw Self.error(code)
    }
    stored = count
  }

  /// Copies header, records and checksum to a file.
  /// - Parameters:
  ///   - target: the descriptor of the file.
  ///   - width: the width of the pictures, in luma samples.
  ///   - height: their height, in luma samples.
  /// - Returns: an error number, or 0.
  private func copy(to target: Int32, width: Int, height: Int) -> Int32 {
    var sum = PassFormat.Checksum()
    func put(_ bytes: [UInt8]) -> Int32 {
      sum.add(bytes[...])
      return writeBytes(target, bytes[...])
    }
    var code = put(PassFormat.header(width: width, height: height, count: count))
    var at = 0
    while code == 0, at < written {
      let wanted = min(Self.blockSize, written - at)
      guard let bytes = readBytes(descriptor, at, wanted), bytes.count == wanted else { return EIO }
      code = put(bytes)
      at += wanted
    }
    return code == 0 ? writeBytes(target, sum.bytes[...]) : code
  }

  /// The bytes that are read and written at once.
  private static let blockSize = 1 << 16

  /// Creates a file in the same folder as `path`, with a name that no other file has.
  private static func create(_ path: String) throws(CodecError) -> (name: [CChar], descriptor: Int32) {
    var name = Array((path + ".XXXXXX").utf8CString)
    let descriptor = mkstemp(&name)
    guard descriptor >= 0 else { throw error(errno) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return (name, descriptor)
  }

  /// The error for an error number.
  private static func error(_ code: Int32) -> CodecError {
    .malfunction("the statistics of the pass cannot be written: \(String(cString: strerror(code)))")
  }
}

/// Writes all bytes to a file.
/// - Parameters:
///   - descriptor: the file descriptor.
///   - bytes: the bytes.
/// - Returns: an error number, or 0.
private func writeBytes(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> Int32 {
  bytes.withUnsafeBytes { memory in
    var at = 0
    while at < memory.count {
      let got = write(descriptor, memory.baseAddress.map { $0 + at }, memory.count - at)
      if got >= 0 {
        at += got
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }
}
