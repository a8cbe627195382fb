// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// What a movie is known by, wherever it lies: a plan holds for it alone.
struct SourceIdentity: Codable, Sendable {
  /// Where it lay when the plan was made.
  var path: String
  var bytes: Int
  /// Nanoseconds since 1970.
  var modified: Int
  /// MD5 of the first and the last megabyte.
  var head: String
  var tail: String

  private static let sample = 1 << 20

  /// - Parameter file: a movie that has a name.
  init(_ path: String) throws {
    let place = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    do {
      self = try RegularFile.open(path) { descriptor, facts in
        let bytes = Int(facts.st_size)
        return SourceIdentity(
          path: place, bytes: bytes,
          modified: Int(facts.st_mtim.tv_sec).multipliedClamped(by: 1_000_000_000)
            .addingClamped(Int(facts.st_mtim.tv_nsec)),
          head: try FileDigest.md5(descriptor, from: 0, count: Self.sample, name: path),
          tail: try FileDigest.md5(
            descriptor, from: max(bytes - Self.sample, 0), count: Self.sample, name: path))
      }
    } catch RegularFile.Problem.isOther {
      throw Failure(
        "'\(path)' is no file: what works on segments has to read it from many places; store it first")
    } catch {
      throw RegularFile.failure(error, path)
    }
  }

  private init(path: String, bytes: Int, modified: Int, head: String, tail: String) {
    (self.path, self.bytes, self.modified) = (path, bytes, modified)
    (self.head, self.tail) = (head, tail)
  }

  /// - Parameter ignoresTime: a copy may have another time.
  /// - Throws: a `Failure` that says how the movie differs from the plan's.
  func check(against planned: SourceIdentity, ignoresTime: Bool) throws {
    var difference: String?
    if bytes != planned.bytes {
      difference = "it has \(Wording.grouped(bytes)) bytes, not \(Wording.grouped(planned.bytes))"
    } else if head != planned.head || tail != planned.tail {
      difference = "its content is another"
    } else if modified != planned.modified, !ignoresTime {
      difference =
        "it was modified since; if it is a copy, --ignore-modification-time says so"
    }
    if let difference {
      throw Failure("'\(path)' is not the movie that the plan was made for: \(difference)")
    }
  }
}

/// MD5 of files and bytes.
enum FileDigest {
  static func md5(_ data: Data) -> String {
    var digest = MD5Digest()
    data.withUnsafeBytes { digest.update($0) }
    return digest.finish()
  }

  /// Of a whole file.
  static func md5(ofFile path: String) throws -> String {
    do {
      return try RegularFile.open(path) { descriptor, facts in
        try md5(descriptor, from: 0, count: Int(facts.st_size), name: path)
      }
    } catch {
      throw RegularFile.failure(error, path)
    }
  }

  static func md5(_ descriptor: Int32, from start: Int, count: Int, name: String) throws -> String {
    var digest = MD5Digest()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { buffer.deallocate() }
    var (place, left) = (start, count)
    while left > 0 {
      let got = pread(descriptor, buffer.baseAddress, min(buffer.count, left), off_t(place))
      if got < 0 {
        if errno == EINTR { continue }
        throw Failure("cannot read '\(name)': \(String(cString: strerror(errno)).lowercased())")
      }
      if got == 0 { break }
      digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<got]))
      place += got
      left -= got
    }
    return digest.finish()
  }
}
