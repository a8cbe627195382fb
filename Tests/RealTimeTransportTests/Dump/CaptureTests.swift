// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolSupport

@testable import RealTimeTransport

/// Wireshark's reading of a session's packets.
@Suite struct CaptureTests {
  private func tshark(_ arguments: [String]) throws -> String { try Tool("tshark").text(arguments) }

  @Test(
    "tshark finds nothing malformed in a session that loses packets",
    .enabled(if: Tool("tshark").isInstalled),
    arguments: [RecoveryMode.ltr, .invalidate, .keyframe])
  func tsharkFindsNothingMalformedInASessionThatLosesPackets(recovery: RecoveryMode) throws {
    let pair = SessionPair(delay: 0.15, loss: .random(0.1), recovery: recovery, seed: 3) {
      $0.stream.protects = true
    }
    var capture = PacketCapture()
    var counts = [0, 0]
    pair.packetObserver = { bytes, isForth, time in
      guard !Greeting.isGreeting(bytes) else { return }
      let isControl = RTCPPacket.isControl(bytes)
      capture.add(
        .init(
          time: time, channel: isForth ? isControl ? .senderControl : .media : .receiverControl,
          payload: bytes))
      counts[isControl ? 1 : 0] += 1
    }
    pair.loop.schedule(at: 1) {
      pair.receiver.requestKeyFrame(at: 1)
      pair.receiver.limitRate(700_000)
    }
    pair.loop.schedule(at: 3) {
      pair.receiver.sayGoodbye(at: 3)
      pair.flush()
    }
    try pair.run(frames: 100)
    #expect(pair.sender.counts.parityPackets > 0)
    #expect(counts[0] > 200 && counts[1] > 50, "\(counts)")
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("wire-\(UUID().uuidString).pcap")
    try Data(capture.bytes).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let decoding = ["-r", file.path, "-d", "udp.port==5004,rtp", "-d", "udp.port==5005,rtcp"]
    let lines = try tshark(decoding + ["-T", "fields", "-e", "frame.protocols"]).split(separator: "\n")
    #expect(
      lines.count { $0.hasSuffix("rtp") } == counts[0] && lines.count { $0.contains("rtcp") } == counts[1])
    // Feedback goes alone too (RFC 5506), so what tshark says of the first packet in a compound one
    // is not asked.
    let bad = try tshark(decoding + ["-Y", "_ws.malformed || udp.checksum.status == \"Bad\""])
    #expect(bad == "", "\(bad)")
    // Said by the receiver, and answered by the sender: 87,500 * 2^3.
    let limits = try tshark(
      decoding + [
        "-Y", "rtcp.rtpfb.tmmbr.fci.ssrc", "-T", "fields", "-e", "rtcp.rtpfb.tmmbr.fci.mantissa", "-e",
        "rtcp.rtpfb.tmmbr.fci.exp",
      ])
    #expect(limits.split(separator: "\n").count >= 2, "\(limits)")
    #expect(limits.split(separator: "\n").allSatisfy { $0 == "87500\t3" }, "\(limits)")
    let intra = try tshark(
      decoding + ["-Y", "rtcp.psfb.fir.fci.csn", "-T", "fields", "-e", "rtcp.psfb.fir.fci.ssrc"])
    #expect(intra.contains("4096") || intra.contains("0x00001000"), "\(intra)")
  }
}
