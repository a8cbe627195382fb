// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import RealTimeTransport

/// What Wireshark makes of a session's packets.
@Suite struct CaptureTests {
  private func tshark(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["tshark"] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }

  private static let hasTshark = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .contains { FileManager.default.isExecutableFile(atPath: "\($0)/tshark") }

  @Test(
    "tshark finds nothing malformed in a session that loses packets", .enabled(if: hasTshark),
    arguments: [RecoveryMode.ltr, .invalidate, .keyframe])
  func session(recovery: RecoveryMode) throws {
    let pair = SessionPair(delay: 0.15, loss: .random(0.1), recovery: recovery, seed: 3) {
      $0.stream.protects = true
    }
    var capture = PacketCapture()
    var counts = [0, 0]
    pair.witness = { bytes, isForth, time in
      guard !Greeting.isGreeting(bytes) else { return }
      let isControl = RTCPPacket.isControl(bytes)
      capture.add(
        .init(
          time: time, channel: isForth ? isControl ? .senderControl : .media : .receiverControl,
          payload: bytes))
      counts[isControl ? 1 : 0] += 1
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
    // Feedback goes alone too (RFC 5506), so what tshark says of the first packet in a compound one is not asked.
    let bad = try tshark(decoding + ["-Y", "_ws.malformed || udp.checksum.status == \"Bad\""])
    #expect(bad == "", "\(bad)")
  }
}
