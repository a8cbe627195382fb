// SPDX-License-Identifier: Apache-2.0
/// Puts frames together again from the payloads of RTP packets (RFC 6184, packetization-mode 1).
///
/// Packets come in the order of their sequence numbers (see ``ReorderBuffer``); a number that is passed over is a
/// packet that was lost.
public struct H264Depacketiser: Sendable {
  /// A frame that has ended, whole or not.
  public struct AccessUnit: Equatable, Sendable {
    public var timestamp: UInt32
    /// The whole NAL units that arrived.
    public var units: [[UInt8]] = []
    public var descriptor: FrameDescriptor?
    /// No packet between its first and its last is missing, and both are there.
    public var isComplete = true
    public var packetCount = 0
    public var byteCount = 0
  }

  private var current: AccessUnit?
  private var fragment: [UInt8]?
  private var lastSequence: Int64?
  /// Payloads that are not what RFC 6184 describes, or that mode 1 does not allow.
  public private(set) var malformedCount = 0
  public private(set) var lostPackets: Int64 = 0
  /// Bytes that a frame may have, `unitCost` for each unit among them. What goes beyond is malformed, and the frame is not
  /// complete.
  public static let mostFrameBytes = 1 << 24
  /// What a unit counts beside its bytes: an array of its own, however short.
  static let unitCost = 64
  /// Of the current frame.
  private var cost = 0

  public init() {}

  /// Takes a packet with its sequence number unwrapped. Gives the frames that ended with it: one that was cut off, and
  /// the packet's own if its marker is set.
  public mutating func add(_ packet: RTPPacket, sequence: Int64) -> [AccessUnit] {
    var result: [AccessUnit] = []
    let gap = lastSequence.map { sequence - $0 - 1 } ?? 0
    // Old news: what came before it has been given away.
    guard gap >= 0 else { return [] }
    lastSequence = sequence
    lostPackets += gap
    if gap > 0 {
      fragment = nil
      current?.isComplete = false
    }
    if let frame = current, frame.timestamp != packet.timestamp {
      var cut = frame
      // Its marker never came.
      cut.isComplete = false
      result.append(cut)
      current = nil
    }
    if current == nil {
      fragment = nil
      cost = 0
      current = AccessUnit(timestamp: packet.timestamp)
      // A loss between two frames may have taken the beginning of this one; the descriptor knows.
      let descriptor = FrameDescriptor(packet.headerExtension)
      current?.isComplete = descriptor?.isFirstPacket ?? (gap == 0)
    }
    current?.packetCount += 1
    current?.byteCount += packet.payload.count
    if current?.descriptor == nil { current?.descriptor = FrameDescriptor(packet.headerExtension) }
    cost += packet.payload.count
    if cost <= Self.mostFrameBytes { take(packet.payload) } else { malformed() }
    if packet.marker, var frame = current {
      if fragment != nil { frame.isComplete = false }
      result.append(frame)
      current = nil
      fragment = nil
    }
    return result
  }

  private mutating func take(_ payload: [UInt8]) {
    guard let first = payload.first else { return }
    switch first & 0x1F {
    case 1...23:
      abandonFragment()
      append(payload)
    case H264Packetiser.stapA:
      abandonFragment()
      var reader = ByteReader(payload.dropFirst())
      while reader.remaining > 0 {
        guard let size = reader.read16(), size > 0, let unit = reader.read(Int(size)) else {
          malformed()
          return
        }
        guard append(Array(unit)) else { return }
      }
    case H264Packetiser.fuA:
      guard payload.count > 2 else {
        malformed()
        return
      }
      let starts = payload[1] & 0x80 != 0
      let ends = payload[1] & 0x40 != 0
      if starts {
        abandonFragment()
        // Start and end in one packet is not allowed.
        if ends {
          malformed()
          return
        }
        fragment = [first & 0xE0 | payload[1] & 0x1F] + payload[2...]
      } else if fragment != nil {
        fragment? += payload[2...]
        if ends, let whole = fragment {
          fragment = nil
          append(whole)
        }
      } else {
        // Its beginning was lost.
        current?.isComplete = false
      }
    default:
      malformed()
    }
  }

  /// - Returns: false if the frame has no room for it.
  @discardableResult
  private mutating func append(_ unit: [UInt8]) -> Bool {
    cost += Self.unitCost
    guard cost <= Self.mostFrameBytes else {
      malformed()
      return false
    }
    current?.units.append(unit)
    return true
  }

  private mutating func abandonFragment() {
    guard fragment != nil else { return }
    fragment = nil
    current?.isComplete = false
  }

  private mutating func malformed() {
    malformedCount += 1
    fragment = nil
    current?.isComplete = false
  }
}
