// SPDX-License-Identifier: Apache-2.0
/// Reads and writes sei_rbsp() (7.3.2.3 in H.264, 7.3.2.4 in HEVC): SEI messages, each with its
/// type and size.
package enum SupplementalInformation {
  /// An SEI message.
  package struct Message: Equatable, Sendable {
    /// payloadType
    package var type: Int
    /// The bytes of the payload, without emulation prevention bytes.
    package var payload: [UInt8]

    package init(type: Int, payload: [UInt8]) {
      self.type = type
      self.payload = payload
    }
  }

  /// Writes a sei_rbsp() with one message, trailing bits included.
  ///
  /// - Parameters:
  ///   - type: payloadType.
  ///   - payload: contains the bits of the payload. This function adds the alignment.
  ///   - bits: receives the sei_rbsp().
  package static func write(type: Int, _ payload: inout BitWriter, to bits: inout BitWriter) {
    if !payload.isByteAligned { payload.trailingBits() }  // bit_equal_to_one, then zeros
    payload.flush()
    let count = payload.next - payload.start
    writeHeader(type: type, size: count, to: &bits)
    bits.append(payload.start, count: count)
    bits.trailingBits()
    bits.flush()
  }

  /// Writes a sei_rbsp() with several messages, trailing bits included.
  package static func write(_ messages: [Message], to bits: inout BitWriter) {
    for message in messages {
      writeHeader(type: message.type, size: message.payload.count, to: &bits)
      for byte in message.payload { bits.put(UInt32(byte), 8) }
    }
    bits.trailingBits()
    bits.flush()
  }

  /// Writes payloadType and payloadSize, each as bytes of 255 and a last byte.
  private static func writeHeader(type: Int, size: Int, to bits: inout BitWriter) {
    for value in [type, size] {
      var left = value
      while left >= 255 {
        bits.put(0xFF, 8)
        left -= 255
      }
      bits.put(UInt32(left), 8)
    }
  }

  /// Returns the messages of a NAL unit. If it is truncated, these are the complete ones before
  /// that.
  /// - Parameters:
  ///   - nalUnit: the NAL unit with its header.
  ///   - headerLength: the size of the header in bytes.
  package static func messages<Bytes: Collection<UInt8>>(nalUnit: Bytes, headerLength: Int) -> [Message] {
    let bytes = EmulationPrevention.removing(from: nalUnit.dropFirst(headerLength))
    // The trailing bits of a sei_rbsp(), whose messages end byte-aligned, are one byte of 0x80.
    var end = bytes.count
    while end > 0, bytes[end - 1] == 0 { end -= 1 }
    if end > 0, bytes[end - 1] == 0x80 { end -= 1 }
    var messages: [Message] = []
    var position = 0
    func value() -> Int? {
      var sum = 0
      while position < end {
        let byte = bytes[position]
        position += 1
        sum += Int(byte)
        if byte != 255 { return sum }
      }
      return nil
    }
    while position < end {
      guard let type = value(), let size = value(), size <= end - position else { break }
      messages.append(Message(type: type, payload: Array(bytes[position..<position + size])))
      position += size
    }
    return messages
  }
}
