// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport

/// The way from the sender to one receiver: packets of its own, thinned where the line is too slow.
struct CallLeg {
  var stream: MediaStream
  var link: NetworkLink
  var repair: RepairSchedule
  private var budget = RepairBudget()
  /// Seconds before the line at which frames that nothing depends on are left out.
  private let patience: Double

  init(_ plan: CallPlan, media: UInt32, link: NetworkLink) {
    var configuration = MediaStream.Configuration()
    configuration.packetSize = plan.packetSize
    configuration.retransmits = plan.retransmits
    stream = MediaStream(configuration, source: media)
    repair = RepairSchedule(firstSequence: configuration.firstSequence)
    self.link = link
    patience = 1.5 / plan.frameRate
  }

  /// Bits a second that the line carries.
  func rate(at time: Double) -> Double { link.configuration.bandwidth.rate(at: time) }

  /// The packets that the receiver asks for, as far as they may be sent again.
  /// - Parameter pause: seconds since a packet was sent, at least.
  mutating func packets(
    askedFor feedback: [RTCPPacket], at time: Double, pause: Double
  ) -> [(number: UInt16, bytes: [UInt8])] {
    stream.packets(
      askedFor: feedback, at: time, interval: pause, age: pause, within: &budget, rate: rate(at: time))
  }

  /// A copy of one of them.
  mutating func packet(again number: UInt16, at time: Double) -> [UInt8]? {
    stream.packet(again: number, at: time, within: &budget, rate: rate(at: time))
  }

  /// Whether a frame should be left out for the sake of those that others depend on.
  func leavesOut(_ descriptor: FrameDescriptor, at time: Double) -> Bool {
    descriptor.isDiscardable && link.queueingDelay(at: time) > patience
  }
}
