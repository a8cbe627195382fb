// SPDX-License-Identifier: Apache-2.0
/// Makes repair packets (RFC 8627) of the media packets that are sent, as many as the losses
/// require. Frames that no other frame refers to are not protected.
public struct ParitySender: Sendable {
  /// The largest number of packets that one repair packet protects, and the largest number of
  /// frames after which one is made.
  private static let maxPackets = 46
  private static let maxFrames = 3
  /// The largest value of ``strength``.
  public static let maxStrength = 0.5

  /// The number of repair packets for each media packet; 0 turns protection off.
  public var strength = 0.0
  /// The factor of `sums` after each frame, so that the last second or two count.
  private static let memory = 0.97
  /// The decaying numbers of bytes of media packets and of repair packets.
  private var sums = (media: 0.0, parity: 0.0)
  /// The synchronisation source of the repair packets, and that of the media.
  private let source: UInt32
  private let media: UInt32
  private var sequence: UInt16
  /// The media packets that no repair packet protects yet, and the number of their frames.
  private var waiting: [[UInt8]] = []
  private var frames = 0
  /// The number of repair packets, and of their bytes, so far.
  public private(set) var packets = 0
  public private(set) var byteCount = 0

  /// Creates a sender.
  /// - Parameters:
  ///   - source: The synchronisation source of the repair packets.
  ///   - media: The synchronisation source of the packets that they protect.
  ///   - firstSequence: The sequence number of the first repair packet.
  public init(source: UInt32, media: UInt32, firstSequence: UInt16) {
    self.source = source
    self.media = media
    sequence = firstSequence
  }

  /// Computes the protection that a path requires.
  /// - Parameters:
  ///   - loss: The fraction of packets that is lost.
  ///   - roundTrip: The round trip in seconds. With a short one, retransmissions come in time, and
  ///     cost less.
  ///   - retransmits: Whether lost packets can be sent again.
  /// - Returns: The value for ``strength``.
  public static func strength(loss: Double, roundTrip: Double, retransmits: Bool) -> Double {
    guard loss > 0.004 else { return 0 }
    let need = retransmits ? min(max((roundTrip - 0.06) / 0.08, 0), 1) : 1
    return min(need * 6 * loss, maxStrength)
  }

  /// The number of bytes of repair packets for each byte of media: ``strength``, or the measured
  /// ratio where that is higher. A frame of one packet is protected by an entire packet, and
  /// packets of unequal size by repair packets as large as the largest.
  public var load: Double { strength > 0 ? max(strength, sums.parity / max(sums.media, 1)) : 0 }

  /// Processes a frame's packets when they are sent.
  /// - Parameters:
  ///   - frame: The packets' bytes.
  ///   - isDiscardable: Whether no other frame refers to the frame.
  ///   - timestamp: The RTP time stamp of the frame.
  /// - Returns: The repair packets to send after them.
  public mutating func protect(_ frame: [[UInt8]], isDiscardable: Bool, timestamp: UInt32) -> [[UInt8]] {
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
    guard Double(waiting.count) * strength >= 1 || frames >= Self.maxFrames, !waiting.isEmpty else {
      return []
    }
    var result: [[UInt8]] = []
    for start in stride(from: 0, to: waiting.count, by: Self.maxPackets) {
      result += protect(waiting[start..<min(start + Self.maxPackets, waiting.count)], timestamp)
    }
    waiting.removeAll()
    frames = 0
    return result
  }

  /// Makes the repair packets of a block. Each one protects packets that are apart from each other,
  /// because losses come in bursts.
  private mutating func protect(_ block: ArraySlice<[UInt8]>, _ timestamp: UInt32) -> [[UInt8]] {
    let count = min(max(Int(Double(block.count) * strength), 1), block.count)
    return (0..<count).flatMap { group -> [[UInt8]] in
      let members = stride(from: block.startIndex + group, to: block.endIndex, by: count).map { block[$0] }
      // The sequence numbers of frames that are not protected are missing in between, so that the
      // packets may exceed one mask.
      return runs(of: members).compactMap { Parity(of: $0).map { packet($0, timestamp) } }
    }
  }

  /// Divides packets into groups that one mask can cover.
  private func runs(of packets: [[UInt8]]) -> [[[UInt8]]] {
    var result: [[[UInt8]]] = []
    for packet in packets {
      if let first = result.last?.first, Self.number(packet) &- Self.number(first) < Self.maxPackets {
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
      payloadType: RTPPayloadType.parity, sequenceNumber: sequence, timestamp: timestamp,
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
