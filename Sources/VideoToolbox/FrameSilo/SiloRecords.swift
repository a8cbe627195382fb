// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// The records that a silo stores with the bytes of its frames, each as a binary property list:
/// sample buffers without their data, format descriptions, and the progress of the pass.
///
/// A silo's file is not trusted: everything that is read is checked, and a list with other content
/// is rejected.
enum SiloRecord {
  /// The largest size of a record, in bytes.
  static let maximumSize = 16 << 20

  /// Makes a record; nil for a dictionary that is not a property list or exceeds the limits.
  static func pack(_ list: [String: Any]) -> Data? {
    var left = BinaryPropertyList.maximumValues
    guard isLittle(list, BinaryPropertyList.maximumDepth, &left),
      PropertyListSerialization.propertyList(list, isValidFor: .binary),
      let data = try? PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0),
      data.count <= maximumSize, data.withUnsafeBytes({ BinaryPropertyList.holdsOnlyValues($0) })
    else { return nil }
    return data
  }

  /// Reads a record; nil if it is not a binary property list or exceeds the limits.
  static func unpack(_ bytes: UnsafeRawBufferPointer) -> [String: Any]? {
    guard bytes.count <= maximumSize, BinaryPropertyList.holdsOnlyValues(bytes) else { return nil }
    var format = PropertyListSerialization.PropertyListFormat.binary
    let list = try? PropertyListSerialization.propertyList(from: Data(bytes), format: &format)
    return format == .binary ? list as? [String: Any] : nil
  }

  /// Whether a value keeps the limits of depth and number of values, where a value counts once for
  /// each container that has it.
  private static func isLittle(_ value: Any, _ depth: Int, _ left: inout Int) -> Bool {
    left -= 1
    guard left >= 0 else { return false }
    let inner: [Any]
    switch value {
    case let list as NSDictionary: inner = list.allValues
    case let list as NSArray: inner = (0..<list.count).map { list.object(at: $0) }
    case let list as [String: Any]: inner = Array(list.values)
    case let list as [Any]: inner = list
    default: return true
    }
    guard depth > 0 else { return false }
    for value in inner where !isLittle(value, depth - 1, &left) { return false }
    return true
  }

  // MARK: - Times

  /// Makes the bytes of times. Each time has four little-endian fields of 8 bytes: value, time
  /// scale, flags, epoch.
  static func pack(_ times: [CMTime]) -> Data {
    var data = Data(capacity: times.count * 32)
    for time in times {
      let fields = [time.value, Int64(time.timescale), Int64(time.flags.rawValue), time.epoch]
      for field in fields { withUnsafeBytes(of: field.littleEndian) { data.append(contentsOf: $0) } }
    }
    return data
  }

  /// Reads the bytes of times; nil if they are not such bytes.
  static func times(_ value: Any?) -> [CMTime]? {
    guard let data = value as? Data, data.count % 32 == 0 else { return nil }
    let fields = integers(data)
    return stride(from: 0, to: fields.count, by: 4).map { index in
      CMTime(
        value: fields[index], timescale: Int32(truncatingIfNeeded: fields[index + 1]),
        flags: CMTimeFlags(rawValue: UInt32(truncatingIfNeeded: fields[index + 2])), epoch: fields[index + 3])
    }
  }

  static func pack(_ numbers: [Int]) -> Data {
    numbers.reduce(into: Data(capacity: numbers.count * 8)) { data, number in
      withUnsafeBytes(of: Int64(number).littleEndian) { data.append(contentsOf: $0) }
    }
  }

  static func integers(_ data: Data) -> [Int64] {
    data.withUnsafeBytes { bytes in
      (0..<bytes.count / 8).map {
        Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0 * 8, as: Int64.self))
      }
    }
  }

  // MARK: - Format descriptions

  /// Makes the record of a format description; nil if an extension is not a property list.
  static func pack(_ format: CMVideoFormatDescription) -> Data? {
    let dimensions = CMVideoFormatDescriptionGetDimensions(format)
    var list: [String: Any] = [
      "codec": Int(CMFormatDescriptionGetMediaSubType(format)),
      "width": Int(dimensions.width), "height": Int(dimensions.height),
    ]
    list["extensions"] = CMFormatDescriptionGetExtensions(format)
    return pack(list)
  }

  /// Reads the record of a format description; nil if it is invalid.
  static func format(_ bytes: UnsafeRawBufferPointer) -> CMVideoFormatDescription? {
    guard let list = unpack(bytes), let codec = (list["codec"] as? Int).flatMap(UInt32.init(exactly:)),
      let width = (list["width"] as? Int).flatMap(Int32.init(exactly:)),
      let height = (list["height"] as? Int).flatMap(Int32.init(exactly:))
    else { return nil }
    var format: CMVideoFormatDescription?
    let status = CMVideoFormatDescriptionCreate(
      allocator: kCFAllocatorDefault, codecType: codec, width: width, height: height,
      extensions: (list["extensions"] as? [String: Any]) as NSDictionary?, formatDescriptionOut: &format)
    return status == noErr ? format : nil
  }
}
