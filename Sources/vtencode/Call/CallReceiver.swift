// SPDX-License-Identifier: Apache-2.0
import CallTransport
import Foundation
import VideoToolbox

/// A receiver: puts packets in order, frames together, decodes those that it has all for, and says what it lacks.
final class CallReceiver {
  struct Shown {
    /// The frame's number, unwrapped.
    var number: Int64
    var image: CVPixelBuffer
  }

  /// Seconds that a packet may come after those that were sent behind it.
  private static let reorderTime = 0.02
  /// Seconds after which a way that was too long for retransmissions is measured again.
  private static let trialInterval = 2.0

  private let plan: CallPlan
  private let source: UInt32
  private let media: UInt32
  private let decoder = CallDecoder()
  private var reorder: ReorderBuffer
  /// nil: lost packets are not asked for.
  private var requests: RetransmissionRequests?
  private var depacketiser = H264Depacketiser()
  private var statistics: ReceptionStatistics
  private var numbers = SequenceUnwrapper()
  private var lastNumber: Int64?
  /// Reference frames that were decoded.
  private var decodedReferences: Set<Int64> = []
  /// Frames that were not decoded and that others may depend on, since the last one that was.
  private var missing: [Int64] = []
  private var needsRepair = false
  private var lastRequest = -Double.infinity
  private var lastTrial = 0.0
  private var pendingTokens: [Int64] = []

  private(set) var record: CallRecord.Receiver

  init(_ plan: CallPlan, name: String, source: UInt32, media: UInt32, bandwidth: BandwidthSchedule) {
    self.plan = plan
    self.source = source
    self.media = media
    reorder = ReorderBuffer(patience: Self.reorderTime)
    if plan.retransmits, plan.recovery.usesFeedback {
      // Without jitter that changes the order, a gap is a loss.
      requests = RetransmissionRequests(
        roundTrip: 2 * plan.link.delay + 0.02, tolerance: plan.link.reorders ? Self.reorderTime : 0)
    }
    statistics = ReceptionStatistics(source: media)
    record = CallRecord.Receiver(name: name, bandwidth: bandwidth)
  }

  /// When ``release(at:)`` is due if no packet comes before; nil if nothing waits.
  var deadline: Double? { reorder.deadline }

  /// Takes a packet of RTP. Gives the pictures that are shown now.
  func take(_ bytes: [UInt8], at time: Double) throws -> [Shown] {
    guard var packet = RTPPacket(bytes) else { return [] }
    if packet.source == media, packet.payloadType == CallPlan.payloadType {
      statistics.add(packet, at: time)
      requests?.add(packet.sequenceNumber, at: time)
      record.packets += 1
    } else {
      guard requests != nil, packet.source == media &+ 1,
        packet.payloadType == CallPlan.retransmissionPayloadType,
        let original = packet.original(payloadType: CallPlan.payloadType, source: media)
      else { return [] }
      packet = original
      requests?.addRetransmitted(packet.sequenceNumber, at: time)
      record.recoveredPackets += 1
    }
    if let requests { reorder.patience = asksAgain ? requests.patience : Self.reorderTime }
    return try giveOut(reorder.add(packet, at: time), at: time)
  }

  func release(at time: Double) throws -> [Shown] { try giveOut(reorder.release(at: time), at: time) }

  /// When the next request for lost packets is due; nil if none is.
  var requestDeadline: Double? { asksAgain ? requests?.deadline : nil }

  /// Whether a packet that is sent again still comes in time.
  private var asksAgain: Bool {
    requests.map { $0.roundTrip <= CallPlan.longestRetransmission } ?? false
  }

  private func giveOut(
    _ packets: [(packet: RTPPacket, sequence: Int64)], at time: Double
  ) throws -> [Shown] {
    if let next = reorder.next { requests?.giveUp(before: next) }
    return try show(packets, at: time)
  }

  func takeControl(_ bytes: [UInt8], at time: Double) {
    for packet in RTCPPacket.parse(bytes) ?? [] {
      if case .senderReport(let report) = packet { statistics.add(report, at: time) }
    }
  }

  // MARK: - Feedback

  /// A compound packet if there is something to say at once; nil if not.
  func feedback(at time: Double) -> [UInt8]? {
    var packets = pendingTokens.map { token in
      RTCPPacket.referenceSelection(
        sender: source, media: media, payloadType: CallPlan.payloadType, token: token)
    }
    record.acknowledgements += pendingTokens.count
    pendingTokens.removeAll()
    if asksAgain || time >= lastTrial + Self.trialInterval, let lacking = requests?.take(at: time),
      !lacking.isEmpty
    {
      lastTrial = time
      record.requestedPackets += lacking.count
      packets.append(.retransmissionRequest(sender: source, media: media, numbers: lacking))
    }
    // Once more if nothing came of it in time.
    let patience = 2 * plan.link.delay + 2 / plan.frameRate + 0.02
    // One that heals by itself needs help only to begin.
    let asks = plan.recovery.usesFeedback || decodedReferences.isEmpty
    if needsRepair, asks, time >= lastRequest + patience {
      lastRequest = time
      record.requests += 1
      switch plan.recovery {
      case .invalidate:
        packets.append(
          .lostFrames(sender: source, frames: missing.suffix(64).map { UInt16(truncatingIfNeeded: $0) }))
      default: packets.append(.pictureLoss(sender: source, media: media))
      }
    }
    return packets.isEmpty ? nil : report(at: time, with: packets)
  }

  /// A compound packet with a report, as it is due every so often.
  func report(at time: Double, with packets: [RTCPPacket] = []) -> [UInt8] {
    let blocks = statistics.report(at: time).map { [$0] } ?? []
    return RTCPPacket.compound(
      [
        .receiverReport(source: source, blocks: blocks),
        .sourceDescription(source: source, name: record.name),
      ]
        + packets)
  }

  func finish() -> CallRecord.Receiver {
    record.malformedPackets = depacketiser.malformedCount
    return record
  }

  // MARK: - Frames

  private func show(_ packets: [(packet: RTPPacket, sequence: Int64)], at time: Double) throws -> [Shown] {
    var result: [Shown] = []
    for (packet, sequence) in packets {
      for unit in depacketiser.add(packet, sequence: sequence) {
        if let shown = try take(unit, at: time) { result.append(shown) }
      }
    }
    return result
  }

  private func take(_ unit: H264Depacketiser.AccessUnit, at time: Double) throws -> Shown? {
    guard let descriptor = unit.descriptor else {
      record.incomplete += 1
      return nil
    }
    let number = numbers.unwrap(descriptor.number)
    // Frames passed over: whether they matter, a frame that depends on them tells.
    if let last = lastNumber, number > last + 1 { missing += (last + 1)..<number }
    lastNumber = max(lastNumber ?? number, number)
    guard unit.isComplete else {
      record.incomplete += 1
      noteMissing(number, descriptor)
      return nil
    }
    let previous = number + Int64(Int16(bitPattern: descriptor.previous &- descriptor.number))
    let isFree = descriptor.isKeyFrame || descriptor.isRefresh
    let hasAll = isFree || decodedReferences.contains(previous)
    let isSelfHealing = plan.recovery == .intraRefresh && !decodedReferences.isEmpty
    guard hasAll || isSelfHealing else {
      record.unusable += 1
      noteMissing(number, descriptor)
      return nil
    }
    guard let image = try decoder.decode(unit.units, time: time) else {
      if hasAll { record.decodeErrors += 1 }
      noteMissing(number, descriptor)
      return nil
    }
    record.decoded += 1
    if plan.keepsFrames { record.frames.append(unit.units) }
    if !descriptor.isDiscardable {
      if isFree { decodedReferences.removeAll() }
      decodedReferences.insert(number)
      if decodedReferences.count > 256 {
        decodedReferences = decodedReferences.filter { $0 > number - 200 }
      }
      missing.removeAll()
      needsRepair = false
      // The next loss is another one.
      lastRequest = -.infinity
    }
    if let token = descriptor.token { pendingTokens.append(token) }
    return Shown(number: number, image: image)
  }

  private func noteMissing(_ number: Int64, _ descriptor: FrameDescriptor) {
    if descriptor.isDiscardable && !missing.isEmpty || !descriptor.isDiscardable { needsRepair = true }
    if !descriptor.isDiscardable { missing.append(number) }
    if missing.count > 512 { missing.removeFirst(256) }
  }
}
