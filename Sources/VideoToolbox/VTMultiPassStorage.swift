// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// Whether to keep the files when the storage is closed or released. Boolean.
public nonisolated(unsafe) let kVTMultiPassStorageCreationOption_DoNotDelete: CFString = "DoNotDelete"

/// The statistics that an encoder gathers in one pass over a movie and uses in the next.
///
/// The encoder writes them to the storage's path, and to files next to it with the same name and a
/// suffix.
public final class VTMultiPassStorage: CFRuntimeObject, @unchecked Sendable, Hashable {
  // Sendable: `lock` guards `closed` and `owner`.
  package static let cfTypeID = CFRuntimeRegister("VTMultiPassStorage")

  private let lock = Lock()
  private let keepsFiles: Bool
  /// Whether the path is a temporary one that the storage has chosen, so that no other process uses
  /// it.
  private let isTemporary: Bool
  private var closed = false
  /// The id of the encoder that writes into the storage; nil before the first pass.
  private var owner: String?
  /// The path of the statistics file.
  let path: String
  let timeRange: CMTimeRange
  /// Whether the storage was opened with the statistics of an earlier pass.
  let isLearned: Bool
  /// The files that the storage and its encoders create, without those that existed before.
  private let ownFiles: [String]

  /// The suffixes that encoders append to the path: for additional files of libx264 and libx265,
  /// and for files that are being written.
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

  /// The additional files that exist for a path.
  fileprivate static func existing(at path: String) -> Set<String> {
    Set(suffixes.dropFirst().map { path + $0 }.filter { FileManager.default.fileExists(atPath: $0) })
  }

  deinit {
    // An encoder whose pass was still running when the storage was closed has written its files
    // again since.
    if !close(), isTemporary, !keepsFiles { removeFiles() }
  }

  /// Whether the storage was not closed yet.
  var isOpen: Bool { lock.withLock { !closed } }

  /// Reserves the storage for an encoder.
  /// - Returns: False if another encoder has written into it before.
  func claim(for encoderID: String) -> Bool {
    lock.withLock {
      if let owner { return owner == encoderID }
      owner = encoderID
      return true
    }
  }

  /// Closes the storage and deletes its files, unless they are to be kept.
  /// - Returns: False if it was closed before.
  fileprivate func close() -> Bool {
    let wasOpen = lock.withLock {
      defer { closed = true }
      return !closed
    }
    if wasOpen, !keepsFiles { removeFiles() }
    return wasOpen
  }

  private func removeFiles() { for file in ownFiles where Self.isFile(file) == true { unlink(file) } }

  /// Whether there is a regular file at a path, or a link to one; nil if there is nothing.
  fileprivate static func isFile(_ path: String) -> Bool? {
    var properties = stat()
    return stat(path, &properties) == 0 ? properties.st_mode & S_IFMT == S_IFREG : nil
  }

  public static func == (a: VTMultiPassStorage, b: VTMultiPassStorage) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The type id of `VTMultiPassStorage`.
@discardableResult
public func VTMultiPassStorageGetTypeID() -> CFTypeID { VTMultiPassStorage.cfTypeID }

/// Creates a storage for multi-pass encoding.
///
/// The parameters that need an explanation:
///
/// - `fileURL`: where to keep the statistics; nil takes a temporary file. An existing file is
///   overwritten.
/// - `timeRange`: the part of the movie that will be encoded; an invalid range means that it is
///   unknown.
/// - `options`: nil, or a dictionary with `kVTMultiPassStorageCreationOption_DoNotDelete` and
///   `kOVTMultiPassStorageCreationOption_ReadsExisting`.
/// - Returns: `kVTParameterErr` for an option of a wrong type, or if existing statistics are to be
///   read and there is no URL; `kVTMultiPassStorageInvalidErr` if the file cannot be created, if
///   there is a pipe, a device or a folder at the URL, or if existing statistics are to be read and
///   the file is missing or empty. Whether the statistics are complete, and of the same encoder, is
///   checked when the pass begins.
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
    var properties = stat()
    guard fileURL != nil else { return kVTParameterErr }
    guard stat(path, &properties) == 0, properties.st_mode & S_IFMT == S_IFREG, properties.st_size > 0,
      access(path, R_OK) == 0
    else { return kVTMultiPassStorageInvalidErr }
    multiPassStorageOut.pointee = VTMultiPassStorage(
      path: path, timeRange: timeRange, keepsFiles: true, isLearned: true, existing: [])
    return noErr
  }
  let existing = VTMultiPassStorage.existing(at: path)
  // An encoder library reports a path that it cannot write to only as a failure to start, so the
  // file is created here. A temporary name must be new, not a link that another process has created
  // there. O_NONBLOCK, because opening a pipe may block forever.
  guard VTMultiPassStorage.isFile(path) != false else { return kVTMultiPassStorageInvalidErr }
  let flags =
    O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | (fileURL == nil ? O_EXCL | O_NOFOLLOW : O_TRUNC)
  let descriptor = open(path, flags, fileURL == nil ? 0o600 : 0o666)
  guard descriptor >= 0 else { return kVTMultiPassStorageInvalidErr }
  defer { close(descriptor) }
  var properties = stat()
  guard fstat(descriptor, &properties) == 0, properties.st_mode & S_IFMT == S_IFREG else {
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
