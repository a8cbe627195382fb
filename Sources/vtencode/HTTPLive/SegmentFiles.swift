// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation

/// The files of a run's segments and playlists. Each is written under a temporary name in a hidden
/// folder, so that none can be read before it is whole.
///
/// The files of a live run get their names at once. Those of a run whose playlists come at the end
/// get theirs when the run has succeeded, so that a run that fails leaves an earlier one's alone.
final class SegmentFiles: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
  private let folder: String
  private let playlistName: String
  /// The names of the files; those of an interrupted run are other ones.
  private(set) var names: SegmentNames
  private let isStaged: Bool
  private let lock = Lock()
  private var scratch: ScratchFolder?
  /// The suffixes of the files that have been written, and their sizes.
  private var sizes: [String: Int] = [:]
  /// The descriptors of files that grow.
  private var open: [String: Int32] = [:]

  /// - Parameters:
  ///   - path: the path of the multivariant playlist.
  ///   - isStaged: whether files get their names at the end of the run.
  ///   - replaces: whether files of an earlier run are replaced.
  /// - Throws: a `Failure` if the folder cannot be written to.
  init(playlist path: String, isStaged: Bool, replaces: Bool) throws {
    folder = vtencode.folder(of: path)
    playlistName = (path as NSString).lastPathComponent
    names = SegmentNames(playlist: path)
    self.isStaged = isStaged
    // Now, and not when the segments get their names.
    let longest = SegmentNames.initialization("16880p-8", run: .max)
    guard names.file("-part-9999").utf8.count + longest.utf8.count <= Int(NAME_MAX) else {
      throw Failure(
        "the name '\(playlistName)' is too long: its segments' names begin with it, and each letter beyond "
          + "ASCII counts as three or more; choose a shorter one with --out")
    }
    scratch = try ScratchFolder(in: folder)
    if !isStaged, replaces { try removeEarlier() }
  }

  deinit { for descriptor in open.values { close(descriptor) } }

  /// The bytes of the segments that were written.
  var byteCount: Int { lock.withLock { sizes.values.reduce(0, +) } }

  // MARK: Writing

  /// Writes a whole file.
  /// - Throws: a `Failure` if there is no room, or another error of the system.
  func write(_ parts: [Data], as suffix: String) throws {
    try lock.withLock {
      let path = try temporary(suffix)
      let descriptor = try create(path)
      do {
        for part in parts { try write(part, to: descriptor, suffix) }
        if isStaged, fsync(descriptor) != 0, errno != EINVAL { throw failure(suffix) }
      } catch {
        close(descriptor)
        unlink(path)
        throw error
      }
      // Some file systems report a full disk only here.
      guard close(descriptor) == 0 else { throw failure(suffix) }
      sizes[suffix] = parts.reduce(0) { $0 + $1.count }
      if !isStaged { try rename(path, to: names.file(suffix)) }
    }
  }

  /// Appends to the file of all segments.
  /// - Returns: the range of the file that was written.
  /// - Throws: a `Failure`. Whatever was written of the data is not part of a playlist then.
  func append(_ data: Data, to suffix: String) throws -> Range<Int> {
    try lock.withLock {
      var descriptor = open[suffix]
      if descriptor == nil {
        let path = try isStaged ? temporary(suffix) : folder + "/" + names.file(suffix)
        descriptor = try create(path)
        open[suffix] = descriptor
      }
      let start = sizes[suffix] ?? 0
      if let descriptor {
        do { try write(data, to: descriptor, suffix) } catch {
          // Makes room for the playlist that ends the stream.
          ftruncate(descriptor, off_t(start))
          throw error
        }
      }
      sizes[suffix] = start + data.count
      return start..<start + data.count
    }
  }

  /// Writes a playlist in place of its previous version, in one step.
  func replace(_ text: String, as suffix: String) throws {
    try lock.withLock { try replace(text, file: names.file(suffix)) }
  }

  /// Writes the multivariant playlist in place of its previous version, in one step.
  func replaceMultivariant(_ text: String) throws {
    try lock.withLock { try replace(text, file: playlistName) }
  }

  private func replace(_ text: String, file: String) throws {
    let path = try temporary("-text")
    unlink(path)
    let descriptor = try create(path)
    do { try write(Data(text.utf8), to: descriptor, file) } catch {
      close(descriptor)
      unlink(path)
      throw error
    }
    guard close(descriptor) == 0 else { throw failure(file) }
    try rename(path, to: file)
  }

  /// Removes a file that no player needs any more.
  func remove(_ suffix: String) { lock.withLock { _ = unlink(folder + "/" + names.file(suffix)) } }

  // MARK: The end

  /// Gives staged files their names.
  /// - Parameters:
  ///   - isPart: whether the run was interrupted, so that the names have `-part` in them.
  ///   - replaces: whether files of an earlier run are replaced.
  ///   - texts: returns the text of each playlist by its suffix, and that of the multivariant
  ///     playlist, which comes last.
  /// - Returns: the path of the multivariant playlist.
  func publish(
    isPart: Bool, replaces: Bool,
    texts: (SegmentNames) -> (playlists: [(suffix: String, text: String)], multivariant: String)
  ) throws -> String {
    try lock.withLock {
      for (suffix, descriptor) in open {
        if fsync(descriptor) != 0, errno != EINVAL { throw failure(suffix) }
        guard close(descriptor) == 0 else { throw failure(suffix) }
      }
      open = [:]
      var file = playlistName
      if replaces, !isPart { try removeEarlier() } else { file = freeName(isPart: isPart) }
      names = SegmentNames(playlist: file)
      var published: [String] = []
      do {
        for suffix in sizes.keys.sorted() {
          try rename(temporary(suffix), to: names.file(suffix))
          published.append(names.file(suffix))
        }
        let made = texts(names)
        for (suffix, text) in made.playlists {
          try replace(text, file: names.file(suffix))
          published.append(names.file(suffix))
        }
        try replace(made.multivariant, file: file)
      } catch {
        for name in published { unlink(folder + "/" + name) }
        throw error
      }
      scratch?.remove()
      scratch = nil
      return vtencode.folder(of: folder + "/" + file) == "." ? file : folder + "/" + file
    }
  }

  /// Removes what has no name yet.
  func discard() {
    lock.withLock {
      for descriptor in open.values { close(descriptor) }
      open = [:]
      scratch?.remove()
      scratch = nil
    }
  }

  // MARK: Names

  /// The first free one of `talk.m3u8`, `talk-2.m3u8` and so on, or of `talk-part.m3u8`,
  /// `talk-part-2.m3u8` and so on.
  private func freeName(isPart: Bool) -> String {
    let (stem, ending) = (
      (playlistName as NSString).deletingPathExtension, (playlistName as NSString).pathExtension
    )
    for number in 1..<10_000 {
      let name = stem + (isPart ? "-part" : "") + (number > 1 ? "-\(number)" : "") + ".\(ending)"
      var status = stat()
      if lstat(folder + "/" + name, &status) != 0, SegmentNames(playlist: name).ownedFiles(in: folder).isEmpty
      {
        return name
      }
    }
    return playlistName
  }

  /// Removes the playlists and segments of an earlier run, those first that players begin with.
  private func removeEarlier() throws {
    let owned = names.ownedFiles(in: folder)
    let playlists = owned.filter { $0.hasSuffix(".m3u8") || $0.hasSuffix(SegmentNames.manifest) }
    for name in [playlistName] + playlists + owned.filter({ !playlists.contains($0) }) {
      guard unlink(folder + "/" + name) == 0 || errno == ENOENT else { throw failure(name) }
    }
  }

  private func temporary(_ suffix: String) throws -> String {
    guard let scratch else { throw Failure("the run has ended, so '\(names.file(suffix))' is not written") }
    return scratch.path + "/new" + suffix
  }

  private func create(_ path: String) throws -> Int32 {
    let descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw failure((path as NSString).lastPathComponent) }
    return descriptor
  }

  private func rename(_ path: String, to file: String) throws {
    guard Foundation.rename(path, folder + "/" + file) == 0 else { throw failure(file) }
  }

  private func write(_ data: Data, to descriptor: Int32, _ suffix: String) throws {
    try data.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = Foundation.write(
          descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw failure(suffix) }
        rest = rest.dropFirst(count)
      }
    }
  }

  private func failure(_ name: String) -> Failure {
    let code = errno
    let file = name.hasPrefix("-") ? names.file(name) : name
    return Failure("cannot write '\(folder)/\(file)'", systemError: code)
  }
}
