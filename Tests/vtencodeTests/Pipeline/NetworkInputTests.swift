// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Streams that come over the network: ffmpeg, which is given no pace, sends them.
@Suite struct NetworkInputTests {
  /// Three seconds of pictures and a tone.
  private static func makeMovie(in folder: Folder, _ name: String = "in.mkv") throws {
    let made = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=3", "-f",
        "lavfi", "-i", "sine=frequency=440:duration=3", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset",
        "ultrafast", "-g", "25", "-c:a", "aac", folder.path(name),
      ])
    try #require(made.status == 0, "\(made.complaints)")
  }

  private static let hasSRT: Bool = {
    let run = try? CommandLine.run("ffmpeg", ["-v", "error", "-protocols"])
    return run?.text.contains("srt\n") ?? false
  }()

  /// A sender, and the address at which vtencode waits for it.
  struct Sender: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// The input of vtencode.
    var source: String
    /// ffmpeg's options before the movie, and the format and address to which it sends.
    var pace: [String] = []
    var format: [String]
    var target: String
    var isUDP = false
  }

  private static let senders: [Sender] = [
    Sender(
      testDescription: "RTMP", source: "rtmp://127.0.0.1:PORT/live/hiddenkey?listen", format: ["-f", "flv"],
      target: "rtmp://127.0.0.1:PORT/live/hiddenkey"),
    Sender(
      testDescription: "RTMP on all interfaces", source: "rtmp://0.0.0.0:PORT/live/hiddenkey",
      format: ["-f", "flv"], target: "rtmp://127.0.0.1:PORT/live/hiddenkey"),
    Sender(
      testDescription: "TCP", source: "tcp://127.0.0.1:PORT?listen", format: ["-f", "mpegts"],
      target: "tcp://127.0.0.1:PORT"),
    Sender(
      // Datagrams that come faster than they are read are lost, without a word.
      testDescription: "UDP", source: "udp://127.0.0.1:PORT", pace: ["-re"], format: ["-f", "mpegts"],
      target: "udp://127.0.0.1:PORT?pkt_size=1316", isUDP: true),
    Sender(
      testDescription: "RTSP", source: "rtsp://127.0.0.1:PORT/live/hiddenkey?listen",
      format: ["-f", "rtsp", "-rtsp_transport", "tcp"], target: "rtsp://127.0.0.1:PORT/live/hiddenkey"),
  ]

  /// Starts vtencode, which waits for a sender.
  private func receiver(
    _ source: String, port: Int, isUDP: Bool = false, _ arguments: [String], in folder: Folder
  ) throws -> PeerProgram {
    let run = try PeerProgram(
      CommandLine.vtencode,
      ["streaming", source.replacingOccurrences(of: "PORT", with: "\(port)"), "--allow-network"] + arguments,
      in: folder, name: "receiver")
    try #require(PeerProgram.waitForListener(port, table: isUDP ? "udp" : "tcp"), "\(run.text)")
    return run
  }

  private func send(_ movie: String, _ sender: Sender, port: Int, in folder: Folder) throws -> Finished {
    try CommandLine.run(
      "ffmpeg",
      ["-nostdin", "-v", "error"] + sender.pace + ["-i", movie, "-c", "copy"] + sender.format
        + [sender.target.replacingOccurrences(of: "PORT", with: "\(port)")], in: folder.url)
  }

  private func expectPicturesAndAudio(_ sender: Sender) throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    let port = try PeerProgram.freePort(Int32((sender.isUDP ? SOCK_DGRAM : SOCK_STREAM).rawValue))
    let run = try receiver(
      sender.source, port: port, isUDP: sender.isUDP, ["--frames", "60", "--out", "got.mp4"], in: folder)
    let sent = try send("in.mkv", sender, port: port, in: folder)
    #expect(try run.status() == 0, "\(run.text) \(sent.complaints)")
    #expect(!run.text.contains("hidden"), "\(run.text)")
    let probe = Probe(folder.path("got.mp4"))
    #expect(try probe.frameCount() == 60)
    #expect(try probe.streams().map(\.codec_type).sorted() == ["audio", "video"])
    try expectNoErrors(probe)
    let times = try probe.frames().compactMap(\.time)
    #expect(abs((times.first ?? 1) - 0) < 0.1 && abs((times.last ?? 0) - 59.0 / 25) < 0.1, "\(times)")
  }

  @Test("A sender's pictures and audio arrive, and its key is in no message", arguments: senders)
  func aSendersPicturesAndAudioArrive(_ sender: Sender) throws { try expectPicturesAndAudio(sender) }

  @Test("A sender of SRT with a passphrase is heard", .enabled(if: hasSRT))
  func aSenderOfSRTIsHeard() throws {
    // ffmpeg closes its connection with the last byte, before a receiver hands it on.
    try expectPicturesAndAudio(
      Sender(
        testDescription: "SRT", source: "srt://127.0.0.1:PORT?mode=listener&passphrase=hiddenphrase",
        pace: ["-re"], format: ["-f", "mpegts"], target: "srt://127.0.0.1:PORT?passphrase=hiddenphrase",
        isUDP: true))
  }

  @Test("Ctrl-C after the sender has gone loses no picture that the decoder holds for reordering")
  func reorderedPicturesArriveAtTheEnd() throws {
    let folder = try Folder()
    let made = try CommandLine.run(
      "ffmpeg",
      ["-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=2"]
        + ["-pix_fmt", "yuv420p", "-c:v", "libx264", "-bf", "3", "-b_strategy", "0", "in.mkv"], in: folder.url
    )
    try #require(made.status == 0, "\(made.complaints)")
    let port = try PeerProgram.freePort()
    let sender = Self.senders[0]
    let run = try receiver(sender.source, port: port, ["--out", "got.mp4"], in: folder)
    _ = try send("in.mkv", sender, port: port, in: folder)
    #expect(blockUntil { run.text.contains("has gone") || !run.isRunning }, "\(run.text)")
    run.send(SIGINT)
    #expect(try run.status() == 0, "\(run.text)")
    #expect(try Probe(folder.path("got.mp4")).frameCount() == 50, "\(run.text)")
  }

  @Test("--duration ends a live stream, and segments take it")
  func aDurationEndsAStream() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    let port = try PeerProgram.freePort()
    let sender = Self.senders[2]
    let run = try receiver(
      sender.source, port: port,
      ["--duration", "2", "--segment-length", "1", "--out", "x.m3u8", "--out", "got.mp4"], in: folder)
    _ = try send("in.mkv", sender, port: port, in: folder)
    #expect(try run.status() == 0, "\(run.text)")
    for name in ["got.mp4", "x.m3u8"] {
      let probe = Probe(folder.path(name))
      #expect(try probe.frameCount() == 50, "\(name)")
      #expect(try probe.streams().map(\.codec_type).sorted() == ["audio", "video"])
      try expectNoErrors(probe)
    }
  }

  @Test("A sender that names another stream is turned away, and the next one is heard")
  func aSenderOfAnotherStreamIsTurnedAway() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    let port = try PeerProgram.freePort()
    var sender = Self.senders[0]
    let run = try receiver(sender.source, port: port, ["--frames", "60", "--out", "got.mp4"], in: folder)
    let right = sender.target
    sender.target = "rtmp://127.0.0.1:PORT/live/otherkey"
    _ = try send("in.mkv", sender, port: port, in: folder)
    #expect(blockUntil { run.text.contains("turned away") || !run.isRunning }, "\(run.text)")
    try #require(PeerProgram.waitForListener(port), "\(run.text)")
    sender.target = right
    _ = try send("in.mkv", sender, port: port, in: folder)
    #expect(try run.status() == 0, "\(run.text)")
    #expect(try Probe(folder.path("got.mp4")).frameCount() == 60)
  }

  @Test("A sender that comes back continues in the same file, where it was")
  func aSenderThatComesBackGoesOn() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    let port = try PeerProgram.freePort()
    let sender = Self.senders[0]
    let run = try receiver(sender.source, port: port, ["--frames", "120", "--out", "got.mp4"], in: folder)
    _ = try send("in.mkv", sender, port: port, in: folder)
    #expect(blockUntil { run.text.contains("has gone") || !run.isRunning }, "\(run.text)")
    try #require(PeerProgram.waitForListener(port), "\(run.text)")
    _ = try send("in.mkv", sender, port: port, in: folder)
    #expect(try run.status() == 0, "\(run.text)")
    #expect(run.text.contains("is back"), "\(run.text)")
    let probe = Probe(folder.path("got.mp4"))
    try expectNoErrors(probe)
    let times = try probe.frames().compactMap(\.time)
    let steps = zip(times.dropFirst(), times).map { $0 - $1 }
    // The audio of the first connection is a little longer than its pictures.
    #expect(times.count == 120 && steps.allSatisfy { $0 > 0.03 && $0 < 0.2 }, "\(steps)")
  }

  @Test("A stream that its sender ends is whole, and a file of a server too")
  func aStreamThatEndsIsWhole() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    let port = try PeerProgram.freePort()
    let peer = try PeerProgram(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-i", "in.mkv", "-c", "copy", "-f", "mpegts",
        "tcp://127.0.0.1:\(port)?listen",
      ],
      in: folder, name: "sender")
    try #require(PeerProgram.waitForListener(port), "\(peer.text)")
    let run = try CommandLine.vtencode(
      "streaming", "tcp://127.0.0.1:\(port)", "--allow-network", "--out", "tcp.mp4", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let web = try PeerProgram(
      "python3", ["-m", "http.server", "--bind", "127.0.0.1", "\(port)"], in: folder, name: "web")
    try #require(PeerProgram.waitForListener(port), "\(web.text)")
    let fetched = try CommandLine.vtencode(
      "transcoding", "http://127.0.0.1:\(port)/in.mkv", "--allow-network", "--out", "http.mp4", in: folder)
    #expect(fetched.status == 0, "\(fetched.complaints)")
    for name in ["tcp.mp4", "http.mp4"] {
      let probe = Probe(folder.path(name))
      #expect(try probe.frameCount() == 75, "\(name)")
      #expect(try probe.streams().map(\.codec_type).sorted() == ["audio", "video"])
      try expectNoErrors(probe)
    }
  }

  @Test("An input that is lost has its own status, and leaves what had come")
  func anInputThatIsLostHasItsOwnStatus() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder, "in.ts")
    let movie = try Data(contentsOf: folder.url.appendingPathComponent("in.ts"))
    let server = try BrokenServer(
      Data("HTTP/1.1 200 OK\r\nContent-Length: \(movie.count)\r\nContent-Type: video/mp2t\r\n\r\n".utf8)
        + movie.prefix(movie.count * 2 / 3))
    let run = try CommandLine.vtencode(
      "streaming", "http://127.0.0.1:\(server.port)/app/hiddenkey.ts?token=hiddentoken", "--allow-network",
      "--unpaced", "--out", "got.mp4", in: folder)
    #expect(run.status == 3, "\(run)")
    #expect(run.complaints.contains("was lost"), "\(run.complaints)")
    #expect(!(run.text + run.complaints).contains("hidden"), "\(run)")
    let probe = Probe(folder.path("got.mp4"))
    #expect((30..<75).contains(try probe.frameCount()))
    try expectNoErrors(probe)
  }

  @Test("Ctrl-C ends a stream regularly, and the waiting for one")
  func aSignalEndsAStream() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    let port = try PeerProgram.freePort()
    let sender = Self.senders[0]
    let run = try receiver(
      sender.source, port: port, ["--out", "got.mp4", "--progress", "json"], in: folder)
    let peer = try PeerProgram(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-re", "-stream_loop", "-1", "-i", "in.mkv", "-c", "copy", "-f", "flv",
        sender.target.replacingOccurrences(of: "PORT", with: "\(port)"),
      ], in: folder, name: "sender")
    #expect(
      blockUntil {
        run.text.matches(of: /"frames":(\d+)/).contains { (Int($0.1) ?? 0) > 20 } || !run.isRunning
      }, "\(run.text)")
    run.send(SIGINT)
    #expect(try run.status() == 0, "\(run.text)")
    peer.send(SIGKILL)
    _ = try peer.status()
    let probe = Probe(folder.path("got.mp4"))
    #expect(try probe.frameCount() > 0)
    try expectNoErrors(probe)
    let waiting = try receiver(sender.source, port: port, ["--out", "none.mp4"], in: folder)
    waiting.send(SIGINT)
    #expect(try waiting.status() == 130, "\(waiting.text)")
    #expect(!folder.contents.contains { $0.hasPrefix("none") })
  }

  @Test(
    "What is not allowed is refused before anything is opened, without secrets",
    arguments: [
      (["rtmp://127.0.0.1:1/live/hiddenkey"], "--allow-network"),
      (["rtmp://127.0.0.1:1/live/hiddenkey", "--allow-network", "--sandbox"], "--sandbox"),
      (["http://0.0.0.0:1/live/hiddenkey", "--allow-network"], "cannot wait"),
      (["gopher://127.0.0.1:1/live", "--allow-network"], "not a supported address"),
      (["in.mkv", "--allow-network"], "requires a network address"),
      (["udp://127.0.0.1:1", "--allow-network", "--loop"], "--loop"),
      (["udp://127.0.0.1:1", "--allow-network", "--start", "3"], "--start"),
    ] as [([String], String)])
  func whatIsNotAllowedIsRefused(_ arguments: [String], _ word: String) throws {
    let folder = try Folder()
    let run = try CommandLine.run(
      CommandLine.vtencode, ["streaming"] + arguments + ["--out", "got.mp4"], in: folder.url)
    #expect(run.status == 64 && run.complaints.contains(word), "\(run)")
    #expect(!run.complaints.contains("hidden"), "\(run)")
    #expect(folder.contents.isEmpty)
  }

  @Test("A sender that is not there is a failure in one line")
  func aSenderThatIsNotThereIsAFailure() throws {
    let folder = try Folder()
    let port = try PeerProgram.freePort()
    let run = try CommandLine.vtencode(
      "streaming", "tcp://127.0.0.1:\(port)", "--allow-network", "--out", "got.mp4", in: folder)
    #expect(run.status == 1 && run.complaintLines.count == 1, "\(run)")
    #expect(run.complaints.contains("cannot connect to tcp://127.0.0.1:\(port)"), "\(run)")
  }
}

/// A server that says the same to whoever connects, and hangs up.
private final class BrokenServer: Sendable {
  let port: Int
  private let listener: Int32

  init(_ answer: Data) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    self.listener = listener
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 4) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    try #require(status)
    port = Int(UInt16(bigEndian: address.sin_port))
    Thread {
      while case let connection = accept(listener, nil, nil), connection >= 0 {
        var request = [UInt8](repeating: 0, count: 4096)
        _ = recv(connection, &request, request.count, 0)
        answer.withUnsafeBytes { bytes in
          var sent = 0
          while sent < bytes.count {
            let count = Glibc.send(
              connection, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
            guard count > 0 else { return }
            sent += count
          }
        }
        close(connection)
      }
    }.start()
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }
}
