// SPDX-License-Identifier: Apache-2.0
/// Packets that are sent once more, in a stream of their own (RFC 4588, 4): the payload begins with the number that the
/// packet had.
extension RTPPacket {
  /// The packet as part of the stream of retransmissions.
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

  /// The packet that was sent once more; nil if the payload is too short to hold one.
  public func original(payloadType: UInt8, source: UInt32) -> RTPPacket? {
    var reader = ByteReader(payload[...])
    guard let number = reader.read16(), let rest = reader.read(reader.remaining) else { return nil }
    var copy = RTPPacket(
      payloadType: payloadType, sequenceNumber: number, timestamp: timestamp, source: source,
      payload: Array(rest))
    copy.marker = marker
    copy.headerExtension = headerExtension
    return copy
  }
}
