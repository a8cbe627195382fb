// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// A session with properties, on which the `VTSession...` functions work.
///
/// The functions of the protocol are called without a lock: the class guards its own state.
protocol PropertySession: AnyObject {
  /// Sets a property; nil restores its default.
  func setProperty(_ key: String, to value: AnyObject?) -> OSStatus

  /// Reads a property. A nil value with `noErr` means that the property has none.
  func copyProperty(_ key: String) -> (status: OSStatus, value: AnyObject?)

  /// Describes the properties: each name with a dictionary of `kVTProperty...Key` keys.
  func copySupportedProperties() -> (status: OSStatus, properties: [String: [String: Any]])

  /// The properties that were set and that apply to another session too.
  func copySerializableProperties() -> (status: OSStatus, properties: [String: Any])

  /// The order in which the properties of one dictionary are set; those that are not in it are set
  /// last.
  var propertyOrder: [String] { get }
}
