// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// The definition of one property of a session. Setting, reading, checking and describing the
/// property all follow from it.
struct SessionProperty<State>: Sendable {
  let key: String
  let type: PropertyType
  let documentation: String
  /// The value that reading returns if none was set; nil if there is none then.
  var defaultValue: PropertyValue?
  /// Whether `VTSessionCopySerializableProperties` includes the property.
  var isSerialized = true
  /// Reads the value from the session's state. A property with this closure is read-only.
  var read: (@Sendable (State) -> AnyObject?)?
  /// The type and the allowed values, where they depend on the session's state.
  var typeIn: (@Sendable (State) -> PropertyType)?
  /// Whether the session has the property.
  var isOffered: @Sendable (State) -> Bool = { _ in true }
  /// Checks a value of the right type further; false makes it an error.
  var check: (@Sendable (PropertyValue) -> Bool)?
  /// Checks the value of a property that is stored as it is, because `PropertyValue` cannot hold
  /// it.
  var accepts: (@Sendable (AnyObject) -> Bool)?

  init(_ key: CFString, _ type: PropertyType, _ documentation: String) {
    self.key = key as String
    self.type = type
    self.documentation = documentation
  }

  /// Returns a copy with changes.
  func with(_ change: (inout Self) -> Void) -> Self {
    var copy = self
    change(&copy)
    return copy
  }
}

/// The values of a session's properties. The session guards it with its lock.
struct PropertyStore<State> {
  let table: [SessionProperty<State>]
  /// The values that were set, by property.
  private var values: [String: PropertyValue] = [:]
  /// The values of properties with `accepts` that were set, by property.
  private var objects: [String: AnyObject] = [:]

  init(_ table: [SessionProperty<State>]) { self.table = table }

  var order: [String] { table.map(\.key) }

  /// The value that was set, or the default.
  subscript(key: CFString) -> PropertyValue? {
    let key = key as String
    return values[key] ?? table.first { $0.key == key }?.defaultValue
  }

  func isSet(_ key: CFString) -> Bool { values[key as String] != nil }

  func object(_ key: CFString) -> AnyObject? { objects[key as String] }

  /// Checks and stores a value; nil restores the default.
  /// - Parameters:
  ///   - key: The property's name.
  ///   - value: The value.
  ///   - state: The session's state.
  /// - Returns: The status that `VTSessionSetProperty` returns.
  mutating func set(_ key: String, to value: AnyObject?, _ state: State) -> OSStatus {
    guard let row = row(key, state) else { return kVTPropertyNotSupportedErr }
    guard row.read == nil else { return kVTPropertyReadOnlyErr }
    guard let value else {
      values[key] = nil
      objects[key] = nil
      return noErr
    }
    if let accepts = row.accepts {
      guard accepts(value) else { return kVTParameterErr }
      objects[key] = value
      return noErr
    }
    guard let parsed = (row.typeIn?(state) ?? row.type).parse(value), row.check?(parsed) ?? true else {
      return kVTParameterErr
    }
    values[key] = parsed
    return noErr
  }

  /// Reads a property, as `VTSessionCopyProperty` returns it.
  func copy(_ key: String, _ state: State) -> (status: OSStatus, value: AnyObject?) {
    guard let row = row(key, state) else { return (kVTPropertyNotSupportedErr, nil) }
    if let read = row.read { return (noErr, read(state)) }
    if row.accepts != nil { return (noErr, objects[key]) }
    return (noErr, (values[key] ?? row.defaultValue)?.object)
  }

  /// The dictionaries that describe the properties, by property.
  func supported(_ state: State) -> [String: [String: Any]] {
    var result: [String: [String: Any]] = [:]
    for row in table where row.isOffered(state) {
      var entry = (row.typeIn?(state) ?? row.type).description
      entry[kVTPropertyReadWriteStatusKey as String] =
        row.read == nil ? kVTPropertyReadWriteStatus_ReadWrite : kVTPropertyReadWriteStatus_ReadOnly
      entry[kVTPropertyShouldBeSerializedKey as String] = NSNumber(value: row.isSerialized && row.read == nil)
      entry[kVTPropertyDocumentationKey as String] = row.documentation as NSString
      result[row.key] = entry
    }
    return result
  }

  /// The values that were set and that apply to another session too.
  func serializable(_ state: State) -> [String: Any] {
    var result: [String: Any] = [:]
    for row in table where row.isSerialized && row.isOffered(state) {
      if let value = values[row.key]?.object ?? objects[row.key] { result[row.key] = value }
    }
    return result
  }

  private func row(_ key: String, _ state: State) -> SessionProperty<State>? {
    table.first { $0.key == key && $0.isOffered(state) }
  }
}
