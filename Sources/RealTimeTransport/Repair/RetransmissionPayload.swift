// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// Retransmissions, which are a stream of their own (RFC 4588, 4): the payload begins with the
/// sequence number of the original packet.
extension RTPPacket {
  /// Makes the retransmission of this packet.
  /// - Parameters:
  ///   - payloadType: The payload type of retransmissions.
  ///   - source: The synchronisation source of retransmissions.
  ///   - sequenceNumber: The sequence number in the stream of retransmissions.
  public func retransmission(payloadType: UInt8, source: UInt32, sequenceNumber: UInt16) -> RTPPacket {
    var copy = RTPPacket(
      payloadType: payloadType, sequenceNumber: sequenceNumber, timestamp: timestamp, source: source)
    copy.marker = marker
    copy.headerExtension = headerExtension
    copy.payload.reserveCapacity(payload.count + 2)
    copy.payload.append16(self.sequenceNumber)
    copy.payload += payload
    return copy
  }

  /// Restores the original packet of a retransmission; nil if the payload is too short to hold one.
  /// - Parameters:
  ///   - payloadType: The payload type of the original stream.
  ///   - source: The synchronisation source of the original stream.
  public func original(payloadType: UInt8, source: UInt32) -> RTPPacket? {
    var reader = ByteReader(payload[...])
    guard let number = try? reader.uint16(), let rest = try? reader.bytes(reader.remaining) else {
      return nil
    }
    var copy = RTPPacket(
      payloadType: payloadType, sequenceNumber: number, timestamp: timestamp, source: source,
      payload: Array(rest))
    copy.marker = marker
    copy.headerExtension = headerExtension
    return copy
  }
}
