// SPDX-License-Identifier: Apache-2.0
import Foundation
import RealTimeTransport
import VideoToolbox

/// A receiver of a simulated call: the transport's receiver, a decoder, and a record of the
/// results.
final class CallReceiver {
  struct Shown {
    /// The frame number, without wrap-around.
    var number: Int64
    var image: CVPixelBuffer
  }

  private let keepsFrames: Bool
  private let decoder: CallDecoder
  private var receiver: MediaReceiver
  private var record: CallRecord.Receiver

  init(_ plan: CallPlan, name: String, source: UInt32, media: UInt32, bandwidth: BandwidthSchedule) {
    keepsFrames = plan.keepsFrames
    decoder = CallDecoder(plan.codec.transportCodec)
    var configuration = MediaReceiver.Configuration()
    configuration.codec = plan.codec.transportCodec
    configuration.recovery = plan.recovery
    configuration.retransmits = plan.retransmits
    configuration.frameRate = plan.frameRate
    configuration.roundTrip = 2 * plan.link.delay
    configuration.reorders = plan.link.reorders
    configuration.name = name
    receiver = MediaReceiver(configuration, source: source, media: media)
    record = CallRecord.Receiver(name: name, bandwidth: bandwidth)
  }

  /// When ``release(at:)`` has to be called if no packet comes before; nil if no packet is held
  /// back.
  var deadline: Double? { receiver.deadline }
  /// When the next request for lost packets is due; nil if none is.
  var requestDeadline: Double? { receiver.requestDeadline }

  /// Processes an RTP packet.
  /// - Returns: the pictures that are shown now.
  func receive(_ bytes: [UInt8], at time: Double) throws -> [Shown] {
    try showing(at: time) { try receiver.receive(bytes, at: time, decode: $0) }
  }

  func release(at time: Double) throws -> [Shown] {
    try showing(at: time) { try receiver.release(at: time, decode: $0) }
  }

  private func showing(at time: Double, _ work: (MediaReceiver.Decode) throws -> Void) throws -> [Shown] {
    var result: [Shown] = []
    var frames: [[[UInt8]]] = []
    try work { frame in
      guard let image = try decoder.decode(frame.units, time: time) else { return false }
      if keepsFrames { frames.append(frame.units) }
      result.append(Shown(number: frame.number, image: image))
      return true
    }
    record.frames += frames
    return result
  }

  func receiveControl(_ bytes: [UInt8], at time: Double) {
    receiver.receiveControl(RTCPPacket.parse(bytes) ?? [], at: time)
  }

  /// A compound RTCP packet with feedback; nil if there is none to send.
  func feedback(at time: Double) -> [UInt8]? {
    let packets = receiver.feedback(at: time)
    return packets.isEmpty ? nil : RTCPPacket.compound(receiver.report(at: time) + packets)
  }

  /// A compound RTCP packet with a report, as it is sent at intervals.
  func report(at time: Double) -> [UInt8] { RTCPPacket.compound(receiver.report(at: time)) }

  func finish() -> CallRecord.Receiver {
    let counts = receiver.counts
    record.decoded = counts.decoded
    record.decodeErrors = counts.decodeErrors
    record.unusable = counts.unusable
    record.incomplete = counts.incomplete
    record.packets = counts.packets
    record.requests = counts.requests
    record.requestedPackets = counts.requestedPackets
    record.recoveredPackets = counts.recoveredPackets
    record.acknowledgements = counts.acknowledgements
    record.malformedPackets = receiver.malformedCount
    return record
  }
}
