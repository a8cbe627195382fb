// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// The properties that were set on a session.
struct CompressionSettings {
  let table: CompressionPropertyTable
  private let width: Int
  private let height: Int
  private var values: [String: PropertyValue] = [:]
  /// Counts the changes.
  private(set) var generation = 0

  init(table: CompressionPropertyTable, width: Int, height: Int) {
    self.table = table
    self.width = width
    self.height = height
  }

  /// Checks and stores a value; nil puts the default back.
  /// - Parameter hasFrames: frames were encoded before.
  mutating func set(_ key: String, to object: AnyObject?, hasFrames: Bool) -> OSStatus {
    guard let row = table[key] else {
      return object.map { Self.isImplied(key, $0) } == true ? noErr : kVTPropertyNotSupportedErr
    }
    if row.change == .readOnly { return kVTPropertyReadOnlyErr }
    if row.change == .beforeFrames, hasFrames {
      // What is so already may be said again.
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

  /// A bit rate of 0 and an empty list of limits are as good as not set.
  private func isEffective(_ value: PropertyValue) -> Bool {
    value != .number(0) && value != .numbers([])
  }

  /// The value set, or the default.
  func value(_ row: CompressionProperty) -> AnyObject? { (values[row.key] ?? row.defaultValue)?.object }

  /// What was set, for another session.
  var serializable: [String: Any] {
    var result: [String: Any] = [:]
    for row in table.rows where row.isSerialized && row.change != .readOnly {
      if let value = values[row.key] { result[row.key] = value.object }
    }
    return result
  }

  /// What the values amount to, or nil if they contradict each other.
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
