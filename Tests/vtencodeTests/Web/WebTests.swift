// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TestSupport

/// `vtencode receive --web` and `vtencode send --web`, with a WebSocket client of the test's own.
/// scripts/check-web looks at the page in a browser.
@Suite(.serialized) struct WebTests {
  /// A program that is ended with its test.
  private final class Running {
    let process = Process()
    let folder: Folder
    private let name: String

    init(_ arguments: [String], name: String, in folder: Folder) throws {
      (self.folder, self.name) = (folder, name)
      process.executableURL = URL(fileURLWithPath: CommandLine.vtencode)
      process.arguments = arguments
      process.currentDirectoryURL = folder.url
      process.standardInput = FileHandle.nullDevice
      for suffix in ["out", "err"] {
        try Data().write(to: URL(fileURLWithPath: folder.path("\(name).\(suffix)")))
      }
      process.standardOutput = FileHandle(forWritingAtPath: folder.path("\(name).out"))
      process.standardError = FileHandle(forWritingAtPath: folder.path("\(name).err"))
      try process.run()
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    func text(_ suffix: String) -> String {
      (try? String(contentsOfFile: folder.path("\(name).\(suffix)"), encoding: .utf8)) ?? ""
    }

    func waitForWord(_ word: String) throws {
      blockUntil { text("err").contains(word) || !process.isRunning }
      try #require(text("err").contains(word), "\(text("err"))")
    }

    /// Waits for its end.
    func figures() throws -> [String: Double] {
      blockUntil { !process.isRunning }
      try #require(!process.isRunning && process.terminationStatus == 0, "\(text("err"))")
      return try JSONDecoder().decode([String: Double].self, from: Data(text("out").utf8))
    }
  }

  private func show(_ options: String..., web: Int, in folder: Folder) throws -> Running {
    let running = try Running(
      [
        "send", "test:160x120@15", "--speed", "0", "--web", "\(web)", "--json",
        "--web-token", WebSocketClient.token,
      ] + options, name: "show",
      in: folder)
    try running.waitForWord("Sending")
    return running
  }

  private func md5s(_ name: String, in folder: Folder) throws -> [Substring] {
    let decoded = try CommandLine.shell(
      "ffmpeg -v error -i \(name) -fps_mode passthrough -f framemd5 -", in: folder)
    try #require(decoded.status == 0 && decoded.complaints == "", "\(decoded.complaints)")
    return decoded.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
      .compactMap { $0.split(separator: ",").last }
  }

  @Test(
    "A page receives the frames that the sender sent; one that joins late begins with a key frame",
    arguments: [("h264", "264"), ("hevc", "265")])
  func aPageIsGivenTheFramesThatTheSenderSent(codec: String, ending: String) throws {
    let folder = try Folder()
    let (port, web) = (try freeDatagramPort(), try freePort())
    let receive = try Running(
      [
        "receive", "--listen", "\(port)", "--web", "\(web)", "--out", "call.\(ending)", "--json",
        "--web-token", WebSocketClient.token,
      ], name: "receive",
      in: folder)
    try receive.waitForWord("Listening")
    let early = try WebSocketClient(socketAt: web)
    #expect(early.wait { $0.json["state"] as? String == "waiting" } != nil)
    let send = try Running(
      [
        "send", "test:160x120@15", "--speed", "0", "--frames", "90", "--codec", codec, "--to",
        "127.0.0.1:\(port)", "--json",
        "--quiet",
      ], name: "send", in: folder)
    var (first, late): ([UInt8], [UInt8]) = ([], [])
    var client: WebSocketClient?
    var number = 0
    var last: WebSocketClient.Message?
    while let message = early.next() {
      try #require(send.process.isRunning || number > 0, "\(send.text("err"))")
      if message.opcode == 2 {
        number += 1
        first += message.frame
        if number == 1 { #expect(message.isKeyFrame) }
        #expect(message.isHEVC == (codec == "hevc"))
        // In the middle of the stream.
        if number == 30 { client = try WebSocketClient(socketAt: web) }
      }
      if message.opcode == 8 { last = message }
    }
    #expect(last?.code == 1001)
    var lateCount = 0
    while let message = client?.next() {
      guard message.opcode == 2 else { continue }
      if lateCount == 0 { #expect(message.isKeyFrame) }
      lateCount += 1
      late += message.frame
    }
    let (sent, received) = try (send.figures(), receive.figures())
    // One more if a busy machine has not decoded the second in time.
    #expect(sent["keyFrames"] ?? 0 >= 2 && received["shown"] == sent["frames"])
    #expect(Double(number) == received["shown"] && lateCount > 0 && lateCount < number)
    try Data(first).write(to: URL(fileURLWithPath: folder.path("first.\(ending)")))
    try Data(late).write(to: URL(fileURLWithPath: folder.path("late.\(ending)")))
    let all = try md5s("call.\(ending)", in: folder)
    #expect(all.count == number)
    #expect(try md5s("first.\(ending)", in: folder) == all)
    #expect(try md5s("late.\(ending)", in: folder) == all.suffix(lateCount))
  }

  @Test("The controls work: a key frame is sent, packets are lost, the sender keeps to a rate")
  func buttonsDoWhatTheySay() throws {
    let folder = try Folder()
    let web = try freePort()
    let show = try show("--bitrate", "400k", web: web, in: folder)
    let client = try WebSocketClient(socketAt: web)
    #expect(client.wait { $0.isKeyFrame } != nil)
    let keys = client.wait { $0.json["keyFrames"] != nil }?.json["keyFrames"] as? Int ?? 0
    // In two pieces, as the protocol allows.
    try client.send("{\"type\":", isFinal: false)
    try client.send("\"key\"}", opcode: 0)
    #expect(client.wait { $0.json["keyFrames"] as? Int ?? 0 > keys } != nil)

    try client.send(#"{"type":"cap","rate":60000}"#)
    let capped = client.wait { message in
      message.json["cap"] as? Double == 60000 && message.json["rate"] as? Double ?? 1e9 < 90_000
    }
    #expect(capped != nil)
    try client.send(#"{"type":"cap","rate":null}"#)
    #expect(client.wait { $0.json["type"] as? String == "status" && $0.json["cap"] == nil } != nil)

    try client.send(#"{"type":"lose","share":0.3}"#)
    let losing = client.wait { $0.json["thrown"] as? Int ?? 0 > 5 && $0.json["loss"] as? Double ?? 0 > 0 }
    #expect(losing?.json["thrownShare"] as? Double == 0.3)
    try client.send(#"{"type":"lose","share":0}"#)

    try client.send(#"{"type":"clock","time":12.5}"#)
    let clock = client.wait { $0.json["type"] as? String == "clock" }
    #expect(clock?.json["page"] as? Double == 12.5 && clock?.json["time"] as? Double ?? -1 > 0)
    try client.send("are you there", opcode: 9)
    #expect(client.wait { $0.opcode == 10 }?.text == "are you there")
    // A page cannot have shown more frames than it was sent.
    #expect(client.wait { $0.json["frames"] as? Int ?? 0 >= 42 } != nil)
    try client.send(#"{"type":"figures","shown":42,"dropped":1,"delayP50":0.021,"delayP95":0.05}"#)
    try client.send("", opcode: 8)
    #expect(client.closeCode() == 1000)
    kill(show.process.processIdentifier, SIGINT)
    let figures = try show.figures()
    #expect(figures["receiverWebShown"] == 42 && figures["receiverWebDelayP50"] == 0.021)
    #expect((figures["receiverThrown"] ?? 0) > 5 && figures["receiverDecodeErrors"] == 0)
  }

  @Test("An invalid WebSocket message closes its connection only")
  func messagesThatAreNoneEndTheirConnection() throws {
    let folder = try Folder()
    let web = try freePort()
    let show = try show(web: web, in: folder)
    func expectEnd(_ code: Int, _ speak: (WebSocketClient) throws -> Void) throws {
      let client = try WebSocketClient(socketAt: web)
      try speak(client)
      #expect(client.closeCode() == code)
    }
    for bad in [
      "nonsense", "", "[]", "{}", #"{"type":"lose"}"#, #"{"type":"lose","share":2}"#,
      #"{"type":"lose","share":-1}"#,
      #"{"type":"cap","rate":-5}"#, #"{"type":"cap","rate":1e300}"#, #"{"type":"clock","time":"x"}"#,
      #"{"type":"figures","shown":-1,"dropped":0}"#,
      #"{"type":"figures","shown":1,"dropped":0,"delayP50":1e99}"#,
    ] {
      try expectEnd(1008) { try $0.send(bad) }
    }
    try expectEnd(1003) { try $0.send("bytes", opcode: 2) }
    // Longer than any message of the page, in one fragment and in several.
    try expectEnd(1009) { try $0.send(String(repeating: "x", count: 2000)) }
    try expectEnd(1009) { client in
      try client.send(String(repeating: "x", count: 900), isFinal: false)
      try client.send(String(repeating: "x", count: 900), opcode: 0)
    }
    try expectEnd(1008) { client in for _ in 0..<200 { try? client.send(#"{"type":"clock","time":1}"#) } }
    // Noise.
    for seed in 0..<20 {
      let client = try WebSocketClient(socketAt: web)
      try? client.send((0..<64).map { UInt8(truncatingIfNeeded: ($0 &* 37 &+ seed) &* (seed + 11)) })
    }
    let page = try WebSocketClient(port: web)
    let (status, headers) = try page.request(
      "GET /?token=\(WebSocketClient.token) HTTP/1.1\r\nHost: localhost:\(web)\r\n\r\n")
    #expect(status == 200 && headers.contains("frame-ancestors 'none'"))
    #expect(page.readToEnd().contains("VideoDecoder"))
    #expect(try WebSocketClient(socketAt: web).wait { $0.isKeyFrame } != nil)
    kill(show.process.processIdentifier, SIGINT)
    #expect((try show.figures()["receiverShown"] ?? 0) > 0)
  }

  @Test("Only pages of this server are accepted, up to the limit")
  func onlyThePageFromHereIsLetIn() throws {
    let folder = try Folder()
    let web = try freePort()
    let show = try show(web: web, in: folder)
    func status(origin: String? = nil, host: String? = nil, path: String = WebSocketClient.path) -> Int {
      do {
        _ = try WebSocketClient(socketAt: web, origin: origin, host: host, path: path)
        return 101
      } catch { return (error as? WebSocketClient.Refused)?.status ?? -1 }
    }
    #expect(status() == 101)
    #expect(status(origin: "http://evil.example") == 403)
    #expect(status(origin: "http://127.0.0.1:1") == 403 && status(origin: "null") == 403)
    #expect(status(origin: "") == 403)
    // A foreign host name that resolves to this address.
    #expect(status(origin: "http://evil.example:\(web)", host: "evil.example:\(web)") == 421)
    #expect(status(host: "localhost:\(web)") == 101)
    #expect(status(path: "/elsewhere") == 404)
    // A client that does not know the address.
    #expect(status(path: "/socket") == 403 && status(path: WebSocketClient.path + "x") == 403)
    #expect(status(path: "/socket?token=0123456789abcdef0123456789abcdef") == 403)
    func get(_ request: String) throws -> Int { try WebSocketClient(port: web).request(request).status }
    #expect(try get("GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n") == 404)
    #expect(try get("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc") == 405)
    #expect(try get("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n") == 421)
    let rest = "HTTP/1.1\r\nHost: localhost\r\n"
    #expect(try get("GET \(WebSocketClient.path) \(rest)Origin: http://localhost\r\n\r\n") == 426)
    #expect(try get("GET / \(rest)\r\n") == 403 && get("GET /?token=0123456789abcdef \(rest)\r\n") == 403)
    #expect(try get("GET /?token=\(WebSocketClient.token) \(rest)\r\n") == 200)
    #expect(show.text("err").contains("http://127.0.0.1:\(web)/?token=\(WebSocketClient.token) "))
    #expect(try get("what is this\r\n\r\n") == 400)
    var clients: [WebSocketClient] = []
    // Earlier connections may not be closed yet.
    blockUntil {
      if let client = try? WebSocketClient(socketAt: web) { clients.append(client) }
      return clients.count >= 8
    }
    #expect(clients.count == 8)
    #expect(status() == 503)
    for client in clients { #expect(client.wait { $0.isKeyFrame } != nil) }
    clients.removeAll()
    #expect(blockUntil { status() == 101 })
    kill(show.process.processIdentifier, SIGINT)
    _ = try show.figures()
  }

  @Test("Impossible options are reported in one line")
  func mistakesAreReportedInOneLine() throws {
    func expectFailure(_ arguments: [String], _ words: String, status: Int32 = 64) throws {
      let finished = try CommandLine.run(CommandLine.vtencode, arguments)
      #expect(finished.status == status, "\(arguments): \(finished)")
      #expect(finished.complaintLines.last?.contains(words) == true, "\(arguments): \(finished.complaints)")
    }
    try expectFailure(["send", "test:"], "--to host:port, --whip url")
    try expectFailure(["send", "test:", "--web", "0.0.0.0:8080"], "everybody on the network path")
    try expectFailure(
      ["receive", "--listen", "5004", "--web", "0.0.0.0:8080", "--secret", "12345678"],
      "everybody on the network path"
    )
    try expectFailure(["send", "test:", "--web", "8080", "--web-token", "short"], "--web-token")
    try expectFailure(
      ["receive", "--listen", "5004", "--web-token", "0123456789abcdef"], "--web-token requires --web")
    try expectFailure(["send", "test:", "--web", "8080", "--to", "127.0.0.1:5004"], "exclude each other")
    try expectFailure(["send", "test:", "--web", "8080", "--sdp", "a.sdp"], "omit --sdp")
    try expectFailure(["send", "test:", "--web", "8080", "--secret", "12345678"], "omit --secret")
    try expectFailure(["send", "test:", "--web", "8080", "--wait", "2s"], "omit --wait")
    try expectFailure(["send", "test:", "--web", "70000"], "--web")
    try expectFailure(["receive", "--listen", "5004", "--overwrite"], "--overwrite requires --out")
    // The port is in use.
    let web = try freePort()
    let taken = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(taken) }
    let status = withLoopback(port: web) { bind(taken, $0, $1) }
    try #require(status == 0 && listen(taken, 1) == 0)
    try expectFailure(["send", "test:", "--web", "\(web)"], "port \(web) is in use", status: 1)
    let port = try freeDatagramPort()
    try expectFailure(
      ["receive", "--listen", "\(port)", "--web", "\(web)"], "port \(web) is in use", status: 1)
  }
}

/// A port that was free a moment ago.
func freePort(kind: Int32 = Int32(SOCK_STREAM.rawValue)) throws -> Int {
  let descriptor = socket(AF_INET, kind, 0)
  try #require(descriptor >= 0)
  defer { close(descriptor) }
  let port = withLoopback(port: 0) { address, size -> UInt16? in
    var size = size
    guard bind(descriptor, address, size) == 0, getsockname(descriptor, address, &size) == 0 else {
      return nil
    }
    return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
      UInt16(bigEndian: $0.pointee.sin_port)
    }
  }
  return Int(try #require(port))
}

func freeDatagramPort() throws -> Int { try freePort(kind: Int32(SOCK_DGRAM.rawValue)) }
