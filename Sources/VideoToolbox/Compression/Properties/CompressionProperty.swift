// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// One property of a compression session: a row of the table from which setting, reading, checking and describing it
/// all follow.
struct CompressionProperty: Sendable {
  /// When a new value takes effect. The session enforces the last two; between the first two the encoder's
  /// `reconfigure` decides.
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
  /// The encoder must have this feature.
  var feature: EncoderFeature?
  /// The encoder must code this codec.
  var codec: CodecType?
  /// Any other condition on the encoder.
  var isOffered: @Sendable (EncoderDescription) -> Bool = { _ in true }
  /// Properties that must not be set at the same time.
  var excludes: [String] = []
  var isSerialized = true
  /// What reading gives if nothing was set; nil for a property that has no value then.
  var defaultValue: PropertyValue?
  /// The same where it depends on the encoder.
  var defaultForEncoder: (@Sendable (EncoderDescription) -> PropertyValue?)?
  /// Values allowed where they depend on the encoder.
  var typeForEncoder: (@Sendable (EncoderDescription) -> PropertyType)?
  /// Puts the value into the configuration; false if it makes no sense.
  var apply: @Sendable (PropertyValue, inout CompressionDraft) -> Bool = { _, _ in true }
  /// Reads the value from the session's state, for read-only properties.
  var read: (@Sendable (CompressionState) -> AnyObject?)?

  func type(for encoder: EncoderDescription) -> PropertyType { typeForEncoder?(encoder) ?? type }

  /// What `VTSessionCopySupportedPropertyDictionary` says.
  func description(for encoder: EncoderDescription) -> [String: Any] {
    var result = type(for: encoder).description
    result[kVTPropertyReadWriteStatusKey as String] =
      change == .readOnly ? kVTPropertyReadWriteStatus_ReadOnly : kVTPropertyReadWriteStatus_ReadWrite
    result[kVTPropertyShouldBeSerializedKey as String] = NSNumber(value: isSerialized && change != .readOnly)
    result[kVTPropertyDocumentationKey as String] = documentation as NSString
    return result
  }
}

/// What read-only properties are read from.
struct CompressionState {
  var encoder: EncoderDescription
  var pendingFrames: Int
  var width: Int
  var height: Int
  /// The pixel format that the encoder takes, and that of the session's pool.
  var inputFormat: OSType
  var poolFormat: OSType
  /// What the properties that can be set say.
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

  /// Properties by which one encoder differs from another of the same codec.
  var selectionProperties: [String: [String: Any]] {
    let keys = [kVTCompressionPropertyKey_ProfileLevel, kVTCompressionPropertyKey_Quality].map {
      $0 as String
    }
    return supportedProperties.filter { keys.contains($0.key) }
  }
}

extension CompressionProperty {
  /// Every property of every encoder, in the order in which they are set.
  static let all: [CompressionProperty] =
    streamRows + rateRows + quantizerRows + structureRows + effortRows + pictureRows + transferRows
    + layerRows + ownRows + stateRows + subdivisionRows
}
