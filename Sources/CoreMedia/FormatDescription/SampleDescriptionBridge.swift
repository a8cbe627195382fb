// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import VideoBitstream

/// Common parts of the conversions between format descriptions and the sample descriptions of
/// movies.
enum SampleDescriptionBridge {
  /// Reads a sample description.
  static func read(
    _ data: Data?, _ output: UnsafeMutablePointer<CMFormatDescription?>,
    _ body: (Data) throws -> CMFormatDescription
  ) -> OSStatus {
    output.pointee = nil
    guard let data else { return kCMFormatDescriptionBridgeError_InvalidParameter }
    guard let made = try? body(data) else {
      return kCMFormatDescriptionBridgeError_InvalidSerializedSampleDescription
    }
    output.pointee = made
    return noErr
  }

  /// Writes a sample description.
  static func write(
    _ description: CMFormatDescription, of mediaTypes: [CMMediaType],
    _ output: UnsafeMutablePointer<CMBlockBuffer?>, _ body: (CMFormatDescription) throws -> Data
  ) -> OSStatus {
    output.pointee = nil
    guard mediaTypes.contains(description.mediaTypeCode), let data = try? body(description) else {
      return kCMFormatDescriptionBridgeError_IncompatibleFormatDescription
    }
    do {
      let buffer = try CMBlockBuffer(length: data.count, flags: .assureMemoryNow)
      try data.withUnsafeBytes { try buffer.replaceDataBytes(with: $0) }
      output.pointee = buffer
      return noErr
    } catch { return kCMFormatDescriptionBridgeError_AllocationFailed }
  }

  /// The fields that all sample descriptions begin with, and what follows.
  static func entry(_ type: FourCharCode, _ content: Data) -> Data {
    var data = Data(capacity: 16 + content.count)
    data.append(bigEndian: UInt32(clamping: 16 + content.count))
    data.append(bigEndian: type)
    data.append(Data(count: 6))
    data.append(bigEndian: UInt16(1))  // data reference
    data.append(content)
    return data
  }

  /// An atom.
  static func atom(_ type: FourCharCode, _ content: Data) -> Data {
    var data = Data(capacity: 8 + content.count)
    data.append(bigEndian: UInt32(clamping: 8 + content.count))
    data.append(bigEndian: type)
    data.append(content)
    return data
  }

  /// The type of a sample description and what follows the fields that all begin with.
  /// - Throws: `SyntaxError`.
  static func open(_ data: Data) throws -> (type: FourCharCode, content: Data) {
    var reader = ByteReader(data)
    let total = try reader.uint32()
    guard total >= 16, total <= data.count else { throw SyntaxError.invalid }
    let type = FourCharCode(try reader.uint32())
    _ = try reader.bytes(8)
    return (type, Data(try reader.bytes(total - 16)))
  }

  /// Atoms up to the end, or to one without a size.
  /// - Throws: `SyntaxError`.
  static func atoms(_ data: Data) throws -> [(type: FourCharCode, content: Data)] {
    var reader = ByteReader(data)
    var result: [(type: FourCharCode, content: Data)] = []
    while reader.count >= 8 {
      let size = try reader.uint32()
      if size == 0 { break }
      let type = FourCharCode(try reader.uint32())
      guard size >= 8 else { throw SyntaxError.invalid }
      result.append((type, Data(try reader.bytes(size - 8))))
    }
    return result
  }
}
