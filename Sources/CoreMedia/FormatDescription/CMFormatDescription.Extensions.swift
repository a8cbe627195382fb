// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

extension CMFormatDescription {
  /// The extensions of a format description, apart from its type and dimensions: property list
  /// values by key.
  public struct Extensions {
    /// The name of an extension.
    public struct Key: RawRepresentable, Hashable, @unchecked Sendable {
      // Sendable: immutable; a CFString is.
      public let rawValue: CFString
      public init(rawValue: CFString) { self.rawValue = rawValue }

      public static let originalCompressionSettings = Key(
        rawValue: kCMFormatDescriptionExtension_OriginalCompressionSettings)
      public static let sampleDescriptionExtensionAtoms = Key(
        rawValue: kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms)
      public static let verbatimSampleDescription = Key(
        rawValue: kCMFormatDescriptionExtension_VerbatimSampleDescription)
      public static let verbatimISOSampleEntry = Key(
        rawValue: kCMFormatDescriptionExtension_VerbatimISOSampleEntry)
      public static let formatName = Key(rawValue: kCMFormatDescriptionExtension_FormatName)
      public static let depth = Key(rawValue: kCMFormatDescriptionExtension_Depth)
      public static let cleanAperture = Key(rawValue: kCMFormatDescriptionExtension_CleanAperture)
      public static let fieldCount = Key(rawValue: kCMFormatDescriptionExtension_FieldCount)
      public static let fieldDetail = Key(rawValue: kCMFormatDescriptionExtension_FieldDetail)
      public static let pixelAspectRatio = Key(rawValue: kCMFormatDescriptionExtension_PixelAspectRatio)
      public static let colorPrimaries = Key(rawValue: kCMFormatDescriptionExtension_ColorPrimaries)
      public static let transferFunction = Key(rawValue: kCMFormatDescriptionExtension_TransferFunction)
      public static let gammaLevel = Key(rawValue: kCMFormatDescriptionExtension_GammaLevel)
      public static let yCbCrMatrix = Key(rawValue: kCMFormatDescriptionExtension_YCbCrMatrix)
      public static let fullRangeVideo = Key(rawValue: kCMFormatDescriptionExtension_FullRangeVideo)
      public static let iccProfile = Key(rawValue: kCMFormatDescriptionExtension_ICCProfile)
      public static let bytesPerRow = Key(rawValue: kCMFormatDescriptionExtension_BytesPerRow)
      public static let chromaLocationTopField = Key(
        rawValue: kCMFormatDescriptionExtension_ChromaLocationTopField)
      public static let chromaLocationBottomField = Key(
        rawValue: kCMFormatDescriptionExtension_ChromaLocationBottomField)
      public static let conformsToMPEG2VideoProfile = Key(
        rawValue: kCMFormatDescriptionExtension_ConformsToMPEG2VideoProfile)
      public static let temporalQuality = Key(rawValue: kCMFormatDescriptionExtension_TemporalQuality)
      public static let spatialQuality = Key(rawValue: kCMFormatDescriptionExtension_SpatialQuality)
      public static let version = Key(rawValue: kCMFormatDescriptionExtension_Version)
      public static let revisionLevel = Key(rawValue: kCMFormatDescriptionExtension_RevisionLevel)
      public static let vendor = Key(rawValue: kCMFormatDescriptionExtension_Vendor)
      public static let masteringDisplayColorVolume = Key(
        rawValue: kCMFormatDescriptionExtension_MasteringDisplayColorVolume)
      public static let contentLightLevelInfo = Key(
        rawValue: kCMFormatDescriptionExtension_ContentLightLevelInfo)
      public static let alternativeTransferCharacteristics = Key(
        rawValue: kCMFormatDescriptionExtension_AlternativeTransferCharacteristics)
      public static let auxiliaryTypeInfo = Key(rawValue: kCMFormatDescriptionExtension_AuxiliaryTypeInfo)
      public static let alphaChannelMode = Key(rawValue: kCMFormatDescriptionExtension_AlphaChannelMode)
      public static let containsAlphaChannel = Key(
        rawValue: kCMFormatDescriptionExtension_ContainsAlphaChannel)
    }

    private var values: [Key: Value]

    /// Creates an empty collection.
    public init() { values = [:] }

    /// Creates the extensions in a dictionary.
    public init(base: [CFString: CFPropertyList]?) {
      values = [:]
      for (key, value) in base ?? [:] { values[Key(rawValue: key)] = Value(value) }
    }

    init(dictionary: CFDictionary?) {
      values = [:]
      dictionary?.enumerateKeysAndObjects { key, value, _ in
        guard let key = key as? String else { return }
        values[Key(rawValue: key as CFString)] = Value(value as AnyObject)
      }
    }

    /// The extensions as a dictionary for the functions of Core Media; nil if there are none.
    var dictionary: CFDictionary? {
      if values.isEmpty { return nil }
      let result = NSMutableDictionary()
      for (key, value) in values { result.setObject(value.propertyListRepresentation, forKey: key.rawValue) }
      return result
    }

    /// The value of an extension; nil removes it.
    public subscript(key: Key) -> Value? {
      get { values[key] }
      set { values[key] = newValue }
    }

    /// The value of an extension; nil removes it.
    public subscript(key: CFString) -> CFPropertyList? {
      get { values[Key(rawValue: key)]?.propertyListRepresentation }
      set { values[Key(rawValue: key)] = newValue.map { Value($0) } }
    }
  }
}

extension CMFormatDescription.Extensions: Collection {
  public typealias Element = (key: Key, value: Value)

  public struct Index: Comparable {
    let base: Dictionary<Key, Value>.Index
    public static func < (a: Index, b: Index) -> Bool { a.base < b.base }
  }

  public var startIndex: Index { Index(base: values.startIndex) }
  public var endIndex: Index { Index(base: values.endIndex) }
  public func index(after index: Index) -> Index { Index(base: values.index(after: index.base)) }
  public subscript(position: Index) -> Element { values[position.base] }
}

extension CMFormatDescription.Extensions: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (Key, Value)...) {
    values = Dictionary(elements) { $1 }
  }
}
