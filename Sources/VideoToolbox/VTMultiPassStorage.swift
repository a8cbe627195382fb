// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// Keep the file when the storage is closed or goes away. Boolean.
public nonisolated(unsafe) let kVTMultiPassStorageCreationOption_DoNotDelete: CFString = "DoNotDelete"

/// What an encoder learns in one pass over a movie and uses in the next.
///
/// The encoder writes statistics under the storage's path; files next to it carry the same name with a suffix.
public final class VTMultiPassStorage: CFRuntimeObject, @unchecked Sendable, Hashable {
  // Sendable: `lock` guards what changes.
  package static let cfTypeID = CFRuntimeRegister("VTMultiPassStorage")

  private let lock = Lock()
  private let keepsFiles: Bool
  /// The name is the storage's own choice, and nobody else's.
  private let isTemporary: Bool
  private var closed = false
  private var owner: String?
  /// Where the encoder keeps its statistics.
  let path: String
  let timeRange: CMTimeRange
  /// A pass has been made before this storage was opened.
  let isLearned: Bool
  /// What the storage and its encoders create, and nothing that was there before.
  private let ownFiles: [String]

  /// What encoders add to the path's name: libx264's and libx265's own files, and both while they are written.
  private static let suffixes = ["", ".temp", ".mbtree", ".mbtree.temp", ".cutree", ".cutree.temp"]

  fileprivate init(
    path: String, timeRange: CMTimeRange, keepsFiles: Bool, isTemporary: Bool = false, isLearned: Bool,
    existing: Set<String>
  ) {
    self.isTemporary = isTemporary
    self.path = path
    self.timeRange = timeRange
    self.keepsFiles = keepsFiles
    self.isLearned = isLearned
    ownFiles = Self.suffixes.map { path + $0 }.filter { !existing.contains($0) }
  }

  /// The files of those names that exist.
  fileprivate static func existing(at path: String) -> Set<String> {
    Set(suffixes.dropFirst().map { path + $0 }.filter { FileManager.default.fileExists(atPath: $0) })
  }

  deinit {
    // An encoder whose pass was still running when the storage was closed has written once more.
    if !close(), isTemporary, !keepsFiles { removeFiles() }
  }

  /// False once it was closed.
  var isOpen: Bool { lock.withLock { !closed } }

  /// Notes the encoder that writes into the storage.
  /// - Returns: false if another one has written before.
  func claim(for encoderID: String) -> Bool {
    lock.withLock {
      if let owner { return owner == encoderID }
      owner = encoderID
      return true
    }
  }

  /// - Returns: false if it was closed before.
  fileprivate func close() -> Bool {
    let wasOpen = lock.withLock {
      defer { closed = true }
      return !closed
    }
    if wasOpen, !keepsFiles { removeFiles() }
    return wasOpen
  }

  private func removeFiles() { for file in ownFiles where Self.isFile(file) == true { unlink(file) } }

  /// Whether what has a name is a regular file, or a link to one; nil if there is nothing.
  fileprivate static func isFile(_ path: String) -> Bool? {
    var facts = stat()
    return stat(path, &facts) == 0 ? facts.st_mode & S_IFMT == S_IFREG : nil
  }

  public static func == (a: VTMultiPassStorage, b: VTMultiPassStorage) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The type id of `VTMultiPassStorage`.
@discardableResult
public func VTMultiPassStorageGetTypeID() -> CFTypeID { VTMultiPassStorage.cfTypeID }

/// Creates a storage for multi-pass encoding.
///
/// Of the parameters:
///
/// - `fileURL`: where to keep the statistics; nil takes a temporary file. A file of that name is written over.
/// - `timeRange`: the part of the movie that will be encoded; an invalid range is unknown.
/// - `options`: nil, or `kVTMultiPassStorageCreationOption_DoNotDelete` and
///   `kOVTMultiPassStorageCreationOption_ReadsExisting`.
/// - Returns: `kVTParameterErr` for an option of another type, or if what exists is to be read without a URL;
///   `kVTMultiPassStorageInvalidErr` if there can be no file, what has the name is a pipe, a device or a folder, or
///   one that is to be read is not there or empty. Whether it is whole, and the encoder's, is found by the pass.
@discardableResult
public func VTMultiPassStorageCreate(
  allocator: CFAllocator?, fileURL: CFURL?, timeRange: CMTimeRange, options: CFDictionary?,
  multiPassStorageOut: UnsafeMutablePointer<VTMultiPassStorage?>
) -> OSStatus {
  multiPassStorageOut.pointee = nil
  func flag(_ key: CFString) -> Bool? {
    guard let value = options?[key] else { return false }
    return PropertyType.boolean.parse(value as AnyObject)?.boolean
  }
  guard let keeps = flag(kVTMultiPassStorageCreationOption_DoNotDelete),
    let readsExisting = flag(kOVTMultiPassStorageCreationOption_ReadsExisting)
  else { return kVTParameterErr }
  let path: String
  if let fileURL {
    guard let given = fileURL.path, fileURL.isFileURL else { return kVTParameterErr }
    path = given
  } else {
    path =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("multipass-\(UUID().uuidString).stats").path
  }
  if readsExisting {
    var facts = stat()
    guard fileURL != nil else { return kVTParameterErr }
    guard stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_size > 0,
      access(path, R_OK) == 0
    else { return kVTMultiPassStorageInvalidErr }
    multiPassStorageOut.pointee = VTMultiPassStorage(
      path: path, timeRange: timeRange, keepsFiles: true, isLearned: true, existing: [])
    return noErr
  }
  let existing = VTMultiPassStorage.existing(at: path)
  // An encoder library reports a path that it cannot write to only as a failure to start: find out here. A name of
  // our own choice must be new, not a link that somebody laid there; to open a pipe may take for ever.
  guard VTMultiPassStorage.isFile(path) != false else { return kVTMultiPassStorageInvalidErr }
  let flags =
    O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | (fileURL == nil ? O_EXCL | O_NOFOLLOW : O_TRUNC)
  let descriptor = open(path, flags, fileURL == nil ? 0o600 : 0o666)
  guard descriptor >= 0 else { return kVTMultiPassStorageInvalidErr }
  defer { close(descriptor) }
  var facts = stat()
  guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
    return kVTMultiPassStorageInvalidErr
  }
  multiPassStorageOut.pointee = VTMultiPassStorage(
    path: path, timeRange: timeRange, keepsFiles: keeps, isTemporary: fileURL == nil, isLearned: false,
    existing: existing)
  return noErr
}

/// Closes the storage and deletes its files, unless it was created to keep them.
/// - Returns: `kVTMultiPassStorageInvalidErr` if it was closed before.
@discardableResult
public func VTMultiPassStorageClose(_ multiPassStorage: VTMultiPassStorage) -> OSStatus {
  multiPassStorage.close() ? noErr : kVTMultiPassStorageInvalidErr
}
