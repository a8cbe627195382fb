// SPDX-License-Identifier: Apache-2.0
/// Makes repair packets of what is sent (RFC 8627), as many as the losses ask for. Frames that others depend on are
/// protected, those that nothing refers to are not.
public struct ParitySender: Sendable {
  /// Packets that one repair packet is made of at most, and frames that it waits for.
  private static let mostPackets = 46
  private static let mostFrames = 3
  /// Of media packets.
  public static let mostStrength = 0.5

  /// Repair packets for each packet of media; 0 is none.
  public var strength = 0.0
  /// What of the sums is left after each frame: those of a second or two count.
  private static let memory = 0.97
  /// Bytes of media, and of repair packets, lately.
  private var sums = (media: 0.0, parity: 0.0)
  private let source: UInt32
  private let media: UInt32
  private var sequence: UInt16
  private var waiting: [[UInt8]] = []
  private var frames = 0
  public private(set) var packets = 0
  public private(set) var byteCount = 0

  /// - Parameters:
  ///   - source: of repair packets.
  ///   - media: of what they protect.
  ///   - firstSequence: the number of the first.
  public init(source: UInt32, media: UInt32, firstSequence: UInt16) {
    self.source = source
    self.media = media
    sequence = firstSequence
  }

  /// How much protection a path asks for.
  /// - Parameters:
  ///   - loss: the share of packets that is lost.
  ///   - roundTrip: seconds. What is asked for again comes in time on a short way, and costs less.
  ///   - retransmits: whether it can be.
  public static func strength(loss: Double, roundTrip: Double, retransmits: Bool) -> Double {
    guard loss > 0.004 else { return 0 }
    let need = retransmits ? min(max((roundTrip - 0.06) / 0.08, 0), 1) : 1
    return min(need * 6 * loss, mostStrength)
  }

  /// Bytes of repair packets for each byte of media: ``strength``, or what it has come to where that is more. A frame of one
  /// packet is repaired by a whole packet, and one of unequal packets by some as large as the largest.
  public var load: Double { strength > 0 ? max(strength, sums.parity / max(sums.media, 1)) : 0 }

  /// Takes a frame's packets as they are sent.
  /// - Returns: Repair packets to send behind them.
  public mutating func take(_ frame: [[UInt8]], isDiscardable: Bool, timestamp: UInt32) -> [[UInt8]] {
    let repairs = makeRepairs(frame, isDiscardable: isDiscardable, timestamp: timestamp)
    func bytes(_ packets: [[UInt8]]) -> Double { Double(packets.reduce(0) { $0 + $1.count }) }
    sums = (sums.media * Self.memory + bytes(frame), sums.parity * Self.memory + bytes(repairs))
    return repairs
  }

  private mutating func makeRepairs(
    _ frame: [[UInt8]], isDiscardable: Bool, timestamp: UInt32
  ) -> [[UInt8]] {
    guard strength > 0 else {
      waiting.removeAll()
      frames = 0
      return []
    }
    if !isDiscardable {
      waiting += frame
      frames += 1
    }
    guard Double(waiting.count) * strength >= 1 || frames >= Self.mostFrames, !waiting.isEmpty else {
      return []
    }
    var result: [[UInt8]] = []
    for start in stride(from: 0, to: waiting.count, by: Self.mostPackets) {
      result += protect(waiting[start..<min(start + Self.mostPackets, waiting.count)], timestamp)
    }
    waiting.removeAll()
    frames = 0
    return result
  }

  /// Each repair packet is of packets that do not lie next to one another, since losses do.
  private mutating func protect(_ block: ArraySlice<[UInt8]>, _ timestamp: UInt32) -> [[UInt8]] {
    let count = min(max(Int(Double(block.count) * strength), 1), block.count)
    return (0..<count).flatMap { group -> [[UInt8]] in
      let members = stride(from: block.startIndex + group, to: block.endIndex, by: count).map { block[$0] }
      // Where numbers were left out for frames that are not protected, a mask may not reach.
      return runs(of: members).compactMap { Parity(of: $0).map { packet($0, timestamp) } }
    }
  }

  private func runs(of packets: [[UInt8]]) -> [[[UInt8]]] {
    var result: [[[UInt8]]] = []
    for packet in packets {
      if let first = result.last?.first, Self.number(packet) &- Self.number(first) < Self.mostPackets {
        result[result.count - 1].append(packet)
      } else {
        result.append([packet])
      }
    }
    return result
  }

  private static func number(_ packet: [UInt8]) -> UInt16 {
    packet.count < 4 ? 0 : UInt16(packet[2]) << 8 | UInt16(packet[3])
  }

  private mutating func packet(_ parity: Parity, _ timestamp: UInt32) -> [UInt8] {
    var packet = RTPPacket(
      payloadType: MediaStream.parityPayloadType, sequenceNumber: sequence, timestamp: timestamp,
      source: source,
      payload: parity.bytes)
    packet.contributors = [media]
    sequence &+= 1
    packets += 1
    let bytes = packet.bytes
    byteCount += bytes.count
    return bytes
  }
}
