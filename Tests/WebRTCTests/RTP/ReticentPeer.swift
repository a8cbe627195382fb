// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport

@testable import WebRTC

/// A sender of pictures, and a peer that reports no arrivals and asks for lost packets reticently,
/// as aiortc does: for all that are missing when it finds a new gap, and at no other time. It waits
/// for each packet as long as that takes. Between both is a path on a virtual clock that loses
/// packets of both directions.
struct ReticentPeer {
  static let source: UInt32 = 7

  private(set) var sender: VideoSender
  private(set) var time = 0.0
  private let repairs: Bool
  private var loss: [LossProcess]
  private let delay: Double
  private var transit: [(at: Double, order: Int, bytes: [UInt8], isControl: Bool, toPeer: Bool)] = []
  private var order = 0
  /// The unwrapped numbers of the packets that came, with the highest, and the first number that
  /// the next frame may have.
  private var unwrapper = SequenceUnwrapper()
  private var arrived: [Int64: RTPPacket] = [:]
  private var highest: Int64?
  private var next: Int64?
  private var reported = (expected: 0, received: 0)
  private var counted = (expected: 0, received: 0)
  private var lastReport: (stamp: UInt32, at: Double) = (0, 0)
  private var nextReport = 1.0
  /// When frames were complete, with all before them.
  private(set) var times: [Double] = []
  /// The numbers of media packets in the order in which they were sent.
  private(set) var sentNumbers: [UInt16] = []
  private(set) var requests = 0

  init(loss share: Double, delay: Double = 0.02, repairs: Bool = true, hasFeedback: Bool = false) {
    var configuration = VideoSender.Configuration(source: Self.source, payloadType: 96)
    if repairs { (configuration.repairSource, configuration.repairType) = (8, 97) }
    if hasFeedback { configuration.extensions.transportSequence = 3 }
    configuration.rates.maximum = 800_000
    configuration.rates.start = 800_000
    sender = VideoSender(configuration)
    self.repairs = repairs
    self.delay = delay
    loss = [LossProcess(.random(share), seed: 4), LossProcess(.random(share), seed: 5)]
  }

  /// The share of the time in gaps longer than a frame and 150 ms, without the first five seconds:
  /// a sender does not know at first that packets are lost.
  var standstill: Double {
    let times = times.filter { $0 > 5 }
    let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
    return gaps.filter { $0 > 1.0 / 30 + 0.15 }.reduce(0, +) / time
  }

  /// Sends thirty frames a second.
  /// - Parameter size: The size of a frame in bytes; a key frame is four times as large.
  mutating func run(for seconds: Double, size: Int) {
    let (end, first) = (time + seconds, sender.counts.frames)
    let begin = time
    while time < end {
      if time >= begin + Double(sender.counts.frames - first) / 30 {
        let isKey = sender.wantsKeyFrame
        let unit = [isKey ? 0x65 : 0x41] + [UInt8](repeating: 7, count: size * (isKey ? 4 : 1))
        sender.send([unit], isKeyFrame: isKey, captured: time, at: time)
      }
      sender.poll(at: time)
      for (bytes, isControl) in sender.takeOutgoing() { send(bytes, isControl: isControl, toPeer: true) }
      if time >= nextReport {
        nextReport += 1
        report()
      }
      time += 0.001
      let due = transit.filter { $0.at <= time }.sorted { ($0.at, $0.order) < ($1.at, $1.order) }
      transit.removeAll { $0.at <= time }
      for datagram in due {
        if !datagram.toPeer {
          sender.receive(RTCPPacket.parse(datagram.bytes) ?? [], at: time)
        } else if datagram.isControl {
          for case .senderReport(let report) in RTCPPacket.parse(datagram.bytes) ?? [] {
            lastReport = (UInt32(truncatingIfNeeded: report.ntpTime >> 16), time)
          }
        } else if let packet = RTPPacket(datagram.bytes) {
          take(packet)
        }
      }
    }
  }

  private mutating func send(_ bytes: [UInt8], isControl: Bool, toPeer: Bool) {
    if !isControl, let packet = RTPPacket(bytes), packet.payloadType == 96 {
      sentNumbers.append(packet.sequenceNumber)
    }
    guard !loss[toPeer ? 0 : 1].losesNext() else { return }
    order += 1
    transit.append((time + delay, order, bytes, isControl, toPeer))
  }

  private mutating func take(_ packet: RTPPacket) {
    var packet = packet
    if packet.payloadType == 97 {
      guard let original = packet.original(payloadType: 96, source: Self.source) else { return }
      packet = original
    } else {
      counted.received += 1
    }
    let number = unwrapper.unwrap(packet.sequenceNumber)
    next = next ?? number
    arrived[number] = packet
    if let highest, number > highest + 1 {
      let missing = ((next ?? number)..<number).filter { arrived[$0] == nil }
      let request = RTCPPacket.retransmissionRequest(
        sender: 20, media: Self.source, numbers: missing.map { UInt16(truncatingIfNeeded: $0) })
      requests += 1
      send(
        RTCPPacket.compound([.receiverReport(source: 20, blocks: []), request]), isControl: true,
        toPeer: false)
    }
    counted.expected += Int(max(number - (highest ?? number - 1), 0))
    highest = max(highest ?? number, number)
    while let begin = next,
      let end = (begin...).prefix(while: { arrived[$0] != nil })
        .first(where: { arrived[$0]?.marker == true })
    {
      for number in begin...end { arrived[number] = nil }
      next = end + 1
      times.append(time)
    }
  }

  private mutating func report() {
    let expected = counted.expected - reported.expected
    let lost = max(expected - (counted.received - reported.received), 0)
    reported = counted
    let block = RTCPPacket.ReportBlock(
      source: Self.source, fractionLost: UInt8(min(lost * 256 / max(expected, 1), 255)), cumulativeLost: 0,
      highestSequence: 0, jitter: 0, lastReport: lastReport.stamp,
      delaySinceLastReport: UInt32((time - lastReport.at) * 65_536))
    send(
      RTCPPacket.compound([.receiverReport(source: 20, blocks: [block])]), isControl: true, toPeer: false)
  }
}
