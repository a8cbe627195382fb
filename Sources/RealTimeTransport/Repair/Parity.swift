// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// The payload of a repair packet of flexible forward error correction (RFC 8627, 4.2.2.1): the
/// exclusive or of several packets of one stream. Any one of them can be recovered from the others.
public struct Parity: Equatable, Sendable {
  /// The number of sequence numbers that one mask covers.
  public static let maxSpan = 110
  /// The number of bytes by which a repair packet exceeds the longest packet that it protects: the
  /// protected stream's source, and the header with the mask of 46 packets that senders of this
  /// package use.
  public static let maxGrowth = 4 + 16

  /// The sequence numbers of the protected packets, in ascending order.
  public private(set) var numbers: [UInt16] = []
  /// The exclusive or of the first two bytes of the packets: padding, extension and contributor
  /// count; marker and payload type.
  private var flags: (UInt8, UInt8) = (0, 0)
  /// The exclusive or of the packets' lengths in bytes, after the fixed header.
  private var length: UInt16 = 0
  /// The exclusive or of the time stamps.
  private var timestamp: UInt32 = 0
  /// The exclusive or of what follows the fixed headers, where shorter packets are padded with
  /// zeros.
  private var body: [UInt8] = []

  public static func == (one: Parity, other: Parity) -> Bool { one.bytes == other.bytes }

  /// Computes the parity of packets; nil if one mask cannot cover them, or one is not an RTP
  /// packet.
  /// - Parameter packets: RTP packets of one stream, in the order of their sequence numbers.
  public init?(of packets: [[UInt8]]) {
    for packet in packets {
      guard packet.count >= RTPPacket.fixedHeaderSize, packet.count <= 65_535 else { return nil }
      let number = UInt16(packet[2]) << 8 | UInt16(packet[3])
      if let last = numbers.last, let first = numbers.first {
        let step = number &- last
        guard step > 0, step < 1 << 15, number &- first < Self.maxSpan else { return nil }
      }
      numbers.append(number)
      fold(packet)
    }
    guard !numbers.isEmpty else { return nil }
  }

  /// Reads the payload of a repair packet; nil if it is invalid, or of a kind that is not used
  /// here.
  /// - Parameter payload: The payload.
  public init?(_ payload: [UInt8]) {
    var reader = ByteReader(payload[...])
    // The bits R and F are 0: no retransmission, and flexible masks.
    guard let first = try? reader.uint8(), first >> 6 == 0, let second = try? reader.uint8(),
      let length = try? reader.uint16(),
      let timestamp = try? reader.uint32(), let base = try? reader.uint16(), let near = try? reader.uint16()
    else { return nil }
    flags = (first, second)
    self.length = length
    self.timestamp = timestamp
    func note(_ mask: UInt64, count: Int, from offset: Int) {
      for bit in 0..<count where mask >> UInt64(count - 1 - bit) & 1 != 0 {
        numbers.append(base &+ UInt16(offset + bit))
      }
    }
    note(UInt64(near & 0x7FFF), count: 15, from: 0)
    if near & 0x8000 != 0 {
      guard let middle = try? reader.uint32() else { return nil }
      note(UInt64(middle & 0x7FFF_FFFF), count: 31, from: 15)
      if middle & 0x8000_0000 != 0 {
        guard let far = try? reader.uint64() else { return nil }
        note(far, count: 64, from: 46)
      }
    }
    guard !numbers.isEmpty, let rest = try? reader.bytes(reader.remaining) else { return nil }
    body = Array(rest)
  }

  /// The payload of the repair packet.
  public var bytes: [UInt8] {
    guard let base = numbers.first, let last = numbers.last else { return [] }
    var masks: (near: UInt16, middle: UInt32, far: UInt64) = (0, 0, 0)
    for number in numbers {
      switch Int(number &- base) {
      case let offset where offset < 15: masks.near |= 1 << UInt16(14 - offset)
      case let offset where offset < 46: masks.middle |= 1 << UInt32(45 - offset)
      case let offset: masks.far |= 1 << UInt64(109 - offset)
      }
    }
    let span = last &- base
    var result = [flags.0, flags.1]
    result.reserveCapacity(24 + body.count)
    result.append16(length)
    result.append32(timestamp)
    result.append16(base)
    // The highest bit (K) tells that another part of the mask follows.
    result.append16(masks.near | (span >= 15 ? 0x8000 : 0))
    if span >= 15 { result.append32(masks.middle | (span >= 46 ? 0x8000_0000 : 0)) }
    if span >= 46 { result.append64(masks.far) }
    return result + body
  }

  /// Recovers the one packet that is missing.
  /// - Parameters:
  ///   - number: Its sequence number.
  ///   - source: The synchronisation source of the protected stream.
  ///   - others: All other packets that this parity protects.
  /// - Returns: The packet's bytes; nil if the packets do not match the parity.
  public func recovered(_ number: UInt16, source: UInt32, from others: [[UInt8]]) -> [UInt8]? {
    var rest = self
    for packet in others { rest.fold(packet) }
    let size = Int(rest.length)
    // Beyond the packet's length there must be zeros, with which shorter packets were padded.
    guard size <= rest.body.count, rest.body[size...].allSatisfy({ $0 == 0 }) else { return nil }
    var result = [0x80 | rest.flags.0, rest.flags.1]
    result.append16(number)
    result.append32(rest.timestamp)
    result.append32(source)
    return result + rest.body[..<size]
  }

  /// Adds a packet to the parity, or removes it again.
  private mutating func fold(_ packet: [UInt8]) {
    let header = RTPPacket.fixedHeaderSize
    guard packet.count >= header else { return }
    flags.0 ^= packet[0] & 0x3F
    flags.1 ^= packet[1]
    length ^= UInt16(truncatingIfNeeded: packet.count - header)
    timestamp ^= packet[4..<8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let count = packet.count - header
    if body.count < count { body += [UInt8](repeating: 0, count: count - body.count) }
    body.withUnsafeMutableBufferPointer { body in
      packet.withUnsafeBufferPointer { packet in
        for index in 0..<count { body[index] ^= packet[header &+ index] }
      }
    }
  }
}
