// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import Testing
import TestSupport

@testable import vtencode

/// The server of the web page, without a browser.
@Suite struct WebServerTests {
  @Test("The queue of a slow client is bounded, and the client continues with a key frame")
  func whatWaitsForASlowPageIsBounded() {
    var queue = PageQueue()
    var generator = SystemRandomNumberGenerator()
    var waiting: [Int] = []
    var (mayFollow, admitted) = (false, 0)
    for index in 0..<20_000 {
      let isKey = Int.random(in: 0..<40, using: &generator) == 0
      let size = Int.random(in: 100...(isKey ? 3_000_000 : 200_000), using: &generator)
      if queue.admits(isKeyFrame: isKey, bytes: size) {
        // A frame that refers to another follows it at once.
        #expect(isKey || mayFollow)
        mayFollow = true
        waiting.append(size)
        admitted += 1
      } else {
        mayFollow = false
      }
      #expect(waiting.count <= PageQueue.maxFrames)
      #expect(waiting.reduce(0, +) <= PageQueue.maxBytes || waiting.count == 1)
      #expect(queue.frames == waiting.count && queue.bytes == waiting.reduce(0, +))
      // The client is slow for a while, then fast.
      let takes = index / 500 % 2 == 0 ? Int.random(in: 0...1, using: &generator) : 3
      for _ in 0..<min(takes, waiting.count) { queue.didWrite(bytes: waiting.removeFirst()) }
    }
    #expect(admitted > 1000 && queue.dropped == 20_000 - admitted)
  }

  @Test("Key-frame requests for a slow client become less and less frequent")
  func aPageThatNeverKeepsUpAsksForKeyFramesMoreAndMoreRarely() {
    var queue = PageQueue()
    var common = KeyFrameRequestLimiter(maximum: 1)
    var times: [Double] = []
    for tick in 0..<6000 where queue.wantsKeyFrame(at: Double(tick) / 100, &common) {
      times.append(Double(tick) / 100)
    }
    #expect(times.first == 0 && (5...8).contains(times.count), "\(times)")
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= PageQueue.minPause })
    _ = queue.admits(isKeyFrame: true, bytes: 1)
    func wants(_ time: Double) -> Bool { queue.wantsKeyFrame(at: time, &common) }
    #expect(!wants(1000))
    queue.didWrite(bytes: 1)
    queue.restart()
    #expect(wants(1000))
    #expect(!wants(1000.5) && wants(1001.1))
    // One that opens a new connection each time has a limiter of its own, and waits as well.
    var all = KeyFrameRequestLimiter(maximum: 4)
    var count = 0
    for tick in 0..<2000 {
      var new = PageQueue()
      if new.wantsKeyFrame(at: Double(tick) / 100, &all) { count += 1 }
    }
    #expect((4...8).contains(count), "\(count)")
  }

  @Test("The message of a frame has the documented layout")
  func aFramesMessageIsAsItsDescriptionSays() {
    let frame = WebFrame(
      number: 0x0102_0304, isKeyFrame: true, captured: 1.5, arrived: 2, qp: 26, units: [[0x67, 1], [0x65]])
    let bytes = Array(frame.encoded.readableBytesView)
    #expect(
      bytes == [
        1, 1, 0, 0, 1, 2, 3, 4, 0x3F, 0xF8, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0x41, 0xD0, 0, 0,
        0, 0, 0, 1, 0x67, 1, 0, 0, 0, 1, 0x65,
      ])
    #expect(frame.byteCount == bytes.count)
  }

  @Test("The Host header is checked by name, so that DNS rebinding fails")
  func pagesAreDistinguishedByNames() throws {
    let hosts = WebHosts(Endpoint(host: "studio.example", port: 80))
    for good in ["localhost", "LOCALHOST:80", "127.0.0.1:1", "[::1]:8080", "[::1]", "Studio.Example:9"] {
      #expect(hosts.allows(host: good), "\(good)")
    }
    for bad in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "", "[::1", "a:b"] {
      #expect(!hosts.allows(host: bad), "\(bad)")
    }
    #expect(
      !hosts.allows(host: nil) && !WebHosts(Endpoint(host: nil, port: 80)).allows(host: "studio.example"))
    #expect(hosts.allows(origin: "http://localhost:80", host: "localhost:80"))
    #expect(!hosts.allows(origin: "http://localhost:81", host: "localhost:80"))
    #expect(!hosts.allows(origin: nil, host: "localhost") && !hosts.allows(origin: "null", host: "localhost"))
  }

  @Test("The secret of a page is random, and only the correct one is accepted")
  func aPagesSecretIsRandom() throws {
    let made = (0..<50).map { _ in WebToken() }
    #expect(Set(made.map(\.text)).count == 50)
    for token in made {
      #expect(token.text.utf8.count == 32 && WebToken(argument: token.text) == token)
      #expect(token.isIn("/\(token.query)") && token.isIn("/socket?a=b&token=\(token.text)"))
      for bad in [
        "", "/", "/?token=", "/?token", "/?", "?", "/?token=\(token.text.dropLast())",
        "/?token=\(token.text)0",
        "/?Token=\(token.text)", "/\(token.text)", "/?token=\(token.text)&token=\(token.text)",
        "/?token=\(made[0] == token ? made[1].text : made[0].text)", "/?x=\(token.text)",
      ] {
        #expect(!token.isIn(bad), "\(bad)")
      }
    }
    for bad in ["", "short", String(repeating: "a", count: 129), "0123456789abcde/", "0123456789abcde\u{E9}"]
    {
      #expect(WebToken(argument: bad) == nil, "\(bad)")
    }
  }

  @Test("Idle connections do not block a page")
  func connectionsThatSayNothingDoNotKeepAPageOut() throws {
    let port = try freePort()
    let endpoint = Endpoint(host: nil, port: port)
    let token = try #require(WebToken(argument: WebSocketClient.token))
    let server = try WebServer(endpoint, at: endpoint.resolve(), token: token) {}
    defer { server.close() }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var silent: [Int32] = []
    defer { for descriptor in silent { close(descriptor) } }
    for _ in 0..<WebServer.maxConnections + 8 {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      silent.append(descriptor)
      let status = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      try #require(status == 0)
    }
    let page = try WebSocketClient(socketAt: port)
    #expect(blockUntil { server.takeRequests().wantsKeyFrame })
    server.show(WebFrame(number: 0, isKeyFrame: true, arrived: 0, qp: nil, units: [[1]]))
    #expect(page.wait { $0.opcode == 2 } != nil)
  }

  @Test("The limit of pages also holds for simultaneous connections")
  func noMorePagesGetInAtOnceThanOneByOne() throws {
    let port = try freePort()
    let endpoint = Endpoint(host: nil, port: port)
    let token = try #require(WebToken(argument: WebSocketClient.token))
    let server = try WebServer(endpoint, at: endpoint.resolve(), token: token) {}
    defer { server.close() }
    let request = WebSocketClient.upgradeRequest(host: "127.0.0.1:\(port)")
    for _ in 0..<5 {
      let clients = try (0..<24).map { _ in try WebSocketClient(port: port) }
      for client in clients { try client.send(Array(request.utf8)) }
      let answers = try clients.map { try $0.request("").status }
      #expect(answers.count { $0 == 101 } == WebServer.maxClients, "\(answers)")
      #expect(answers.count { $0 == 503 } == clients.count - WebServer.maxClients, "\(answers)")
      // A slot that becomes free can be used again.
      clients.forEach { $0.end() }
      #expect(blockUntil { server.pageCount == 0 })
    }
  }

  @Test(
    "A frame that RFC 6455 does not allow ends its connection, and no other",
    arguments: [
      // Not masked; each of the reserved bits; opcodes that mean nothing, of data and of control.
      [0x81, 1, 0x7B], [0xC1, 0x80, 1, 2, 3, 4], [0xA1, 0x80, 1, 2, 3, 4], [0x91, 0x80, 1, 2, 3, 4],
      [0x83, 0x80, 1, 2, 3, 4], [0x8F, 0x80, 1, 2, 3, 4],
    ] as [[UInt8]])
  func aForbiddenFrameEndsItsConnection(bytes: [UInt8]) throws {
    let port = try freePort()
    let endpoint = Endpoint(host: nil, port: port)
    let token = try #require(WebToken(argument: WebSocketClient.token))
    let server = try WebServer(endpoint, at: endpoint.resolve(), token: token) {}
    defer { server.close() }
    let (page, other) = (try WebSocketClient(socketAt: port), try WebSocketClient(socketAt: port))
    try page.send(bytes)
    #expect(page.wait { $0.opcode == 8 }?.code == 1002)
    try other.send("{\"type\":\"clock\",\"time\":1}")
    #expect(other.wait { $0.json["type"] as? String == "clock" } != nil)
  }

  @Test(
    "Data that is not HTTP is answered with an error, and a WebSocket handshake requires a key of 16 bytes")
  func whatIsNotHTTPIsAnsweredAndClosedAtOnce() throws {
    let port = try freePort()
    let endpoint = Endpoint(host: nil, port: port)
    let token = try #require(WebToken(argument: WebSocketClient.token))
    // An idle client would keep its connection for an hour.
    let server = try WebServer(endpoint, at: endpoint.resolve(), token: token, timeout: 3600) {}
    defer { server.close() }
    let long = "GET / HTTP/1.1\r\nHost: localhost\r\nX: \(String(repeating: "a", count: 200_000))\r\n\r\n"
    for text in ["\0\0\0\0\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", long] {
      let client = try WebSocketClient(port: port)
      #expect(try client.request(text).status == 400)
      let ended = DispatchSemaphore(value: 0)
      nonisolated(unsafe) let waiting = client
      Thread.detachNewThread {
        _ = waiting.readToEnd()
        ended.signal()
      }
      #expect(waitForSignal(ended))
    }
    for (key, status) in [("c2hvcnQ=", 426), ("?", 426), ("dGhlIHNhbXBsZSBub25jZQ==", 101)] {
      let client = try WebSocketClient(port: port)
      let answer = try client.request(
        "GET \(WebSocketClient.path) HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          + "Sec-WebSocket-Key: \(key)\r\nSec-WebSocket-Version: 13\r\nOrigin: http://localhost\r\n\r\n")
      #expect(answer.status == status, "\(key)")
    }
  }

  private var residentBytes: Int {
    let words = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return (words?.dropFirst().first.flatMap { Int($0) } ?? 0) * sysconf(Int32(_SC_PAGESIZE))
  }

  @Test(
    "A page that does not read receives no frames, takes no memory, and continues with a key frame when it reads"
  )
  func aPageThatReadsNothingIsLeftOut() throws {
    let port = try freePort()
    let endpoint = Endpoint(host: nil, port: port)
    let token = try #require(WebToken(argument: WebSocketClient.token))
    let server = try WebServer(endpoint, at: endpoint.resolve(), token: token) {}
    defer { server.close() }
    let client = try WebSocketClient(socketAt: port)
    let quick = try WebSocketClient(socketAt: port)
    #expect(blockUntil { server.takeRequests().wantsKeyFrame })
    let unit = [UInt8](repeating: 7, count: 200_000)
    let before = residentBytes
    // 400 MB in all.
    var got = 0
    for number in 0..<2000 {
      server.show(
        WebFrame(number: UInt32(number), isKeyFrame: number % 20 == 0, arrived: 0, qp: nil, units: [unit]))
      try #require(quick.wait(for: { $0.opcode == 2 }) != nil, "frame \(number)")
      got += 1
    }
    // Other suites run in this process too.
    #expect(residentBytes - before < 300 << 20)
    #expect(got == 2000)
    var (last, count) = (-1, 0)
    // It is left out when a frame is given to pages, which is done with the last one when the quick
    // page has that.
    while count + server.result.dropped < 2000, let message = client.wait(for: { $0.opcode == 2 }) {
      let number = message.bytes[4..<8].reduce(0) { $0 << 8 | Int($1) }
      if number != last + 1 { #expect(message.isKeyFrame) }
      (last, count) = (number, count + 1)
    }
    let dropped = server.result.dropped
    #expect(dropped > 1000 && dropped < 2000)
    #expect(count == 2000 - dropped && count > 0)
  }
}
