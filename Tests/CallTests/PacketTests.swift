// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport
import Foundation
import Testing
import TestSupport
import ToolSupport

@testable import vtencode

/// The packets on the network, and how other programs read them.
@Suite struct PacketTests {
  private func record(_ recovery: RecoveryMode, _ codec: Codec = .avc1) throws -> CallRecord {
    try CallPlan.small(recovery, frames: 90) {
      $0.codec = codec
      $0.link.loss = .random(0.04)
      $0.packetSize = 500
      $0.keepsPackets = true
      $0.seed = 5
    }.run()
  }

  @Test("Packets keep to their size; every control packet begins with a report and names its sender")
  func shape() throws {
    let packets = try record(.ltr).packets
    #expect(zip(packets, packets.dropFirst()).allSatisfy { $0.time <= $1.time })
    for packet in packets {
      if packet.channel == .media {
        let parsed = try #require(RTPPacket(packet.payload))
        #expect(packet.payload.count <= 500 && FrameDescriptor(parsed.headerExtension) != nil)
        continue
      }
      let parsed = try #require(RTCPPacket.parse(packet.payload))
      #expect(parsed.count >= 2)
      switch (parsed[0], parsed[1]) {
      case (.senderReport, .sourceDescription): #expect(packet.channel == .senderControl)
      case (.receiverReport, .sourceDescription): #expect(packet.channel == .receiverControl)
      default: Issue.record("\(parsed)")
      }
    }
  }

  @Test(
    "tshark finds no malformed packet", arguments: [RecoveryMode.ltr, .invalidate, .keyframe],
    Codec.allCases)
  func wireshark(_ recovery: RecoveryMode, codec: Codec) throws {
    guard Tool("tshark").isInstalled else { return }
    var capture = PacketCapture()
    let packets = try record(recovery, codec).packets
    for packet in packets { capture.add(packet) }
    let name = codec == .avc1 ? "h264" : "h265"
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("call-\(UUID().uuidString).pcap")
    try Data(capture.bytes).write(to: path)
    defer { try? FileManager.default.removeItem(at: path) }
    let decoding = [
      "-r", path.path, "-d", "udp.port==5004,rtp", "-d", "udp.port==5005,rtcp", "-o",
      "\(name).dynamic.payload.type:96", "-o", "udp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE",
    ]
    let protocols = try Tool("tshark").text(decoding + ["-T", "fields", "-e", "frame.protocols"])
    let lines = protocols.split(separator: "\n")
    #expect(lines.count == packets.count)
    #expect(lines.count { $0.contains("rtp:\(name)") } == packets.count { $0.channel == .media })
    #expect(lines.count { $0.contains("rtcp") } == packets.count { $0.channel != .media })
    let bad = try Tool("tshark").text(
      decoding + [
        "-Y",
        "_ws.malformed || udp.checksum.status == \"Bad\" || ip.checksum.status == \"Bad\" || rtcp.length_check == 0",
      ])
    #expect(bad == "")
  }

  @Test("ffmpeg plays what comes over UDP with the session description")
  func player() throws {
    guard Tool("ffmpeg").isInstalled else { return }
    let record = try CallPlan.small(.ltr, frames: 60) { $0.keepsPackets = true }.run()
    let port: UInt16 = 45_004
    var description = SessionDescription(
      port: port, payloadType: RTPPayloadType.media, parameterSets: record.parameterSets)
    description.frameRate = 30
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("call-\(UUID().uuidString).sdp")
    try Data(description.text.utf8).write(to: path)
    defer { try? FileManager.default.removeItem(at: path) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "ffmpeg", "-v", "error", "-protocol_whitelist", "file,udp,rtp", "-i", path.path, "-frames:v", "20",
      "-f",
      "framemd5", "-",
    ]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    // The player has opened its ports, which the system tells in hexadecimal.
    let isOpen = blockUntil {
      let open = (try? String(contentsOfFile: "/proc/net/udp", encoding: .utf8)) ?? ""
      return open.contains(":" + String(port, radix: 16, uppercase: true) + " ") || !process.isRunning
    }
    #expect(isOpen)
    try PacketReplay.send(record.packets, port: port)
    // It ends when it has had enough.
    blockUntil { !process.isRunning }
    if process.isRunning { process.terminate() }
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    #expect(text.split(separator: "\n").count { !$0.hasPrefix("#") } >= 20, "\(text)")
  }
}
