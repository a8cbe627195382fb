// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import RealTimeTransport

@Suite struct DumpTests {
  @Test("Headers carry checksums that add up")
  func headersCarryChecksumsThatAddUp() {
    var capture = PacketCapture()
    capture.add(.init(time: 1.5, channel: .receiverControl, payload: [1, 2, 3]))
    let file = capture.bytes
    #expect(Array(file.prefix(8)) == [0xA1, 0xB2, 0xC3, 0xD4, 0, 2, 0, 4])
    #expect(Array(file[24..<40]) == [0, 0, 0, 1, 0, 7, 0xA1, 0x20, 0, 0, 0, 31, 0, 0, 0, 31])
    let packet = Array(file[40...])
    #expect(PacketCapture.checksum(Array(packet.prefix(20))) == 0)
    let pseudo = Array(packet[12..<20]) + [0, 17, 0, 11]
    #expect(PacketCapture.checksum(pseudo + packet[20...]) == 0)
    #expect(packet[20] == 19 && packet[21] == 141)
  }

  @Test("The session description names what a player needs")
  func theSessionDescriptionNamesWhatAPlayerNeeds() {
    var description = SessionDescription(
      port: 5004, payloadType: 96, parameterSets: [[0x67, 0x42, 0xC0, 0x1E, 9], [0x68, 1]])
    description.frameRate = 30
    let lines = description.text.components(separatedBy: "\r\n")
    #expect(lines.first == "v=0" && lines.last == "")
    #expect(lines.contains("m=video 5004 RTP/AVPF 96"))
    #expect(
      lines.contains(
        "a=fmtp:96 packetization-mode=1;profile-level-id=42C01E;sprop-parameter-sets=Z0LAHgk=,aAE="))
    // How far packets go, of IPv4's multicast alone; not in the origin.
    for (address, said) in [
      ("239.1.1.1", "IP4 239.1.1.1/1"), ("224.0.0.1", "IP4 224.0.0.1/1"), ("192.0.2.1", "IP4 192.0.2.1"),
      ("240.0.0.1", "IP4 240.0.0.1"), ("ff15::1", "IP6 ff15::1"),
    ] {
      description.address = address
      let lines = description.text.components(separatedBy: "\r\n")
      #expect(lines.contains("c=IN \(said)"))
      #expect(lines.contains { $0.hasPrefix("o=") && $0.hasSuffix(" \(address)") })
    }
    for length in 0..<40 {
      let bytes = (0..<length).map { UInt8($0 * 37 & 255) }
      #expect(SessionDescription.base64(bytes) == Data(bytes).base64EncodedString())
    }
  }
}
