// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What a reference type of this package tells Core Foundation about itself.
///
/// Classes of the other modules conform; `CFGetTypeID`, `CFEqual`, `CFHash` and `CFCopyDescription` ask here.
package protocol CFRuntimeObject: AnyObject {
  /// The type's identifier, from `CFRuntimeRegister(_:)`, kept in a static constant.
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

/// The names of the types registered so far; a type's identifier is its index, counted from `first`.
private let registeredNames = Mutex<[String]>([])
private let firstRegisteredID: CFTypeID = 256

/// Gives a class of this package its type identifier. Call it once for each class.
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
