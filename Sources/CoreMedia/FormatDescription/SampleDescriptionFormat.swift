// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import VideoBitstream

/// Functions that are common to the conversions between format descriptions and sample descriptions
/// of movies.
enum SampleDescriptionFormat {
  /// Parses a sample description with `body`, and returns the status of the public function.
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

  /// Writes a sample description with `body`, and returns the status of the public function.
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

  /// Returns a sample description: the fields that all of them begin with, and the content.
  static func entry(_ type: FourCharCode, _ content: Data) -> Data {
    var data = Data(capacity: 16 + content.count)
    data.append(bigEndian: UInt32(clamping: 16 + content.count))
    data.append(bigEndian: type)
    data.append(Data(count: 6))
    data.append(bigEndian: UInt16(1))  // data reference index
    data.append(content)
    return data
  }

  /// Returns an atom.
  static func atom(_ type: FourCharCode, _ content: Data) -> Data {
    var data = Data(capacity: 8 + content.count)
    data.append(bigEndian: UInt32(clamping: 8 + content.count))
    data.append(bigEndian: type)
    data.append(content)
    return data
  }

  /// Returns the type of a sample description, and its content after the fields that all of them
  /// begin with.
  /// - Throws: `SyntaxError` if it is too short.
  static func open(_ data: Data) throws -> (type: FourCharCode, content: Data) {
    var reader = ByteReader(data)
    let total = Int(try reader.uint32())
    guard total >= 16, total <= data.count else { throw SyntaxError.invalid }
    let type = try reader.uint32()
    _ = try reader.bytes(8)
    return (type, Data(try reader.bytes(total - 16)))
  }

  /// Returns the atoms up to the end of the data, or up to a size of zero.
  /// - Throws: `SyntaxError` if an atom is malformed.
  static func atoms(_ data: Data) throws -> [(type: FourCharCode, content: Data)] {
    var reader = ByteReader(data)
    var result: [(type: FourCharCode, content: Data)] = []
    while reader.remaining >= 8 {
      let size = Int(try reader.uint32())
      if size == 0 { break }
      let type = try reader.uint32()
      guard size >= 8 else { throw SyntaxError.invalid }
      result.append((type, Data(try reader.bytes(size - 8))))
    }
    return result
  }
}
