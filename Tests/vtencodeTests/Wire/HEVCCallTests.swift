// SPDX-License-Identifier: Apache-2.0
import ElementaryStream
import Foundation
import RealTimeTransport
import Testing
import TestSupport

/// Calls with `--codec hevc`, compared with FFmpeg's decoder, RTP sender and RTP receiver.
@Suite(.serialized) struct HEVCCallTests {
  /// The part of a record of `vtencode call --record` that is needed here.
  private struct Record: Decodable {
    struct Frame: Decodable { var isKeyFrame: Bool }
    struct Shown: Decodable { var isDamaged: Bool }
    struct Receiver: Decodable {
      var decoded: Int
      var lostPackets: Int
      var decodeErrors: Int
      var shown: [Shown]
    }
    var encoder: String
    var frames: [Frame]
    var receivers: [Receiver]
  }

  @Test(
    "Every frame that a simulated call shows is what the encoder made, and FFmpeg decodes as many",
    arguments: ["0", "5%"], ["hevc", "hvc1", "H.265"])
  func aSimulatedCallShowsWhatTheEncoderMade(loss: String, name: String) throws {
    let folder = try Folder()
    let run = try CommandLine.vtencode(
      "call", CommandLine.sample, "--codec", name, "--loss", loss, "--frames", "60", "--dimensions", "320",
      "180", "--bandwidth", "600k", "--received", "call.265", "--record", "call.json", in: folder)
    try #require(run.status == 0, "\(run.complaints)")
    let record = try JSONDecoder().decode(
      Record.self, from: Data(contentsOf: URL(fileURLWithPath: folder.path("call.json"))))
    #expect(record.encoder.contains("hevc") && record.frames.count == 60)
    let receiver = try #require(record.receivers.first)
    #expect(receiver.decodeErrors == 0 && receiver.shown.allSatisfy { !$0.isDamaged })
    #expect(receiver.decoded > 50 && (receiver.lostPackets > 0) == (loss != "0"))
    let probe = Probe(folder.path("call.265"))
    #expect(try probe.frameCount() == receiver.decoded)
    #expect(try probe.video().codec_name == "hevc")
    if receiver.decoded == 60 { #expect(try probe.errors() == "") }
  }

  private struct Ends {
    var sent: Finished
    var received: String
    var complaints: String
  }

  /// Runs `vtencode send` to `vtencode receive`.
  private func run(send: String, receive: String, in folder: Folder) throws -> Ends {
    let port = try freeDatagramPort()
    let sent = try CommandLine.shell(
      """
      '\(CommandLine.vtencode)' receive --listen \(port) \(receive) > received.txt 2> complaints.txt &
      receiver=$!
      await $receiver grep -q Listening complaints.txt
      '\(CommandLine.vtencode)' send \(send) --to 127.0.0.1:\(port)
      status=$?
      # An end without a call waits forever.
      if [ $status != 0 ]; then kill -INT $receiver; fi
      wait $receiver
      exit $status
      """, in: folder)
    func text(_ name: String) throws -> String {
      try String(contentsOfFile: folder.path(name), encoding: .utf8)
    }
    return Ends(sent: sent, received: try text("received.txt"), complaints: try text("complaints.txt"))
  }

  private func figures(_ text: String) throws -> [String: Double] {
    try JSONDecoder().decode([String: Double].self, from: Data(text.utf8))
  }

  @Test(
    "A call is recorded whole, with and without a key", arguments: ["call.mp4", "call.mov", "call.265"],
    ["", "--secret 'correct horse battery'"])
  func aCallIsRecordedWhole(name: String, secret: String) throws {
    let folder = try Folder()
    let ends = try run(
      send:
        "'\(CommandLine.sample)' --codec hevc --frames 24 --speed 0 --dimensions 320 180 --json \(secret)",
      receive: "--out \(name) --json \(secret)", in: folder)
    #expect(ends.sent.status == 0, "\(ends)")
    let (sent, received) = try (figures(ends.sent.text), figures(ends.received))
    let shown = try #require(received["shown"])
    #expect(shown > 0 && shown == sent["frames"] && received["decodeErrors"] == 0)
    let probe = Probe(folder.path(name))
    #expect(try probe.frameCount() == Int(shown) && probe.video().codec_name == "hevc")
    let decoded = try CommandLine.shell(
      "ffmpeg -v error -xerror -i \(name) -map v -fps_mode passthrough -f framemd5 -", in: folder)
    #expect(decoded.status == 0 && decoded.complaints == "", "\(decoded.complaints)")
    #expect(decoded.text.split(separator: "\n").count { !$0.hasPrefix("#") } == Int(shown))
    if name != "call.265" { #expect(try probe.video().codec_tag_string == "hvc1") }
  }

  @Test(
    "Ends that differ in their codec say so, and nothing is recorded",
    arguments: [
      ("--codec hevc", "--codec h264", "HEVC", "H.264"),
      ("--codec hevc", "--out call.264", "HEVC", "H.264"),
      ("", "--codec hevc --out call.mp4", "H.264", "HEVC"), ("", "--out call.265", "H.264", "HEVC"),
    ])
  func endsThatDifferSaySo(send: String, receive: String, sent: String, taken: String) throws {
    let folder = try Folder()
    let ends = try run(send: "test:160x120@15 --frames 10 \(send)", receive: receive, in: folder)
    #expect(ends.sent.status == 1)
    #expect(ends.sent.complaintLines.last?.contains("does not take \(sent)") == true, "\(ends)")
    #expect(ends.complaints.contains("sends \(sent) and was refused, as \(taken) alone is taken"), "\(ends)")
    #expect(ends.complaints.contains("nobody has called"), "\(ends)")
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(!left.contains { $0.hasPrefix("call") }, "\(left)")
  }

  @Test("Sessions of WebRTC refuse it in a line, and so does a file of the other codec")
  func whatCannotBeIsSaidInALine() throws {
    func expectFailure(_ arguments: [String], _ words: String) throws {
      let finished = try CommandLine.run(CommandLine.vtencode, arguments)
      #expect(finished.status == 64, "\(arguments): \(finished)")
      #expect(finished.complaintLines.contains { $0.contains(words) }, "\(arguments): \(finished.complaints)")
    }
    let server = "http://127.0.0.1:9/room"
    try expectFailure(["send", "test:", "--codec", "hevc", "--whip", server], "--whip sends H.264")
    try expectFailure(["receive", "--codec", "hevc", "--whep", server], "--whep receives H.264")
    try expectFailure(["receive", "--whep", server, "--out", "a.265"], "cannot hold H.264")
    try expectFailure(
      ["receive", "--listen", "5004", "--codec", "h264", "--out", "a.265"], "or choose --codec hvc1")
    try expectFailure(["send", "test:", "--codec", "vp9", "--to", "127.0.0.1:5004"], "hevc")
  }

  @Test("ffmpeg plays what send sends, by the description that it writes")
  func ffmpegPlaysWhatSendSends() throws {
    let folder = try Folder()
    let port = try freeDatagramPort()
    let finished = try playWithFFmpeg(
      "test:272x128@15 --codec hevc --speed 0 --mtu 300 --bitrate 500k", to: port, description: "call.sdp",
      in: folder)
    let lines = finished.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    #expect(finished.status == 0 && finished.complaints == "" && lines.count == 20, "\(finished)")
    // Each picture has another time in it, and the rate has room for all of them.
    #expect(Set(lines.map { $0.split(separator: ",").last }).count == 20)
    let description = try String(contentsOfFile: folder.path("call.sdp"), encoding: .utf8)
    #expect(description.contains("a=rtpmap:96 H265/90000\r\n"))
    for parameter in ["tx-mode=SRST", "profile-id=1", "level-id=", "sprop-vps=", "sprop-sps=", "sprop-pps="] {
      #expect(description.contains(parameter), "\(description)")
    }
  }

  @Test("What ffmpeg sends by RTP comes out as the NAL units of the stream")
  func whatFFmpegSendsComesOut() throws {
    let folder = try Folder()
    let made = try CommandLine.vtencode(
      "conferencing", CommandLine.sample, "--codec", "hevc", "--bitrate", "200k", "--dimensions", "320",
      "180",
      "--unpaced", "--duration", "1", "--out", "call.265", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    let stream = try Data(contentsOf: URL(fileURLWithPath: folder.path("call.265")))
    let units = AnnexB.units(in: stream).map { Array($0) }
    let peer = try UDPPeer()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "ffmpeg", "-v", "error", "-f", "hevc", "-framerate", "30", "-i", folder.path("call.265"), "-c", "copy",
      "-f", "rtp", "rtp://127.0.0.1:\(peer.port)?pkt_size=700",
    ]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    defer { process.waitUntilExit() }
    var depacketiser = FrameDepacketiser(.hevc)
    var unwrapper = SequenceUnwrapper()
    var frames: [FrameDepacketiser.ReassembledFrame] = []
    var kinds: Set<UInt8> = []
    while true {
      guard let bytes = peer.receive(milliseconds: 200) else {
        if process.isRunning { continue }
        break
      }
      guard !RTCPPacket.isControl(bytes), let packet = RTPPacket(bytes) else { continue }
      if let first = packet.payload.first { kinds.insert(first >> 1 & 63) }
      frames += depacketiser.add(packet, sequence: unwrapper.unwrap(packet.sequenceNumber))
    }
    #expect(frames.allSatisfy(\.isComplete) && depacketiser.malformedCount == 0)
    // ffmpeg leaves zeros before a start code at the end of the unit before them; no unit ends with
    // one.
    let came = frames.flatMap(\.units).map { unit in
      Array(unit.prefix((unit.lastIndex { $0 != 0 } ?? -1) + 1))
    }
    #expect(came == units && frames.count > 20)
    // Aggregation packets, fragmentation units and units by themselves.
    #expect(kinds.contains(48) && kinds.contains(49) && kinds.contains { $0 < 48 }, "\(kinds)")
  }
}
