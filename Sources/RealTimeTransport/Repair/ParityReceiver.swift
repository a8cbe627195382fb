// SPDX-License-Identifier: Apache-2.0
/// Brings back packets that were lost, from those that came and from repair packets (RFC 8627).
public struct ParityReceiver: Sendable {
  private struct Arrival: Sendable {
    var bytes: [UInt8]
    var time: Double
  }

  /// Packets of media, and repair packets, that are kept.
  private static let mostPackets = 512
  private static let mostParities = 64
  /// Longest in seconds that packets are waited for, whatever repair packets say.
  private static let longestWait = 0.25
  /// Seconds that a repair packet is of use: numbers come round again.
  private static let lifetime = 1.0
  /// Seconds without a repair packet after which there is none to be waited for.
  private static let memory = 2.0

  private let media: UInt32
  private var arrivals: [UInt16: Arrival] = [:]
  private var order: [UInt16] = []
  private var oldest = 0
  private var parities: [(parity: Parity, time: Double)] = []
  /// Seconds from a packet to the repair packet that is made of it, of late.
  public private(set) var wait = 0.0
  private var lastParity = -Double.infinity

  /// - Parameter media: the source of the stream that is protected.
  public init(media: UInt32) { self.media = media }

  /// Takes a packet of media, in whatever way it came.
  /// - Returns: Packets that can be brought back now.
  public mutating func add(_ packet: [UInt8], at time: Double) -> [[UInt8]] {
    keep(packet, at: time)
    if time - lastParity > Self.memory { wait = 0 }
    return parities.isEmpty ? [] : solve(at: time)
  }

  /// Takes a repair packet.
  /// - Returns: Packets that can be brought back now.
  public mutating func add(_ parity: Parity, at time: Double) -> [[UInt8]] {
    if let first = parity.numbers.compactMap({ arrivals[$0]?.time }).min() {
      wait = min(max(time - first, wait * 0.97), Self.longestWait)
    }
    if parities.count >= Self.mostParities { parities.removeFirst() }
    parities.append((parity, time))
    lastParity = time
    return solve(at: time)
  }

  private mutating func keep(_ packet: [UInt8], at time: Double) {
    guard packet.count >= RTPPacket.fixedHeaderSize else { return }
    let number = UInt16(packet[2]) << 8 | UInt16(packet[3])
    if arrivals.updateValue(Arrival(bytes: packet, time: time), forKey: number) == nil {
      order.append(number)
    }
    while arrivals.count > Self.mostPackets, oldest < order.count {
      arrivals[order[oldest]] = nil
      oldest += 1
    }
    if oldest > Self.mostPackets {
      order.removeFirst(oldest)
      oldest = 0
    }
  }

  private mutating func solve(at time: Double) -> [[UInt8]] {
    if let first = parities.first, time - first.time > Self.lifetime {
      parities.removeAll { time - $0.time > Self.lifetime }
    }
    var result: [[UInt8]] = []
    var goesOn = true
    while goesOn {
      goesOn = false
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
        // What is back may complete another.
        goesOn = true
      }
    }
    return result
  }
}
