// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport

/// The way from the sender to one receiver: packets of its own, thinned where the line is too slow.
struct CallLeg {
  var stream: MediaStream
  var link: NetworkLink
  var repair: RepairSchedule
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

  /// Whether a frame should be left out for the sake of those that others depend on.
  func leavesOut(_ descriptor: FrameDescriptor, at time: Double) -> Bool {
    descriptor.isDiscardable && link.queueingDelay(at: time) > patience
  }
}
