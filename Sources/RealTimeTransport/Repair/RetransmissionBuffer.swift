// SPDX-License-Identifier: Apache-2.0
/// Keeps the packets that were sent, for requests to send them again. Times are in seconds.
public struct RetransmissionBuffer: Sendable {
  private struct Entry: Sendable {
    var packet: RTPPacket
    var sent: Double
    var resent = -Double.infinity
  }

  /// The time for which a packet is kept.
  public let span: Double
  /// The largest number of packets that are kept.
  public static let maxPackets = 4096
  private var entries: [UInt16: Entry] = [:]
  /// The sequence numbers in the order in which they were sent, from index `oldest` on.
  private var order: [UInt16] = []
  private var oldest = 0

  public init(span: Double = 1) { self.span = span }

  public var count: Int { entries.count }

  /// Stores a packet that is sent.
  /// - Parameters:
  ///   - packet: The packet.
  ///   - time: When it is sent.
  public mutating func keep(_ packet: RTPPacket, at time: Double) {
    // A number that is used again keeps its place in the order.
    if entries.updateValue(Entry(packet: packet, sent: time), forKey: packet.sequenceNumber) == nil {
      order.append(packet.sequenceNumber)
    }
    while oldest < order.count, let entry = entries[order[oldest]],
      entry.sent < time - span || entries.count > Self.maxPackets
    {
      entries[order[oldest]] = nil
      oldest += 1
    }
    if oldest > order.count / 2 {
      order.removeFirst(oldest)
      oldest = 0
    }
  }

  /// Finds packets to send again, without those that are no longer kept, and those that may still
  /// arrive.
  /// - Parameters:
  ///   - numbers: The sequence numbers.
  ///   - time: The current time.
  ///   - interval: Packets that were sent again less than this time ago are left out.
  ///   - age: Packets that were sent for the first time less than this time ago are left out.
  ///   - allow: Whether a packet that was found may be sent; called once for each.
  /// - Returns: The packets to send, in the order of `numbers`.
  public mutating func packetsToResend(
    _ numbers: [UInt16], at time: Double, interval: Double, age: Double = 0,
    allow: (RTPPacket) -> Bool = { _ in true }
  ) -> [RTPPacket] {
    numbers.compactMap { number in
      guard let entry = entries[number], case let old = time - entry.sent, old >= age, old <= span,
        time - entry.resent >= interval, allow(entry.packet)
      else { return nil }
      entries[number]?.resent = time
      return entry.packet
    }
  }
}
