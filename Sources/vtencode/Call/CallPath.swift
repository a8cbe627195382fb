// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport

/// The path from the sender to one receiver. It has a packet stream of its own, and drops
/// discardable frames where the link is too slow.
struct CallPath {
  var stream: MediaSender
  var link: NetworkLink
  var repair: RepairSchedule
  private var budget = RepairBudget()
  /// The queueing delay in seconds above which discardable frames are dropped.
  private let maxQueueDelay: Double

  init(_ plan: CallPlan, media: UInt32, link: NetworkLink) {
    var configuration = MediaSender.Configuration()
    configuration.codec = plan.codec.transportCodec
    configuration.packetSize = plan.packetSize
    configuration.retransmits = plan.retransmits
    stream = MediaSender(configuration, source: media)
    repair = RepairSchedule(firstSequence: configuration.firstSequence)
    self.link = link
    maxQueueDelay = 1.5 / plan.frameRate
  }

  /// The bandwidth of the link in bits a second.
  func rate(at time: Double) -> Double { link.configuration.bandwidth.rate(at: time) }

  /// The packets that the receiver requests and that may be sent again.
  /// - Parameters:
  ///   - feedback: the receiver's RTCP packets.
  ///   - time: the time in seconds.
  ///   - pause: the least time in seconds since a packet was last sent.
  /// - Returns: the packets with their sequence numbers.
  mutating func packets(
    askedFor feedback: [RTCPPacket], at time: Double, pause: Double
  ) -> [(number: UInt16, bytes: [UInt8])] {
    stream.packets(
      askedFor: feedback, at: time, interval: pause, age: pause, within: &budget, rate: rate(at: time))
  }

  /// The retransmission of a packet; nil if it may not be sent again.
  mutating func packet(again number: UInt16, at time: Double) -> [UInt8]? {
    stream.packet(again: number, at: time, within: &budget, rate: rate(at: time))
  }

  /// Whether a frame should be dropped so that the frames that others depend on are not delayed.
  func shouldDrop(_ descriptor: FrameDescriptor, at time: Double) -> Bool {
    descriptor.isDiscardable && link.queueingDelay(at: time) > maxQueueDelay
  }
}
