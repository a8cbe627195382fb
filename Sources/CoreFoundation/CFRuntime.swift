// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The information about a reference type that Core Foundation's functions need.
///
/// Classes of the other modules conform. `CFGetTypeID`, `CFEqual`, `CFHash` and `CFCopyDescription`
/// use these members.
package protocol CFRuntimeObject: AnyObject {
  /// The identifier of the type. `CFRuntimeRegister(_:)` returns it, and the type keeps it in a
  /// static constant.
  static var cfTypeID: CFTypeID { get }
  func cfIsEqual(to other: AnyObject) -> Bool
  var cfHash: CFHashCode { get }
  var cfDescription: String { get }
}

extension CFRuntimeObject {
  package func cfIsEqual(to other: AnyObject) -> Bool { self === other }
  package var cfHash: CFHashCode { CFHashCode(bitPattern: ObjectIdentifier(self).hashValue) }
  package var cfDescription: String {
    "<\(type(of: self)) 0x\(String(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), radix: 16))>"
  }
}

/// The names of the registered types. The identifier of a type is its index plus
/// `firstRegisteredID`.
private let registeredNames = Mutex<[String]>([])
private let firstRegisteredID: CFTypeID = 256

/// Registers a class and returns its type identifier. It must be called once per class.
package func CFRuntimeRegister(_ name: String) -> CFTypeID {
  registeredNames.withLock {
    $0.append(name)
    return firstRegisteredID + CFTypeID($0.count - 1)
  }
}

package func CFRuntimeName(of id: CFTypeID) -> String? {
  guard id >= firstRegisteredID else { return nil }
  let index = Int(id - firstRegisteredID)
  return registeredNames.withLock { $0.indices.contains(index) ? $0[index] : nil }
}
