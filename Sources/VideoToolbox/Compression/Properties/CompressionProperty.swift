// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// The definition of one property of a compression session. Setting, reading, checking and
/// describing the property all follow from it.
struct CompressionProperty: Sendable {
  /// When a new value takes effect. The session enforces `beforeFrames` and `readOnly`; whether one
  /// of the others needs a key frame is decided by the encoder's `reconfigure`.
  enum Change: Sendable {
    /// From the next frame on.
    case nextFrame
    /// From the next frame on, which is a key frame if frames were encoded before.
    case nextKeyFrame
    /// Before the first frame only.
    case beforeFrames
    /// Never: it can only be read.
    case readOnly
  }

  let key: String
  let type: PropertyType
  let change: Change
  let documentation: String
  /// The feature that the encoder must have for the property to exist; nil for none.
  var feature: EncoderFeature?
  /// The codec that the encoder must encode for the property to exist; nil for any.
  var codec: CodecType?
  /// Any other condition that the encoder must meet for the property to exist.
  var isOffered: @Sendable (EncoderDescription) -> Bool = { _ in true }
  /// The names of properties that must not be set at the same time.
  var excludes: [String] = []
  /// Whether `VTSessionCopySerializableProperties` includes the property.
  var isSerialized = true
  /// The value that reading returns if none was set; nil if there is none then.
  var defaultValue: PropertyValue?
  /// The default value where it depends on the encoder.
  var defaultForEncoder: (@Sendable (EncoderDescription) -> PropertyValue?)?
  /// The type and the allowed values, where they depend on the encoder.
  var typeForEncoder: (@Sendable (EncoderDescription) -> PropertyType)?
  /// Writes a value into the draft; returns false if the value is invalid.
  var apply: @Sendable (PropertyValue, inout CompressionDraft) -> Bool = { _, _ in true }
  /// Reads the value from the session's state, for read-only properties; nil for all others.
  var read: (@Sendable (CompressionState) -> AnyObject?)?

  func type(for encoder: EncoderDescription) -> PropertyType { typeForEncoder?(encoder) ?? type }

  /// The dictionary that `VTSessionCopySupportedPropertyDictionary` has for this property.
  func description(for encoder: EncoderDescription) -> [String: Any] {
    var result = type(for: encoder).description
    result[kVTPropertyReadWriteStatusKey as String] =
      change == .readOnly ? kVTPropertyReadWriteStatus_ReadOnly : kVTPropertyReadWriteStatus_ReadWrite
    result[kVTPropertyShouldBeSerializedKey as String] = NSNumber(value: isSerialized && change != .readOnly)
    result[kVTPropertyDocumentationKey as String] = documentation as NSString
    return result
  }
}

/// The state of a session that read-only properties are read from.
struct CompressionState {
  var encoder: EncoderDescription
  var pendingFrames: Int
  var width: Int
  var height: Int
  /// The pixel format of the pictures that the encoder gets, and that of the session's pool.
  var inputFormat: OSType
  var poolFormat: OSType
  /// The values of the properties that can be set.
  var draft: CompressionDraft
}

/// The properties that an encoder has.
struct CompressionPropertyTable: Sendable {
  let encoder: EncoderDescription
  let rows: [CompressionProperty]
  private let indices: [String: Int]

  init(encoder: EncoderDescription) {
    self.encoder = encoder
    rows = CompressionProperty.all.filter { row in
      if let feature = row.feature, !encoder.features.contains(feature) { return false }
      if let codec = row.codec, codec != encoder.codec { return false }
      return row.isOffered(encoder)
    }.map { row in
      guard let value = row.defaultForEncoder?(encoder) else { return row }
      var row = row
      row.defaultValue = value
      return row
    }
    indices = Dictionary(uniqueKeysWithValues: rows.enumerated().map { ($1.key, $0) })
  }

  subscript(key: String) -> CompressionProperty? { indices[key].map { rows[$0] } }

  var supportedProperties: [String: [String: Any]] {
    Dictionary(uniqueKeysWithValues: rows.map { ($0.key, $0.description(for: encoder)) })
  }

  /// The properties by which encoders of one codec differ
  /// (`kVTVideoEncoderList_SupportedSelectionProperties`).
  var selectionProperties: [String: [String: Any]] {
    let keys = [kVTCompressionPropertyKey_ProfileLevel, kVTCompressionPropertyKey_Quality].map {
      $0 as String
    }
    return supportedProperties.filter { keys.contains($0.key) }
  }
}

extension CompressionProperty {
  /// The properties of all encoders, in the order in which they are applied to a draft.
  static let all: [CompressionProperty] =
    streamRows + rateRows + quantizerRows + structureRows + effortRows + pictureRows + transferRows
    + layerRows + ownRows + stateRows + subdivisionRows
}
