// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The files of a folder that a server provides: plain files within it, by their own names.
final class ServedFolder: Sendable {
  /// A file that is open for reading.
  final class File: Sendable {
    let descriptor: Int32
    let size: Int
    /// Identifies this version of the file (RFC 9110, 8.8.3).
    let tag: String
    /// Its last change in seconds since 1970.
    let changed: Int

    fileprivate init(_ descriptor: Int32, _ status: stat) {
      self.descriptor = descriptor
      size = Int(status.st_size)
      changed = status.st_mtim.tv_sec
      let parts = [Int(status.st_ino), size, changed, status.st_mtim.tv_nsec]
      tag = "\"" + parts.map { String(UInt(bitPattern: $0), radix: 16) }.joined(separator: "-") + "\""
    }

    deinit { close(descriptor) }

    /// Reads a part of the file.
    /// - Returns: the bytes; fewer at the end of the file, none if it cannot be read.
    func read(at offset: Int, count: Int) -> [UInt8] {
      [UInt8](unsafeUninitializedCapacity: max(count, 0)) { buffer, written in
        let got = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
        written = max(got, 0)
      }
    }
  }

  private let descriptor: Int32

  /// - Throws: a `Failure` if there is no such folder.
  init(_ path: String) throws {
    descriptor = Foundation.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      let code = errno
      throw code == ENOENT || code == ENOTDIR
        ? Failure("'\(path)' is not a folder; name the one that holds the playlists", status: 64)
        : Failure("cannot read '\(path)'", systemError: code)
    }
  }

  deinit { close(descriptor) }

  /// The paths of the playlists directly in the folder that can be served, relative to it and with
  /// the escapes of a URL (RFC 3986, 2.1), in order, at most eight.
  /// Master playlists come before those of their renditions if their names do.
  var playlists: [String] {
    let copy = dup(descriptor)
    guard copy >= 0 else { return [] }
    guard let folder = fdopendir(copy) else {
      close(copy)
      return []
    }
    defer { closedir(folder) }
    let unreserved = CharacterSet(
      charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    var paths: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      let isPlaylist = name.hasSuffix(".m3u8") || name.hasSuffix(".mpd")
      guard isPlaylist, let path = name.addingPercentEncoding(withAllowedCharacters: unreserved),
        Self.names(inPath: "/" + path[...]) == [name]
      else { continue }
      paths.append(path)
    }
    return Array(paths.sorted().prefix(8))
  }

  /// Takes a request's path apart.
  /// - Parameter path: the path of the request's target (RFC 3986, 3.3), with its escapes.
  /// - Returns: the names of the folders and of the file; nil if the path names no file that may be
  ///   served.
  static func names(inPath path: Substring) -> [String]? {
    guard path.first == "/", path.utf8.count <= 4096 else { return nil }
    var names: [String] = []
    for part in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
      // Escapes are resolved once, after the path was divided, so that no escaped slash divides it.
      guard let name = unescaped(part), !name.isEmpty, name.utf8.first != UInt8(ascii: "."),
        name.utf8.count <= 255,
        !name.utf8.contains(UInt8(ascii: "/")), !name.utf8.contains(0)
      else { return nil }
      names.append(name)
    }
    return names.isEmpty || names.count > 16 ? nil : names
  }

  /// Resolves percent escapes; nil if one is broken or the result is not UTF-8.
  private static func unescaped(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap({ Character(UnicodeScalar($0)).hexDigitValue }),
        let low = rest.popFirst().flatMap({ Character(UnicodeScalar($0)).hexDigitValue })
      else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Opens a file. No symbolic link is followed, so that every file is within the folder.
  /// - Parameter names: the names of the folders and of the file.
  /// - Returns: the file; nil if there is none that may be served.
  func open(_ names: [String]) -> File? {
    guard let last = names.last else { return nil }
    return withFolder(names) { folder in
      let file = openat(folder, last, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
      guard file >= 0 else { return nil }
      var status = stat()
      guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        close(file)
        return nil
      }
      return File(file, status)
    }
  }

  /// The names of the playlists next to a file, at most 64.
  func playlists(beside names: [String]) -> [[String]] {
    let found = withFolder(names) { folder -> [String]? in
      let copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard copy >= 0 else { return nil }
      guard let list = fdopendir(copy) else {
        close(copy)
        return nil
      }
      defer { closedir(list) }
      var names: [String] = []
      while names.count < 64, let entry = readdir(list) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name.hasSuffix(".m3u8"), !name.hasPrefix(".") { names.append(name) }
      }
      return names
    }
    return (found ?? []).map { names.dropLast() + [$0] }
  }

  private func withFolder<Value>(_ names: [String], _ body: (Int32) -> Value?) -> Value? {
    var folder = descriptor
    defer { if folder != descriptor { close(folder) } }
    for name in names.dropLast() {
      let next = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard next >= 0 else { return nil }
      if folder != descriptor { close(folder) }
      folder = next
    }
    return body(folder)
  }
}
