// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import VideoBitstream

/// Parses and writes the extension atoms of a sample description. Some atoms correspond to
/// extensions of a format description; all others are kept.
enum SampleDescriptionAtoms {
  // MARK: - Read

  /// Parses atoms to the end of the data, or up to a size of zero.
  static func read(_ data: Data, into extensions: NSMutableDictionary) throws {
    var reader = ByteReader(data)
    var others: [String: [Data]] = [:]
    while reader.remaining >= 8 {
      let size = Int(try reader.uint32())
      // A size of zero ends the list.
      if size == 0 { break }
      let type = fourCharacters(try reader.uint32())
      guard size >= 8 else { throw SyntaxError.invalid }
      let payload = Data(try reader.bytes(size - 8))
      if !(try read(type, payload, into: extensions)) { others[type, default: []].append(payload) }
    }
    if !others.isEmpty {
      extensions[kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms] =
        others.mapValues { $0.count == 1 ? $0[0] as Any : $0 as Any } as NSDictionary
    }
  }

  /// Parses an atom that corresponds to extensions; returns false if it does not.
  private static func read(_ type: String, _ payload: Data, into extensions: NSMutableDictionary) throws
    -> Bool
  {
    var reader = ByteReader(payload)
    switch type {
    case "pasp":
      extensions[kCMFormatDescriptionExtension_PixelAspectRatio] =
        [
          kCMFormatDescriptionKey_PixelAspectRatioHorizontalSpacing: NSNumber(
            value: Int(try reader.uint32())),
          kCMFormatDescriptionKey_PixelAspectRatioVerticalSpacing: NSNumber(value: Int(try reader.uint32())),
        ] as NSDictionary
    case "clap":
      let content = [UInt8](try reader.bytes(32))
      // An atom with an invalid fraction is ignored.
      if let aperture = CleanAperture(content) {
        extensions[kCMFormatDescriptionExtension_CleanAperture] = aperture.dictionary
      }
    case "colr": return try readColour(&reader, into: extensions)
    case "fiel":
      extensions[kCMFormatDescriptionExtension_FieldCount] = NSNumber(value: Int(try reader.uint8()))
      extensions[kCMFormatDescriptionExtension_FieldDetail] = fieldDetails[try reader.uint8()]
    case "gama":
      extensions[kCMFormatDescriptionExtension_GammaLevel] = NSNumber(
        value: Double(try reader.uint32()) / 65536)
    case "mdcv": extensions[kCMFormatDescriptionExtension_MasteringDisplayColorVolume] = payload as NSData
    case "clli": extensions[kCMFormatDescriptionExtension_ContentLightLevelInfo] = payload as NSData
    default: return false
    }
    return true
  }

  private static func readColour(_ reader: inout ByteReader<Data>, into extensions: NSMutableDictionary)
    throws
    -> Bool
  {
    switch fourCharacters(try reader.uint32()) {
    case let kind where kind == "nclc" || kind == "nclx":
      func name(_ table: ColorCodePoints) throws -> CFString? {
        table.name(of: Int(try reader.uint16())).map { $0 as CFString }
      }
      extensions[kCMFormatDescriptionExtension_ColorPrimaries] = try name(.primaries)
      extensions[kCMFormatDescriptionExtension_TransferFunction] = try name(.transferFunctions)
      extensions[kCMFormatDescriptionExtension_YCbCrMatrix] = try name(.matrices)
      if kind == "nclx" {
        extensions[kCMFormatDescriptionExtension_FullRangeVideo] = NSNumber(
          value: try reader.uint8() & 0x80 != 0)
      }
      return true
    case "prof", "rICC":
      extensions[kCMFormatDescriptionExtension_ICCProfile] =
        Data(try reader.bytes(reader.remaining)) as NSData
      return true
    default: return false
    }
  }

  // MARK: - Write

  /// Returns the atoms for the extensions of a description.
  ///
  /// - Parameters:
  ///   - description: The description.
  ///   - isQuickTime: Whether the atoms are for a QuickTime movie, rather than the ISO family.
  static func write(_ description: CMFormatDescription, isQuickTime: Bool) -> Data {
    var result = Data()
    func append(_ type: String, _ payload: Data) {
      result.append(bigEndian: UInt32(clamping: payload.count + 8))
      result.append(bigEndian: fourCharCode(type))
      result.append(payload)
    }
    if let atoms = description.extensionValue(kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms)
      as? [String: Any]
    {
      for (type, value) in atoms.sorted(by: { $0.key < $1.key }) {
        for payload in value as? [Data] ?? (value as? Data).map({ [$0] }) ?? [] { append(type, payload) }
      }
    }
    if let colour = colour(description, isQuickTime: isQuickTime) { append("colr", colour) }
    if let profile = description.extensionValue(kCMFormatDescriptionExtension_ICCProfile) as? Data {
      append("colr", Data("prof".utf8) + profile)
    }
    if let gamma = description.extensionValue(kCMFormatDescriptionExtension_GammaLevel) as? NSNumber,
      isQuickTime
    {
      append("gama", bigEndian([UInt32(max(0, min(gamma.doubleValue, 65535)) * 65536)]))
    }
    if let count = description.extensionValue(kCMFormatDescriptionExtension_FieldCount) as? NSNumber {
      let detail = description.extensionValue(kCMFormatDescriptionExtension_FieldDetail) as? String
      let code = fieldDetails.first { $0.value as String == detail }?.key ?? 0
      append("fiel", Data([UInt8(clamping: count.intValue), code]))
    }
    if let ratio = description.extensionValue(kCMFormatDescriptionExtension_PixelAspectRatio)
      as? NSDictionary,
      let horizontal = ratio.object(forKey: kCMFormatDescriptionKey_PixelAspectRatioHorizontalSpacing)
        as? NSNumber,
      let vertical = ratio.object(forKey: kCMFormatDescriptionKey_PixelAspectRatioVerticalSpacing)
        as? NSNumber
    {
      append("pasp", bigEndian([UInt32(clamping: horizontal.intValue), UInt32(clamping: vertical.intValue)]))
    }
    if let values = description.extensionValue(kCMFormatDescriptionExtension_CleanAperture) as? NSDictionary,
      let aperture = CleanAperture(values)
    {
      append("clap", Data(aperture.bytes))
    }
    if let volume = description.extensionValue(kCMFormatDescriptionExtension_MasteringDisplayColorVolume)
      as? Data
    {
      append("mdcv", volume)
    }
    if let level = description.extensionValue(kCMFormatDescriptionExtension_ContentLightLevelInfo) as? Data {
      append("clli", level)
    }
    return result
  }

  private static func bigEndian(_ values: [UInt32]) -> Data {
    values.reduce(into: Data()) { $0.append(bigEndian: $1) }
  }

  private static func colour(_ description: CMFormatDescription, isQuickTime: Bool) -> Data? {
    func code(_ key: CFString, _ table: ColorCodePoints) -> UInt16? {
      (description.extensionValue(key) as? String).flatMap { table.code(of: $0) }.map { UInt16($0) }
    }
    let primaries = code(kCMFormatDescriptionExtension_ColorPrimaries, .primaries)
    let transfer = code(kCMFormatDescriptionExtension_TransferFunction, .transferFunctions)
    let matrix = code(kCMFormatDescriptionExtension_YCbCrMatrix, .matrices)
    if primaries == nil, transfer == nil, matrix == nil { return nil }
    var data = Data((isQuickTime ? "nclc" : "nclx").utf8)
    for value in [primaries, transfer, matrix] { data.append(bigEndian: value ?? 2) }
    if !isQuickTime {
      let isFull = (description.extensionValue(kCMFormatDescriptionExtension_FullRangeVideo) as? NSNumber)?
        .boolValue
      data.append(isFull == true ? 0x80 : 0)
    }
    return data
  }

  // MARK: - Tables

  /// The field orders by their codes in `fiel`.
  nonisolated(unsafe) private static let fieldDetails: [UInt8: CFString] = [
    1: kCMFormatDescriptionFieldDetail_TemporalTopFirst,
    6: kCMFormatDescriptionFieldDetail_TemporalBottomFirst,
    9: kCMFormatDescriptionFieldDetail_SpatialFirstLineEarly,
    14: kCMFormatDescriptionFieldDetail_SpatialFirstLineLate,
  ]
}
