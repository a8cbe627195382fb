// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// The properties by which a plan recognises its movie, wherever the file is.
struct SourceIdentity: Codable, Sendable {
  /// The absolute path when the plan was made.
  var path: String
  var bytes: Int
  /// The modification time in nanoseconds since 1970.
  var modified: Int
  /// The MD5 of the first and the last megabyte.
  var head: String
  var tail: String

  private static let sample = 1 << 20

  /// - Parameter path: a regular file.
  /// - Throws: a `Failure` if it is not a regular file or cannot be read.
  init(_ path: String) throws {
    let absolutePath = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    do {
      self = try RegularFile.open(path) { descriptor, fileStatus in
        let bytes = Int(fileStatus.st_size)
        return SourceIdentity(
          path: absolutePath, bytes: bytes,
          modified: Int(fileStatus.st_mtim.tv_sec).multipliedClamped(by: 1_000_000_000)
            .addingClamped(Int(fileStatus.st_mtim.tv_nsec)),
          head: try FileDigest.md5(descriptor, from: 0, count: Self.sample, name: path),
          tail: try FileDigest.md5(
            descriptor, from: max(bytes - Self.sample, 0), count: Self.sample, name: path))
      }
    } catch RegularFile.Problem.isOther {
      throw Failure(
        "'\(path)' is not a regular file, which encoding in segments needs; store it in a file first")
    } catch {
      throw RegularFile.failure(error, path)
    }
  }

  private init(path: String, bytes: Int, modified: Int, head: String, tail: String) {
    (self.path, self.bytes, self.modified) = (path, bytes, modified)
    (self.head, self.tail) = (head, tail)
  }

  /// Checks that the movie is the one of a plan.
  /// - Parameters:
  ///   - planned: the identity in the plan.
  ///   - ignoresTime: whether the modification time may differ, as for a copy.
  /// - Throws: a `Failure` that says how the movies differ.
  func check(against planned: SourceIdentity, ignoresTime: Bool) throws {
    var difference: String?
    if bytes != planned.bytes {
      difference = "it has \(TextFormat.grouped(bytes)) bytes, not \(TextFormat.grouped(planned.bytes))"
    } else if head != planned.head || tail != planned.tail {
      difference = "its content differs"
    } else if modified != planned.modified, !ignoresTime {
      difference =
        "it was modified since; if it is a copy, give --ignore-modification-time"
    }
    if let difference {
      throw Failure("'\(path)' is not the movie that the plan was made for: \(difference)")
    }
  }
}

/// Computes the MD5 of files and bytes, in hexadecimal.
enum FileDigest {
  static func md5(_ data: Data) -> String {
    var digest = MD5Digest()
    data.withUnsafeBytes { digest.update($0) }
    return digest.finish()
  }

  /// The MD5 of a whole file.
  static func md5(ofFile path: String) throws -> String {
    do {
      return try RegularFile.open(path) { descriptor, fileStatus in
        try md5(descriptor, from: 0, count: Int(fileStatus.st_size), name: path)
      }
    } catch {
      throw RegularFile.failure(error, path)
    }
  }

  static func md5(_ descriptor: Int32, from start: Int, count: Int, name: String) throws -> String {
    var digest = MD5Digest()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { buffer.deallocate() }
    var (position, left) = (start, count)
    while left > 0 {
      let got = pread(descriptor, buffer.baseAddress, min(buffer.count, left), off_t(position))
      if got < 0 {
        if errno == EINTR { continue }
        throw Failure("cannot read '\(name)': \(String(cString: strerror(errno)).lowercased())")
      }
      if got == 0 { break }
      digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<got]))
      position += got
      left -= got
    }
    return digest.finish()
  }
}
