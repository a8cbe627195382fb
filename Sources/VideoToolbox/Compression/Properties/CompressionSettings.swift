// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// The values of the properties that were set on a compression session. The session guards them
/// with its lock.
struct CompressionSettings {
  /// The properties that the session's encoder has.
  let table: CompressionPropertyTable
  private let width: Int
  private let height: Int
  private var values: [String: PropertyValue] = [:]
  /// The number of changes so far.
  private(set) var generation = 0

  init(table: CompressionPropertyTable, width: Int, height: Int) {
    self.table = table
    self.width = width
    self.height = height
  }

  /// Checks and stores a value.
  /// - Parameters:
  ///   - key: The property's name.
  ///   - object: The value; nil restores the default.
  ///   - hasFrames: Whether frames were encoded before, after which some properties cannot change.
  /// - Returns: The status that `VTSessionSetProperty` returns.
  mutating func set(_ key: String, to object: AnyObject?, hasFrames: Bool) -> OSStatus {
    guard let row = table[key] else {
      return object.map { Self.isImplied(key, $0) } == true ? noErr : kVTPropertyNotSupportedErr
    }
    if row.change == .readOnly { return kVTPropertyReadOnlyErr }
    if row.change == .beforeFrames, hasFrames {
      // Setting the current value again is not an error.
      let current = values[key] ?? row.defaultValue
      let wanted = object.map { row.type(for: table.encoder).parse($0) } ?? row.defaultValue
      return wanted != nil && wanted == current ? noErr : kVTPropertyReadOnlyErr
    }
    var changed = self
    if let object {
      guard let value = row.type(for: table.encoder).parse(object) else { return kVTParameterErr }
      if isEffective(value), row.excludes.contains(where: { values[$0].map(isEffective) ?? false }) {
        return kVTPropertyNotSupportedErr
      }
      if values[key] == value { return noErr }
      changed.values[key] = value
    } else {
      guard values[key] != nil else { return noErr }
      changed.values[key] = nil
    }
    guard changed.draft() != nil else { return kVTParameterErr }
    changed.generation += 1
    self = changed
    return noErr
  }

  /// Whether a value counts as set, for properties that exclude each other: a bit rate of 0 and an
  /// empty list of limits do not.
  private func isEffective(_ value: PropertyValue) -> Bool {
    value != .number(0) && value != .numbers([])
  }

  /// The value set, or the default.
  func value(_ row: CompressionProperty) -> AnyObject? { (values[row.key] ?? row.defaultValue)?.object }

  /// The values that were set and that apply to another session too.
  var serializable: [String: Any] {
    var result: [String: Any] = [:]
    for row in table.rows where row.isSerialized && row.change != .readOnly {
      if let value = values[row.key] { result[row.key] = value.object }
    }
    return result
  }

  /// Applies all values to a draft; nil if they contradict each other.
  func draft() -> CompressionDraft? {
    let encoder = table.encoder
    var draft = CompressionDraft(
      codec: encoder.codec, width: width, height: height,
      format: encoder.inputFormats.first ?? .nv12VideoRange)
    for row in table.rows {
      guard let value = values[row.key] else { continue }
      guard row.apply(value, &draft) else { return nil }
    }
    return draft
  }
}
