// SPDX-License-Identifier: Apache-2.0
/// Records the packets that were sent, in order to match congestion control feedback with them.
public struct SentPackets: Sendable {
  /// Identifies a packet: the SSRC and the RTP sequence number.
  private struct Key: Hashable {
    var source: UInt32
    var number: UInt16
  }

  /// A packet that was sent.
  private struct Entry: Sendable {
    /// When it was sent, in seconds.
    var time: Double
    /// Its size.
    var bits: Int
    /// Its number among the packets of all streams.
    var serial: Int
  }

  /// The largest number of packets that are recorded.
  private static let capacity = 4096
  private var entries: [Key: Entry] = [:]
  /// The packets in the order of sending, from index `oldest` on. Packets that were reported stay
  /// in it for a while.
  private var order: [(key: Key, serial: Int)] = []
  private var oldest = 0
  /// The `serial` of the newest packet.
  private var serial = 0
  /// The newest time stamp of a report, and the time in seconds that it stands for: time stamps
  /// wrap after 18 hours.
  private var lastStamp: (stamp: UInt32, time: Double)?

  public init() {}

  /// The number of elements that are kept, for tests.
  var memory: Int { max(order.count, entries.count) }

  /// Records an RTP packet that is sent.
  /// - Parameters:
  ///   - packet: The packet's bytes.
  ///   - time: When it is sent, in seconds.
  public mutating func add(_ packet: [UInt8], at time: Double) {
    guard packet.count >= RTPPacket.fixedHeaderSize else { return }
    let number = UInt16(packet[2]) << 8 | UInt16(packet[3])
    let source = packet[8..<12].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let key = Key(source: source, number: number)
    serial &+= 1
    entries[key] = Entry(time: time, bits: packet.count * 8, serial: serial)
    order.append((key, serial))
    while oldest < order.count {
      let (key, serial) = order[oldest]
      let isThere = entries[key]?.serial == serial
      guard !isThere || entries.count > Self.capacity || order.count - oldest > 4 * Self.capacity else {
        break
      }
      if isThere { entries[key] = nil }
      oldest += 1
    }
    if oldest > Self.capacity {
      order.removeFirst(oldest)
      oldest = 0
    }
  }

  /// Matches a report with the packets that were sent. Each packet is returned once, by the first
  /// report that contains it.
  /// - Parameters:
  ///   - streams: The streams of the report.
  ///   - stamp: The report's time stamp, in units of 1/65,536 second.
  /// - Returns: The results in the order of sending.
  public mutating func results(
    _ streams: [StreamArrivals], stamp: UInt32
  ) -> [CongestionController.PacketResult] {
    let before = lastStamp ?? (stamp, 0)
    let reported = before.time + Double(Int32(bitPattern: stamp &- before.stamp)) / 65_536
    if lastStamp == nil || reported > before.time { lastStamp = (stamp, reported) }
    var results: [CongestionController.PacketResult] = []
    for stream in streams {
      for (index, offset) in stream.offsets.enumerated() {
        let key = Key(source: stream.source, number: stream.first &+ UInt16(truncatingIfNeeded: index))
        guard let entry = entries.removeValue(forKey: key) else { continue }
        // The packet arrived, but too long ago for the report to state when.
        if let offset, offset >= StreamArrivals.farPast { continue }
        results.append(
          .init(sent: entry.time, arrived: offset.map { reported - Double($0) / 1024 }, bits: entry.bits))
      }
    }
    return results.sorted { $0.sent < $1.sent }
  }
}
