// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// What a class has to offer for the `VTSession...` functions to work on it.
///
/// The functions of the protocol are called under no lock: the class guards its own state.
protocol PropertySession: AnyObject {
  /// Sets a property, or puts its default back if the value is nil.
  func setProperty(_ key: String, to value: AnyObject?) -> OSStatus

  /// Reads a property. Nil with `noErr` is a property that has no value.
  func copyProperty(_ key: String) -> (status: OSStatus, value: AnyObject?)

  /// Each property by its name, described by a dictionary of `kVTProperty...Key` keys.
  func copySupportedProperties() -> (status: OSStatus, properties: [String: [String: Any]])

  /// The properties that were set, as far as they make sense in another session.
  func copySerializableProperties() -> (status: OSStatus, properties: [String: Any])

  /// The order in which properties of one dictionary are set; what is not in it comes last.
  var propertyOrder: [String] { get }
}
