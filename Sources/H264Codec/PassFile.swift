// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Foundation
import H264Encoder

/// The statistics of a pass that is over, as the next one reads them.
final class PassFile {
  let size: Int
  private let descriptor: Int32
  private let changed: timespec

  init(_ path: String) throws(CodecError) {
    // Without waiting for whoever might write into a pipe of that name.
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    var facts = stat()
    guard descriptor >= 0, fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
      if descriptor >= 0 { close(descriptor) }
      throw .badData("the statistics of the first pass cannot be read")
    }
    size = Int(facts.st_size)
    changed = facts.st_mtim
  }

  deinit { close(descriptor) }

  /// For `StoredPass`.
  /// - Returns: nil also where somebody has written to the file since it was opened.
  func read(_ offset: Int, _ count: Int) -> [UInt8]? {
    var facts = stat()
    guard let bytes = readBytes(descriptor, offset, count), fstat(descriptor, &facts) == 0,
      Int(facts.st_size) == size, facts.st_mtim.tv_sec == changed.tv_sec,
      facts.st_mtim.tv_nsec == changed.tv_nsec
    else { return nil }
    return bytes
  }
}

/// What a running pass learns. It goes to the disk as it comes, into a file that has no name, so that hours of pictures take
/// no memory, and a pass that is broken off leaves nothing; the whole gets its name at the end.
final class PassSpool {
  private let descriptor: Int32
  private var count = 0
  private var written = 0
  private var pending: [UInt8] = []
  /// Pictures that are stored under the name.
  private var stored: Int?

  /// - Parameter path: where the whole will be; what is on the way lies on the same disk.
  init(beside path: String) throws(CodecError) {
    let folder = (path as NSString).deletingLastPathComponent
    // O_TMPFILE is a macro that Swift does not import: __O_TMPFILE | O_DIRECTORY.
    var opened = open(
      folder.isEmpty ? "." : folder, O_RDWR | 0o20_000_000 | O_DIRECTORY | O_CLOEXEC, 0o600)
    if opened < 0 {
      // A file system that has no such files.
      let other = try Self.create(path)
      opened = other.descriptor
      unlink(other.name)
    }
    descriptor = opened
  }

  deinit { close(descriptor) }

  func append(_ statistics: PassStatistics) throws(CodecError) {
    count += statistics.count
    pending += statistics.records
    if pending.count >= Self.blockSize { try writePending() }
  }

  private func writePending() throws(CodecError) {
    let code = writeBytes(descriptor, pending[...])
    guard code == 0 else { throw Self.error(code) }
    written += pending.count
    pending.removeAll(keepingCapacity: true)
  }

  /// What there is so far, under its name: all of it, on the disk, or what was there before. More may follow, and be
  /// stored again.
  func store(at path: String, width: Int, height: Int) throws(CodecError) {
    guard stored != count else { return }
    var facts = stat()
    let isThere = stat(path, &facts) == 0
    // The name of a pipe or a device is not taken from it.
    guard !isThere || facts.st_mode & S_IFMT == S_IFREG else { throw Self.error(EEXIST) }
    if !pending.isEmpty { try writePending() }
    let (name, target) = try Self.create(path)
    var code = copy(to: target, width: width, height: height)
    // As whoever opened the storage made it.
    if code == 0, isThere { fchmod(target, facts.st_mode & 0o777) }
    if code == 0, fsync(target) != 0, errno != EINVAL, errno != ENOSYS { code = errno }
    if close(target) != 0, code == 0 { code = errno }
    if code == 0, rename(name, path) != 0 { code = errno }
    guard code == 0 else {
      unlink(name)
      throw Self.error(code)
    }
    stored = count
  }

  /// - Returns: An error number, or 0.
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

  private static let blockSize = 1 << 16

  /// A file beside one, of a name that nobody has.
  private static func create(_ path: String) throws(CodecError) -> (name: [CChar], descriptor: Int32) {
    var name = Array((path + ".XXXXXX").utf8CString)
    let descriptor = mkstemp(&name)
    guard descriptor >= 0 else { throw error(errno) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return (name, descriptor)
  }

  private static func error(_ code: Int32) -> CodecError {
    .malfunction("the statistics of the pass cannot be written: \(String(cString: strerror(code)))")
  }
}

/// - Returns: Fewer bytes than asked for at the end of the file, nil if it cannot be read.
private func readBytes(_ descriptor: Int32, _ offset: Int, _ count: Int) -> [UInt8]? {
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

/// - Returns: An error number, or 0.
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
