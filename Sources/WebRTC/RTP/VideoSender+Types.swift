// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport

extension VideoSender {
  public struct Configuration: Sendable {
    public var source: UInt32
    public var payloadType: UInt8
    /// The source and the payload type of retransmissions; nil if the peer does not know them: the
    /// same packets are then sent again.
    public var repairSource: UInt32?
    public var repairType: UInt8?
    public var extensions = ExtensionIdentifiers()
    /// The media description's name, for the peers that want it in packets.
    public var mid: String?
    public var hasTransportFeedback: Bool { extensions.transportSequence != nil }
    /// Whether the peer asks for lost packets.
    public var retransmits = true
    public var packetSize = 1200
    public var rates = CongestionController.Limits()
    public var clock = MediaClock.simulated
    public var name = "vtencode"

    public init(source: UInt32, payloadType: UInt8) {
      self.source = source
      self.payloadType = payloadType
    }
  }

  /// The numbers of what was sent so far.
  public struct Counts: Equatable, Sendable {
    public var frames = 0
    public var keyFrames = 0
    public var packets = 0
    public var bytes = 0
    public var resentPackets = 0
    public var resentBytes = 0
    /// The number of requests for a key frame.
    public var requests = 0
    /// The number of packets that were asked for beyond the budget.
    public var ignoredRequests = 0

    public init() {}
  }
}
