// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import Synchronization
import VideoToolbox

/// Converts results for C code: objects to pointers, and values to C structures.
enum ToC {
  /// Returns the address of an object with a reference that the caller owns.
  @inline(__always)
  static func retained<Object: AnyObject>(_ object: Object?) -> OpaquePointer? {
    guard let object else { return nil }
    let pointer = Unmanaged.passRetained(object).toOpaque()
    if ReferenceChecker.isOn { ReferenceChecker.shared.give(pointer, owned: true) }
    return OpaquePointer(pointer)
  }

  @inline(__always)
  static func retained(_ object: AnyObject?) -> UnsafeRawPointer? {
    guard let object else { return nil }
    let pointer = Unmanaged.passRetained(object).toOpaque()
    if ReferenceChecker.isOn { ReferenceChecker.shared.give(pointer, owned: true) }
    return UnsafeRawPointer(pointer)
  }

  /// Returns the address of an object that the caller does not own. Something else must keep the
  /// object alive.
  @inline(__always)
  static func unretained<Object: AnyObject>(_ object: Object?) -> OpaquePointer? {
    guard let object else { return nil }
    let pointer = Unmanaged.passUnretained(object).toOpaque()
    if ReferenceChecker.isOn { ReferenceChecker.shared.give(pointer, owned: false) }
    return OpaquePointer(pointer)
  }

  @inline(__always)
  static func unretained(_ object: AnyObject?) -> UnsafeRawPointer? {
    guard let object else { return nil }
    let pointer = Unmanaged.passUnretained(object).toOpaque()
    if ReferenceChecker.isOn { ReferenceChecker.shared.give(pointer, owned: false) }
    return UnsafeRawPointer(pointer)
  }

  /// Returns an array of objects of the package, which the caller owns. An array that Swift creates
  /// contains such objects in boxes, which C code cannot read.
  static func array<Object: AnyObject>(_ objects: [Object]) -> OpaquePointer? {
    let pointers: [UnsafeRawPointer?] = objects.map {
      UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque())
    }
    return withExtendedLifetime(objects) {
      pointers.withUnsafeBufferPointer { OVTArrayCreate($0.baseAddress, $0.count) }
    }
  }

  // MARK: - Objects that are created on demand and that the caller does not own

  /// Returns the address of an object that the first call creates. Later calls with the same owner
  /// and name return the same object, which exists as long as the owner. The owner must be
  /// immutable.
  static func kept<Object: AnyObject>(by owner: AnyObject, _ name: String, _ make: () -> Object?)
    -> OpaquePointer?
  {
    unretained(KeptObjects.shared.object(of: owner, name, make: make))
  }

  static func kept(by owner: AnyObject, _ name: String, _ make: () -> AnyObject?) -> UnsafeRawPointer? {
    unretained(KeptObjects.shared.object(of: owner, name, make: make))
  }

  /// Returns the address of a text that is never released. There must be a limited number of such
  /// texts.
  static func interned(_ text: NSString) -> OpaquePointer? {
    unretained(KeptObjects.shared.object(of: KeptObjects.shared, "text " + (text as String)) { text })
  }

  /// Returns the address of an array of texts that is never released; nil for nil.
  static func interned(_ texts: NSArray?) -> OpaquePointer? {
    guard let texts else { return nil }
    let name = (0..<texts.count).map { "\(texts.object(at: $0))" }.joined(separator: "\n")
    return unretained(KeptObjects.shared.object(of: KeptObjects.shared, "array " + name) { texts })
  }

  // MARK: - Structures

  @inline(__always)
  static func value(_ time: CMTime) -> C_CMTime { unsafeBitCast(time, to: C_CMTime.self) }
  @inline(__always)
  static func value(_ range: CMTimeRange) -> C_CMTimeRange { unsafeBitCast(range, to: C_CMTimeRange.self) }
  @inline(__always)
  static func value(_ mapping: CMTimeMapping) -> C_CMTimeMapping {
    unsafeBitCast(mapping, to: C_CMTimeMapping.self)
  }
  @inline(__always)
  static func value(_ size: CMVideoDimensions) -> C_CMVideoDimensions {
    C_CMVideoDimensions(width: size.width, height: size.height)
  }
  @inline(__always)
  static func value(_ size: CGSize) -> C_CGSize { C_CGSize(width: size.width, height: size.height) }
  @inline(__always)
  static func value(_ rect: CGRect) -> C_CGRect {
    C_CGRect(
      origin: C_CGPoint(x: rect.origin.x, y: rect.origin.y), size: value(rect.size))
  }
}

/// Keeps the objects that C functions with "Get" in their names create. C code does not own these
/// objects, so they are kept here as long as their owners exist.
final class KeptObjects: @unchecked Sendable {
  // Sendable: the mutex guards the list, and the objects in it are not changed.
  static let shared = KeptObjects()

  /// The objects of an owner by their names.
  private struct Entry {
    weak var owner: AnyObject?
    var objects: [String: AnyObject] = [:]
  }

  private struct Store: @unchecked Sendable {
    // Sendable: guarded by the mutex.
    var entries: [ObjectIdentifier: Entry] = [:]
    /// The number of entries at which those whose owners no longer exist are removed.
    var limit = 64
  }

  private let store = Mutex(Store())

  /// Returns the object that an owner has under a name, and creates it if there is none.
  func object<Object: AnyObject>(of owner: AnyObject, _ name: String, make: () -> Object?) -> Object? {
    let id = ObjectIdentifier(owner)
    if let known = known(id, owner, name) as? Object { return known }
    guard let made = make() else { return nil }
    return keep(made, id, owner, name) as? Object
  }

  /// Replaces the object that an owner has under a name.
  func replace(_ object: AnyObject, of owner: AnyObject, _ name: String) {
    let id = ObjectIdentifier(owner)
    // The old object is returned from the closure, so that it is not released under the lock.
    let old = store.withLock { store -> Unchecked in
      if store.entries[id]?.owner !== owner { store.entries[id] = Entry(owner: owner) }
      return Unchecked(value: store.entries[id]?.objects.updateValue(object, forKey: name))
    }
    _ = old
  }

  /// Carries an object into the lock or out of it.
  private struct Unchecked: @unchecked Sendable {
    // Sendable: the objects are not changed.
    let value: AnyObject?
  }

  /// Returns the object that an owner has under a name; nil if there is none.
  private func known(_ id: ObjectIdentifier, _ owner: AnyObject, _ name: String) -> AnyObject? {
    store.withLock { store in
      guard let entry = store.entries[id], entry.owner === owner else { return Unchecked(value: nil) }
      return Unchecked(value: entry.objects[name])
    }.value
  }

  /// Stores an object under a name, unless the owner has one already.
  /// - Returns: The stored object.
  private func keep(_ object: AnyObject, _ id: ObjectIdentifier, _ owner: AnyObject, _ name: String)
    -> AnyObject
  {
    let box = Unchecked(value: object)
    let ownerBox = Unchecked(value: owner)
    return store.withLock { store -> Unchecked in
      if store.entries.count >= store.limit {
        store.entries = store.entries.filter { $0.value.owner != nil }
        store.limit = max(64, 2 * store.entries.count)
      }
      if store.entries[id]?.owner !== ownerBox.value { store.entries[id] = Entry(owner: ownerBox.value) }
      // Another thread may have been faster.
      if let known = store.entries[id]?.objects[name] { return Unchecked(value: known) }
      store.entries[id]?.objects[name] = box.value
      return box
    }.value ?? object
  }
}
