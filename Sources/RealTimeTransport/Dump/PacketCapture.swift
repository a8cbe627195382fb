// SPDX-License-Identifier: Apache-2.0
/// A capture file (pcap) for Wireshark and tcpdump, with IPv4 and UDP headers around the packets.
public struct PacketCapture: Sendable {
  /// Addresses of 192.0.2.0/24, which are reserved for documentation (RFC 5737).
  private static let sender: [UInt8] = [192, 0, 2, 1]
  private static let receiver: [UInt8] = [192, 0, 2, 2]
  /// LINKTYPE_RAW: packets begin with an IP header.
  private static let linkTypeRaw: UInt32 = 101
  private static let headerSize = 28

  /// The port of RTP; RTCP's is the next one.
  public let port: UInt16
  public private(set) var bytes: [UInt8] = []
  private var identification: UInt16 = 0

  public init(port: UInt16 = 5004) {
    self.port = port
    bytes.append32(0xA1B2_C3D4)
    bytes.append16(2)
    bytes.append16(4)
    bytes.append32(0)
    bytes.append32(0)
    bytes.append32(65_535)
    bytes.append32(Self.linkTypeRaw)
  }

  public mutating func add(_ packet: CapturedPacket) {
    let length = Self.headerSize + packet.payload.count
    guard length <= 65_535 else { return }
    let microseconds = UInt64(max(packet.time, 0) * 1_000_000 + 0.5)
    bytes.append32(UInt32(truncatingIfNeeded: microseconds / 1_000_000))
    bytes.append32(UInt32(microseconds % 1_000_000))
    bytes.append32(UInt32(length))
    bytes.append32(UInt32(length))

    let isBack = packet.channel == .receiverControl
    let (from, to) = isBack ? (Self.receiver, Self.sender) : (Self.sender, Self.receiver)
    let port = packet.channel == .media ? self.port : self.port + 1
    var header: [UInt8] = [0x45, 0]
    header.append16(UInt16(length))
    header.append16(identification)
    identification &+= 1
    // Don't fragment, a TTL of 64, protocol UDP.
    header += [0x40, 0, 64, 17, 0, 0] + from + to
    header.set16(Self.checksum(header), at: 10)

    var datagram: [UInt8] = []
    datagram.append16(port)
    datagram.append16(port)
    datagram.append16(UInt16(8 + packet.payload.count))
    datagram.append16(0)
    datagram += packet.payload
    var pseudo = from + to + [0, 17]
    pseudo.append16(UInt16(datagram.count))
    let sum = Self.checksum(pseudo + datagram)
    // A checksum of 0 means that there is none.
    datagram.set16(sum == 0 ? 0xFFFF : sum, at: 6)
    bytes += header + datagram
  }

  /// The internet checksum (RFC 1071).
  static func checksum(_ bytes: [UInt8]) -> UInt16 {
    var sum: UInt32 = 0
    var index = 0
    while index < bytes.count {
      sum += UInt32(bytes[index]) << 8 | (index + 1 < bytes.count ? UInt32(bytes[index + 1]) : 0)
      index += 2
    }
    while sum >> 16 != 0 { sum = sum & 0xFFFF + sum >> 16 }
    return ~UInt16(truncatingIfNeeded: sum)
  }
}
