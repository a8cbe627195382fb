// SPDX-License-Identifier: Apache-2.0
/// Recovers lost packets from those that have arrived and from repair packets (RFC 8627). Times are
/// in seconds.
public struct ParityReceiver: Sendable {
  private struct Arrival: Sendable {
    var bytes: [UInt8]
    var time: Double
  }

  /// The largest numbers of media packets and of repair packets that are kept.
  private static let maxPackets = 512
  private static let maxParities = 64
  /// The upper limit of `wait`.
  private static let longestWait = 0.25
  /// The time for which a repair packet is kept: sequence numbers wrap around.
  private static let lifetime = 1.0
  /// The time without a repair packet after which `wait` is 0.
  private static let memory = 2.0

  /// The synchronisation source of the protected stream.
  private let media: UInt32
  /// The media packets by sequence number.
  private var arrivals: [UInt16: Arrival] = [:]
  /// The sequence numbers of `arrivals` in the order of arrival, from index `oldest` on.
  private var order: [UInt16] = []
  private var oldest = 0
  private var parities: [(parity: Parity, time: Double)] = []
  /// The recent time from a packet to the repair packet that protects it; 0 if no repair packets
  /// come.
  public private(set) var wait = 0.0
  private var lastParity = -Double.infinity

  /// Creates a receiver.
  /// - Parameter media: The synchronisation source of the protected stream.
  public init(media: UInt32) { self.media = media }

  /// Processes a media packet, which may also be a retransmission.
  /// - Parameters:
  ///   - packet: The packet's bytes.
  ///   - time: When it arrived.
  /// - Returns: The packets that can be recovered now.
  public mutating func add(_ packet: [UInt8], at time: Double) -> [[UInt8]] {
    keep(packet, at: time)
    if time - lastParity > Self.memory { wait = 0 }
    return parities.isEmpty ? [] : solve(at: time)
  }

  /// Processes a repair packet.
  /// - Parameters:
  ///   - parity: Its payload.
  ///   - time: When it arrived.
  /// - Returns: The packets that can be recovered now.
  public mutating func add(_ parity: Parity, at time: Double) -> [[UInt8]] {
    if let first = parity.numbers.compactMap({ arrivals[$0]?.time }).min() {
      wait = min(max(time - first, wait * 0.97), Self.longestWait)
    }
    if parities.count >= Self.maxParities { parities.removeFirst() }
    parities.append((parity, time))
    lastParity = time
    return solve(at: time)
  }

  /// Stores a media packet, in place of the oldest if there are too many.
  private mutating func keep(_ packet: [UInt8], at time: Double) {
    guard packet.count >= RTPPacket.fixedHeaderSize else { return }
    let number = UInt16(packet[2]) << 8 | UInt16(packet[3])
    if arrivals.updateValue(Arrival(bytes: packet, time: time), forKey: number) == nil {
      order.append(number)
    }
    while arrivals.count > Self.maxPackets, oldest < order.count {
      arrivals[order[oldest]] = nil
      oldest += 1
    }
    if oldest > Self.maxPackets {
      order.removeFirst(oldest)
      oldest = 0
    }
  }

  /// Recovers packets with every repair packet of which one protected packet is missing.
  private mutating func solve(at time: Double) -> [[UInt8]] {
    if let first = parities.first, time - first.time > Self.lifetime {
      parities.removeAll { time - $0.time > Self.lifetime }
    }
    var result: [[UInt8]] = []
    var continues = true
    while continues {
      continues = false
      for index in parities.indices.reversed() {
        let parity = parities[index].parity
        let missing = parity.numbers.filter { arrivals[$0] == nil }
        guard missing.count <= 1 else { continue }
        parities.remove(at: index)
        guard let number = missing.first else { continue }
        let others = parity.numbers.compactMap { arrivals[$0]?.bytes }
        guard let packet = parity.recovered(number, source: media, from: others) else { continue }
        keep(packet, at: time)
        result.append(packet)
        // A recovered packet may allow another recovery.
        continues = true
      }
    }
    return result
  }
}
