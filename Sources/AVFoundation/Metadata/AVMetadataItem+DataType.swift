// SPDX-License-Identifier: Apache-2.0
import Foundation

extension AVMetadataItem {
  /// Returns the data type of a value whose data type is not given, by its class; nil for other
  /// classes.
  static func dataType(of value: Any?) -> String? {
    switch value {
    case is NSString, is NSDate: kCMMetadataBaseDataType_UTF8 as String
    case let number as NSNumber:
      (CFNumberIsFloatType(number) ? kCMMetadataBaseDataType_Float64 : kCMMetadataBaseDataType_SInt64)
        as String
    case let data as NSData: Self.pictureType(Data(referencing: data)) as String
    default: nil
    }
  }

  private static func pictureType(_ data: Data) -> CFString {
    if data.starts(with: [0xFF, 0xD8, 0xFF]) { return kCMMetadataBaseDataType_JPEG }
    if data.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return kCMMetadataBaseDataType_PNG }
    if data.starts(with: Array("GIF8".utf8)) { return kCMMetadataBaseDataType_GIF }
    if data.starts(with: Array("BM".utf8)) { return kCMMetadataBaseDataType_BMP }
    return kCMMetadataBaseDataType_RawData
  }

  /// Returns the text in data of a data type; nil for types other than UTF-8, UTF-16 and JSON.
  static func text(_ data: Data, _ dataType: String?) -> String? {
    guard let dataType else { return nil }
    func conforms(to type: CFString) -> Bool {
      CMMetadataDataTypeRegistryDataTypeConformsToDataType(dataType as CFString, conformsToDataType: type)
    }
    if conforms(to: kCMMetadataBaseDataType_UTF8) || conforms(to: kCMMetadataBaseDataType_JSON) {
      return String(data: data, encoding: .utf8)
    }
    // UTF-16 is big-endian in movies.
    if conforms(to: kCMMetadataBaseDataType_UTF16) { return String(data: data, encoding: .utf16BigEndian) }
    return nil
  }
}
