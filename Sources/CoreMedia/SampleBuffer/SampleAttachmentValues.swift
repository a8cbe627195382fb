// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// The attachments of one sample as plain values, which are converted to a dictionary on demand.
/// Many programs never need the dictionary, which takes several allocations for each frame.
package struct SampleAttachmentValues {
  package enum Value {
    case flag(Bool)
    case integer(Int64)
    case real(Double)
    /// An object that nothing else modifies.
    case object(NSObject)
  }

  /// The largest number of values.
  package static let capacity = 9

  private var entries: InlineArray<9, (key: CFString, value: Value)?> = InlineArray(repeating: nil)
  private var count = 0

  package init() {}

  /// Appends a value.
  /// - Precondition: There is space, and no value for the key.
  package mutating func append(_ key: CFString, _ value: Value) {
    entries[count] = (key, value)
    count += 1
  }

  /// Returns a new dictionary with the values.
  func dictionary() -> NSMutableDictionary {
    let dictionary = NSMutableDictionary(capacity: count)
    for index in 0..<count {
      guard let (key, value) = entries[index] else { continue }
      dictionary.setObject(value.object, forKey: key)
    }
    return dictionary
  }
}

extension SampleAttachmentValues.Value {
  fileprivate var object: NSObject {
    switch self {
    case .flag(let isSet): NSNumber(value: isSet)
    case .integer(let number): NSNumber(value: number)
    case .real(let number): NSNumber(value: number)
    case .object(let object): object
    }
  }
}
