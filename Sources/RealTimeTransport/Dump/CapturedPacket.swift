// SPDX-License-Identifier: Apache-2.0
/// A captured UDP datagram.
public struct CapturedPacket: Equatable, Sendable {
  public enum Channel: Sendable {
    /// RTP and RTCP from the sender to the receiver.
    case media, senderControl
    /// RTCP from the receiver to the sender.
    case receiverControl
  }

  /// The time of the capture, in seconds.
  public var time: Double
  public var channel: Channel
  public var payload: [UInt8]

  public init(time: Double, channel: Channel, payload: [UInt8]) {
    self.time = time
    self.channel = channel
    self.payload = payload
  }
}
