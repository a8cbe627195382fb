import CoreMedia

/// Keep the file when the storage is closed or goes away. Boolean.
public nonisolated(unsafe) let kVTMultiPassStorageCreationOption_DoNotDelete: CFString = "DoNotDelete"

/// What an encoder learns in one pass over a movie and uses in the next.
///
/// The encoder writes statistics under the storage's path; files next to it carry the same name with a suffix.
public final class VTMultiPassStorage: CFRuntimeObject, @unchecked Sendable, Hashable {
  package static let cfTypeID = CFRuntimeRegister("VTMultiPassStorage")

  private let lock = NSLock()
  private let keepsFiles: Bool
  private var closed = false
  private var owner: String?
  /// Where the encoder keeps its statistics.
  let path: String
  let timeRange: CMTimeRange

  fileprivate init(path: String, timeRange: CMTimeRange, keepsFiles: Bool) {
    self.path = path
    self.timeRange = timeRange
    self.keepsFiles = keepsFiles
  }

  deinit { close() }

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

  fileprivate func close() {
    let wasOpen = lock.withLock {
      defer { closed = true }
      return !closed
    }
    guard wasOpen, !keepsFiles else { return }
    // Encoders add their own suffixes: ".mbtree", ".cutree", ".temp".
    let url = URL(fileURLWithPath: path)
    let folder = url.deletingLastPathComponent()
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    for name in names where name == url.lastPathComponent || name.hasPrefix(url.lastPathComponent + ".") {
      try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
    }
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
/// - `options`: nil, or `kVTMultiPassStorageCreationOption_DoNotDelete`.
/// - Returns: `kVTParameterErr` for an option of another type; `kVTMultiPassStorageInvalidErr` if there can be no file.
@discardableResult
public func VTMultiPassStorageCreate(
  allocator: CFAllocator?, fileURL: CFURL?, timeRange: CMTimeRange, options: CFDictionary?,
  multiPassStorageOut: UnsafeMutablePointer<VTMultiPassStorage?>
) -> OSStatus {
  multiPassStorageOut.pointee = nil
  var keeps = false
  if let value = options?[kVTMultiPassStorageCreationOption_DoNotDelete] {
    guard let parsed = PropertyType.boolean.parse(value as AnyObject)?.boolean else { return kVTParameterErr }
    keeps = parsed
  }
  let path: String
  if let fileURL {
    guard let given = fileURL.path, fileURL.isFileURL else { return kVTParameterErr }
    path = given
  } else {
    path =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("multipass-\(UUID().uuidString).stats").path
  }
  // An encoder library reports a path that it cannot write to only as a failure to start: find out here.
  guard FileManager.default.createFile(atPath: path, contents: nil) else {
    return kVTMultiPassStorageInvalidErr
  }
  multiPassStorageOut.pointee = VTMultiPassStorage(path: path, timeRange: timeRange, keepsFiles: keeps)
  return noErr
}

/// Closes the storage and deletes its files, unless it was created to keep them.
/// - Returns: `kVTMultiPassStorageInvalidErr` if it was closed before.
@discardableResult
public func VTMultiPassStorageClose(_ multiPassStorage: VTMultiPassStorage) -> OSStatus {
  guard multiPassStorage.isOpen else { return kVTMultiPassStorageInvalidErr }
  multiPassStorage.close()
  return noErr
}
