// SPDX-License-Identifier: Apache-2.0
/// What a sender keeps of the packets that it sent, for those who ask for them again.
public struct RetransmissionBuffer: Sendable {
  private struct Entry: Sendable {
    var packet: RTPPacket
    var sent: Double
    var resent = -Double.infinity
  }

  /// Seconds that a packet is kept.
  public let span: Double
  /// Packets that are kept at most.
  public static let mostPackets = 4096
  private var entries: [UInt16: Entry] = [:]
  /// The numbers in the order in which they were sent, from `oldest` on.
  private var order: [UInt16] = []
  private var oldest = 0

  public init(span: Double = 1) { self.span = span }

  public var count: Int { entries.count }

  public mutating func keep(_ packet: RTPPacket, at time: Double) {
    // The same number once more keeps its place.
    if entries.updateValue(Entry(packet: packet, sent: time), forKey: packet.sequenceNumber) == nil {
      order.append(packet.sequenceNumber)
    }
    while oldest < order.count, let entry = entries[order[oldest]],
      entry.sent < time - span || entries.count > Self.mostPackets
    {
      entries[order[oldest]] = nil
      oldest += 1
    }
    if oldest > order.count / 2 {
      order.removeFirst(oldest)
      oldest = 0
    }
  }

  /// The packets with these numbers, but for those that are gone, and those that were given out less than `interval`
  /// seconds ago: they may be under way. So may those that were sent less than `age` seconds ago, for the first time.
  /// - Parameter allow: whether a packet may be given out that could be.
  public mutating func take(
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
