// SPDX-License-Identifier: Apache-2.0
import CallTransport

/// The way from the sender to one receiver: packets of its own, thinned where the line is too slow.
struct CallLeg {
  private static let firstSequence: UInt16 = 1000
  private static let timestampOffset: UInt32 = 0x2000_0000

  private let packetiser: H264Packetiser
  let media: UInt32
  var link: NetworkLink
  private var sent = RetransmissionBuffer()
  private var retransmissionSequence = Self.firstSequence
  private let retransmits: Bool
  private(set) var resentPackets = 0
  private(set) var resentBytes = 0
  private var sequence = Self.firstSequence
  private var packetCount: UInt32 = 0
  private var octetCount: UInt32 = 0
  /// Seconds before the line at which frames that nothing depends on are left out.
  private let patience: Double

  init(_ plan: CallPlan, media: UInt32, link: NetworkLink) {
    // Header, extension of at most 20 bytes with its own header, and the number of a packet that is sent once more.
    packetiser = H264Packetiser(
      maximumPayload: plan.packetSize - RTPPacket.fixedHeaderSize - 20 - (plan.retransmits ? 2 : 0))
    self.media = media
    self.link = link
    retransmits = plan.retransmits
    patience = 1.5 / plan.frameRate
  }

  /// Whether a frame should be left out for the sake of those that others depend on.
  func leavesOut(_ descriptor: FrameDescriptor, at time: Double) -> Bool {
    descriptor.isDiscardable && link.queueingDelay(at: time) > patience
  }

  /// The frame's packets.
  mutating func packets(of frame: CallSender.Frame, at time: Double) -> [[UInt8]] {
    let payloads = packetiser.payloads(of: frame.units)
    return payloads.enumerated().map { index, payload in
      var packet = RTPPacket(
        payloadType: CallPlan.payloadType, sequenceNumber: sequence,
        timestamp: CallClock.rtpTime(at: frame.time, offset: Self.timestampOffset), source: media,
        payload: payload)
      packet.marker = index == payloads.count - 1
      var descriptor = frame.descriptor
      descriptor.isFirstPacket = index == 0
      packet.headerExtension = descriptor.headerExtension
      sequence &+= 1
      packetCount &+= 1
      octetCount &+= UInt32(payload.count)
      if retransmits { sent.keep(packet, at: time) }
      return packet.bytes
    }
  }

  /// The packets that a receiver asks for, once more.
  /// - Parameter interval: Seconds within which a packet is not sent again.
  mutating func packets(askedFor feedback: [UInt8], at time: Double, interval: Double) -> [[UInt8]] {
    guard retransmits, let requests = RTCPPacket.parse(feedback) else { return [] }
    var result: [[UInt8]] = []
    for case .retransmissionRequest(_, media, let numbers) in requests {
      for packet in sent.take(numbers, at: time, interval: interval) {
        let bytes = packet.retransmission(
          payloadType: CallPlan.retransmissionPayloadType, source: media &+ 1,
          sequenceNumber: retransmissionSequence
        ).bytes
        retransmissionSequence &+= 1
        resentPackets += 1
        resentBytes += bytes.count
        result.append(bytes)
      }
    }
    return result
  }

  /// A sender's report.
  func report(at time: Double, name: String) -> [UInt8] {
    RTCPPacket.compound([
      .senderReport(
        .init(
          source: media, ntpTime: CallClock.ntpTime(at: time),
          rtpTime: CallClock.rtpTime(at: time, offset: Self.timestampOffset), packets: packetCount,
          octets: octetCount)), .sourceDescription(source: media, name: name),
    ])
  }
}
