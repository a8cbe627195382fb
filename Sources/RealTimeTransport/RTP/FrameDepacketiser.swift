// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// Reassembles frames from the payloads of RTP packets (``VideoCodec``).
///
/// Packets must come in the order of their sequence numbers (see ``ReorderBuffer``); a number that
/// is skipped is a lost packet.
public struct FrameDepacketiser: Sendable {
  /// A frame whose last packet has arrived, or that the next frame has ended.
  public struct ReassembledFrame: Equatable, Sendable {
    public var timestamp: UInt32
    /// The NAL units that have arrived completely, without start codes.
    public var units: [[UInt8]] = []
    public var descriptor: FrameDescriptor?
    /// Whether all packets of the frame have arrived.
    public var isComplete = true
    public var packetCount = 0
    public var byteCount = 0
  }

  private let format: any PayloadFormat.Type
  private var current: ReassembledFrame?
  private var fragment: [UInt8]?
  private var lastSequence: Int64?
  /// The number of payloads that violate the codec's payload format, or of kinds that are not
  /// taken.
  public private(set) var malformedCount = 0
  public private(set) var lostPackets: Int64 = 0
  /// The largest size of a frame in bytes, where each NAL unit adds `unitCost`. What exceeds it is
  /// malformed, and the frame is not complete.
  public static let maxFrameBytes = 1 << 24
  /// The amount that a NAL unit adds to the size of its frame, in addition to its bytes: the memory
  /// of an array, however short.
  static let unitCost = 64
  /// The size of the current frame, with `unitCost` for each NAL unit.
  private var cost = 0

  /// Creates a depacketiser.
  /// - Parameter codec: The codec of the frames.
  public init(_ codec: VideoCodec = .h264) { format = codec.payloads }

  /// Adds a packet.
  /// - Parameters:
  ///   - packet: The packet.
  ///   - sequence: Its unwrapped sequence number.
  /// - Returns: The frames that have ended: one whose last packets are missing, and the packet's
  ///   own if its marker bit is set.
  public mutating func add(_ packet: RTPPacket, sequence: Int64) -> [ReassembledFrame] {
    var result: [ReassembledFrame] = []
    let gap = lastSequence.map { sequence - $0 - 1 } ?? 0
    // The packet is too late: those after it were processed before.
    guard gap >= 0 else { return [] }
    lastSequence = sequence
    lostPackets += gap
    if gap > 0 {
      fragment = nil
      current?.isComplete = false
    }
    // Without a payload it only probes the path, as browsers do, and is of no frame.
    if packet.payload.isEmpty, !packet.marker { return result }
    if let frame = current, frame.timestamp != packet.timestamp {
      var cut = frame
      // The packet with its marker bit is missing.
      cut.isComplete = false
      result.append(cut)
      current = nil
    }
    if current == nil {
      fragment = nil
      cost = 0
      current = ReassembledFrame(timestamp: packet.timestamp)
      // A loss between two frames may have included this one's first packet; the descriptor tells.
      let descriptor = FrameDescriptor(packet.headerExtension)
      current?.isComplete = descriptor?.isFirstPacket ?? (gap == 0)
    }
    current?.packetCount += 1
    current?.byteCount += packet.payload.count
    if current?.descriptor == nil { current?.descriptor = FrameDescriptor(packet.headerExtension) }
    cost += packet.payload.count
    if cost <= Self.maxFrameBytes { appendPayload(packet.payload) } else { malformed() }
    if packet.marker, var frame = current {
      if fragment != nil { frame.isComplete = false }
      result.append(frame)
      current = nil
      fragment = nil
    }
    return result
  }

  private mutating func appendPayload(_ payload: [UInt8]) {
    guard !payload.isEmpty else { return }
    switch format.kind(of: payload) {
    case .single:
      abandonFragment()
      append(payload)
    case .aggregate:
      abandonFragment()
      var reader = ByteReader(payload.dropFirst(format.headerSize))
      repeat {
        guard let size = try? reader.uint16(), let unit = try? reader.bytes(Int(size)), format.isUnit(unit)
        else {
          malformed()
          return
        }
        guard append(Array(unit)) else { return }
      } while reader.remaining > 0
    case .fragment:
      appendFragment(payload)
    case .other:
      malformed()
    }
  }

  private mutating func appendFragment(_ payload: [UInt8]) {
    let headerSize = format.headerSize + 1
    guard payload.count > headerSize else {
      malformed()
      return
    }
    let flags = payload[headerSize - 1]
    let (starts, ends) = (flags & 0x80 != 0, flags & 0x40 != 0)
    if starts {
      abandonFragment()
      // A fragment must not be the first and the last (RFC 6184, 5.8; RFC 7798, 4.4.3).
      guard !ends, let header = format.unitHeader(fromFragment: payload.prefix(headerSize)) else {
        malformed()
        return
      }
      fragment = header + payload[headerSize...]
    } else if fragment != nil {
      fragment? += payload[headerSize...]
      if ends, let whole = fragment {
        fragment = nil
        append(whole)
      }
    } else {
      // The first fragment was lost.
      current?.isComplete = false
    }
  }

  /// Adds a NAL unit to the current frame.
  /// - Returns: False if the frame would become too large.
  @discardableResult
  private mutating func append(_ unit: [UInt8]) -> Bool {
    cost += Self.unitCost
    guard cost <= Self.maxFrameBytes else {
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
