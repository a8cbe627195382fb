// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import vtencode

/// Live streams to servers: ffmpeg is the server, and what it has got is looked at.
@Suite struct ServerTests {
  /// Three seconds of pictures and a tone.
  private static func makeMovie(in folder: Folder) throws {
    let made = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=3", "-f",
        "lavfi", "-i", "sine=frequency=440:duration=3", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset",
        "ultrafast", "-c:a", "aac", folder.path("in.mkv"),
      ])
    try #require(made.status == 0, "\(made.complaints)")
  }

  /// ffmpeg as a server that stores what it gets.
  private static func server(
    _ arguments: [String], codecs: [String] = ["-c", "copy"], _ file: String, in folder: Folder
  ) throws -> PeerProgram {
    try PeerProgram(
      "ffmpeg", ["-nostdin", "-v", "error", "-y"] + arguments + codecs + ["-flush_packets", "1", file],
      in: folder, name: file)
  }

  private static let hasSRT: Bool = {
    let run = try? CommandLine.run("ffmpeg", ["-v", "error", "-protocols"])
    return run?.text.contains("srt\n") ?? false
  }()

  private struct Server: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// Options of ffmpeg, and the address at which it listens.
    var options: [String]
    var address: String
    /// The address for vtencode; nil: the same.
    var target: String?
    var isUDP = false
    /// The arguments of the receiving ffmpeg.
    var codecs = ["-c", "copy"]
  }

  private static let servers: [Server] = [
    Server(
      testDescription: "RTMP", options: ["-listen", "1"], address: "rtmp://127.0.0.1:PORT/live/hiddenkey"),
    Server(
      testDescription: "TCP", options: [], address: "tcp://127.0.0.1:PORT?listen",
      target: "tcp://127.0.0.1:PORT"),
    Server(
      testDescription: "RTSP", options: ["-rtsp_flags", "listen"],
      address: "rtsp://127.0.0.1:PORT/live/hiddenkey",
      // RTP has no decode times, which a copy of reordered pictures would need.
      codecs: ["-fps_mode", "passthrough", "-c:v", "ffv1", "-c:a", "copy"]),
  ]

  /// Streams the movie, and checks what the server has got.
  private func stream(_ server: Server) throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    let port = try PeerProgram.freePort(Int32((server.isUDP ? SOCK_DGRAM : SOCK_STREAM).rawValue))
    func address(_ text: String) -> String { text.replacingOccurrences(of: "PORT", with: "\(port)") }
    let peer = try Self.server(
      server.options + ["-i", address(server.address)], codecs: server.codecs, "got.mkv", in: folder)
    try #require(PeerProgram.waitForListener(port, table: server.isUDP ? "udp" : "tcp"))
    let run = try CommandLine.vtencode(
      "streaming", "in.mkv", "--out", address(server.target ?? server.address), "--progress", "json",
      in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    _ = try peer.status()
    #expect(run.text.contains("server  "))
    #expect(!(run.text + run.complaints).contains("hidden"), "\(run)")
    let probe = Probe(folder.path("got.mkv"))
    #expect(try probe.frameCount() == 75)
    #expect(try probe.streams().map(\.codec_type).sorted() == ["audio", "video"])
    try expectNoErrors(probe)
  }

  @Test("A server gets all pictures and the audio, and its key is in no message", arguments: Self.servers)
  private func aServerGetsAllPictures(_ server: Server) throws { try stream(server) }

  @Test("A listener of SRT with a passphrase gets all pictures", .enabled(if: Self.hasSRT))
  func aListenerOfSRTGetsAllPictures() throws {
    try stream(
      Server(
        testDescription: "SRT", options: [],
        address: "srt://127.0.0.1:PORT?mode=listener&passphrase=hiddenphrase",
        target: "srt://127.0.0.1:PORT?passphrase=hiddenphrase", isUDP: true))
  }

  @Test("A receiver of datagrams gets a transport stream in whole packets")
  func aReceiverOfDatagramsGetsATransportStream() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    let socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(socket) }
    let port = try PeerProgram.freePort(Int32(SOCK_DGRAM.rawValue))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(bound == 0)
    var room: Int32 = 4 << 20
    setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
    let run = try CommandLine.vtencode(
      "streaming", "in.mkv", "--bitrate", "100k", "--out", "udp://127.0.0.1:\(port)", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    // Everything waits in the socket's buffer.
    var stream = Data()
    var packet = [UInt8](repeating: 0, count: 65_536)
    while case let count = recv(socket, &packet, packet.count, Int32(MSG_DONTWAIT)), count > 0 {
      #expect(count <= 1316 && count % 188 == 0)
      stream.append(contentsOf: packet.prefix(count))
    }
    let read = TransportStream(stream)
    #expect(read.packets > 200 && read.breaks.isEmpty, "\(read.packets) packets, \(read.breaks)")
    #expect(read.types.values.sorted() == [0x0F, 0x1B])
  }

  @Test("A failing output does not stop the others, and its error message does not contain the stream key")
  func oneOutputThatFailsDoesNotStopTheOthers() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    let port = try PeerProgram.freePort()
    let run = try CommandLine.vtencode(
      "streaming", "in.mkv", "--unpaced", "--out", "rtmp://user:hiddenword@127.0.0.1:\(port)/live/hiddenkey",
      "--out", "whole.mp4", "--out", "whole.ts", in: folder)
    #expect(run.status == 1 && run.complaints.contains("127.0.0.1:\(port)/live/***"), "\(run)")
    #expect(!(run.text + run.complaints).contains("hidden"), "\(run)")
    #expect(folder.contents == ["in.mkv", "whole.mp4", "whole.ts"])
    for name in ["whole.mp4", "whole.ts"] {
      #expect(try Probe(folder.path(name)).frameCount() == 75)
      try expectNoErrors(Probe(folder.path(name)))
    }
  }

  @Test("A stream that the user ends leaves a whole recording under its name")
  func aRecordingIsWholeWhenTheUserEndsTheStream() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    // Long enough to be ended by the signal.
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -stream_loop 40 -i in.mkv -c copy long.mkv", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    let port = try PeerProgram.freePort()
    let peer = try Self.server(["-i", "tcp://127.0.0.1:\(port)?listen"], "got.ts", in: folder)
    try #require(PeerProgram.waitForListener(port))
    let sender = try PeerProgram(
      CommandLine.vtencode,
      [
        "streaming", "long.mkv", "--out", "tcp://127.0.0.1:\(port)", "--record", "whole.mp4", "--progress",
        "json",
      ], in: folder, name: "sender")
    #expect(blockUntil { PeerProgram.size(folder.path("got.ts")) > 20_000 || !sender.isRunning })
    sender.send(SIGINT)
    #expect(try sender.status() == 0, "\(sender.text)")
    _ = try peer.status()
    #expect(folder.contents.contains("whole.mp4") && !folder.contents.contains { $0.contains("-part") })
    let (recorded, sent) = (Probe(folder.path("whole.mp4")), Probe(folder.path("got.ts")))
    try expectNoErrors(recorded)
    #expect(try recorded.frameCount() == sent.frameCount())
  }

  @Test("--psnr decodes the recording that is made in addition to a server")
  func theQualityOfTheRecordingIsMeasured() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    let port = try PeerProgram.freePort()
    let peer = try Self.server(["-i", "tcp://127.0.0.1:\(port)?listen"], "got.ts", in: folder)
    try #require(PeerProgram.waitForListener(port))
    let run = try CommandLine.vtencode(
      "streaming", "in.mkv", "--out", "tcp://127.0.0.1:\(port)", "--record", "whole.mkv", "--psnr",
      in: folder)
    #expect(run.status == 0 && run.text.contains("psnr "), "\(run)")
    _ = try peer.status()
    let none = try CommandLine.vtencode(
      "streaming", "in.mkv", "--out", "tcp://127.0.0.1:\(port)", "--psnr", in: folder)
    #expect(none.status == 64 && none.complaints.contains("--psnr"), "\(none)")
  }

  @Test("A server that refuses is a failure in one line, at once")
  func aServerThatRefusesIsAFailure() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    let port = try PeerProgram.freePort()
    let run = try CommandLine.vtencode(
      "streaming", "in.mkv", "--out", "tcp://127.0.0.1:\(port)", "--progress", "none", in: folder)
    #expect(run.status == 1 && run.complaintLines.count == 1, "\(run)")
    #expect(run.complaints.contains("cannot connect to tcp://127.0.0.1:\(port)"), "\(run)")
  }

  @Test(
    "A server that is killed and started again gets the stream from a key frame on, and the recording is whole"
  )
  func aServerThatIsKilledAndStartedAgain() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    let port = try PeerProgram.freePort()
    let listen = ["-i", "tcp://127.0.0.1:\(port)?listen"]
    let first = try Self.server(listen, "first.ts", in: folder)
    try #require(PeerProgram.waitForListener(port))
    let sender = try PeerProgram(
      CommandLine.vtencode,
      [
        "streaming", "in.mkv", "--loop", "--out", "tcp://127.0.0.1:\(port)", "--record", "whole.mkv",
        "--keyframe-duration", "60", "--progress", "json",
      ], in: folder, name: "sender")
    #expect(blockUntil { PeerProgram.size(folder.path("first.ts")) > 20_000 || !sender.isRunning })
    first.send(SIGKILL)
    #expect(try first.status() == 128 + SIGKILL)
    let second = try Self.server(listen, "second.ts", in: folder)
    #expect(blockUntil { PeerProgram.size(folder.path("second.ts")) > 20_000 || !sender.isRunning })
    sender.send(SIGINT)
    #expect(try sender.status() == 0, "\(sender.text)")
    _ = try second.status()
    // Key frames come only where one is asked for.
    let last = try #require(sender.text.split(separator: "\n").last { $0.contains("\"finished\"") })
    let event = try JSONDecoder().decode(Finish.self, from: Data(last.utf8))
    #expect(event.servers?.first?.reconnections == 1 && event.servers?.first?.secondsAway ?? 0 > 0, "\(last)")
    let whole = Probe(folder.path("whole.mkv"))
    #expect(try whole.frameCount() == event.frames)
    try expectNoErrors(whole)
    let rest = Probe(folder.path("second.ts"))
    try expectNoErrors(rest)
    #expect(try rest.frames().first?.key_frame == 1)
    #expect(try rest.frameCount() + (event.servers?.first?.lostFrames ?? 0) < event.frames)
  }

  private struct Finish: Decodable {
    struct Server: Decodable {
      var reconnections: Int
      var secondsAway: Double
      var lostFrames: Int
    }
    var frames: Int
    var servers: [Server]?
  }
}
