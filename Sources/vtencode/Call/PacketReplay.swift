// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport
import Foundation

/// Sends the packets of the first receiver again over UDP in real time, to players on this machine.
enum PacketReplay {
  /// The delay in seconds before the first packet, in which players open their ports.
  private static let pause = 1.0

  static func send(_ packets: [CapturedPacket], port: UInt16) throws {
    let outgoing = packets.filter { $0.channel != .receiverControl }
    guard let first = outgoing.first, let last = outgoing.last else { return }
    Console.note(
      "Sending \(TextFormat.fixed(last.time - first.time, 1)) s of RTP to 127.0.0.1:\(port), RTCP to port \(port + 1)"
    )
    do {
      let sender = try DatagramSender()
      let start = DispatchTime.now().uptimeNanoseconds + UInt64(pause * 1e9)
      for packet in outgoing {
        let due = start + UInt64((packet.time - first.time) * 1e9)
        try wait(until: due)
        try sender.send(Self.original(packet), toLoopbackPort: packet.channel == .media ? port : port + 1)
      }
    } catch let error as DatagramSender.Failure {
      throw Failure("cannot send to 127.0.0.1:\(port): \(String(cString: strerror(error.code)).lowercased())")
    }
  }

  private static func wait(until due: UInt64) throws {
    while true {
      try Interrupt.shared.check("the replay breaks off, and the files are written")
      let now = DispatchTime.now().uptimeNanoseconds
      guard due > now else { return }
      Thread.sleep(forTimeInterval: min(Double(due - now) * 1e-9, 0.1))
    }
  }

  /// A retransmitted packet in its original form. Players send no requests and do not know the
  /// retransmission stream.
  private static func original(_ packet: CapturedPacket) -> [UInt8] {
    guard packet.channel == .media, let again = RTPPacket(packet.payload),
      again.payloadType == RTPPayloadType.retransmission,
      let first = again.original(payloadType: RTPPayloadType.media, source: again.source &- 1)
    else { return packet.payload }
    return first.bytes
  }
}
