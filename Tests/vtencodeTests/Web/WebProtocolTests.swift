// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import Testing

@testable import vtencode

/// Requirements of HTTP and RFC 6455 for the page's server, frame by frame and header by header.
@Suite struct WebProtocolTests {
  private let port: Int
  private let server: WebServer

  init() throws {
    port = try freePort()
    let endpoint = Endpoint(host: nil, port: port)
    let token = try #require(WebToken(argument: WebSocketClient.token))
    server = try WebServer(endpoint, at: endpoint.resolve(), token: token) {}
  }

  /// A frame, masked.
  private static func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
    let size: [UInt8] =
      payload.count < 126
      ? [0x80 | UInt8(payload.count)] : [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
    let mask: [UInt8] = [9, 8, 7, 6]
    return [first] + size + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
  }

  private static func end(_ code: UInt16, _ reason: [UInt8] = []) -> [UInt8] {
    frame(0x88, [UInt8(code >> 8), UInt8(code & 255)] + reason)
  }

  @Test("Each fault ends its connection with the code that RFC 6455 has for it")
  func eachFaultEndsItsConnectionWithItsCode() throws {
    defer { server.close() }
    let frame = Self.frame
    let clock = Array(#"{"type":"clock","time":1}"#.utf8)
    let cases: [(String, [[UInt8]], Int)] = [
      ("a piece that continues with nothing", [frame(0x80, clock)], 1002),
      ("one that is not the last", [frame(0x00, clock)], 1002),
      ("one after a whole message", [frame(0x81, clock), frame(0x80, clock)], 1002),
      ("a message in the middle of another", [frame(0x01, clock), frame(0x81, clock)], 1002),
      ("bytes in the middle of text", [frame(0x01, clock), frame(0x02, clock)], 1002),
      ("a ping in pieces", [frame(0x09, [1])], 1002),
      ("an end in pieces", [frame(0x08, [3, 232])], 1002),
      ("a ping of 126 bytes", [frame(0x89, [UInt8](repeating: 1, count: 126))], 1002),
      ("an end of 200 bytes", [frame(0x88, [3, 232] + [UInt8](repeating: 65, count: 198))], 1002),
      ("a reserved bit", [frame(0xC1, clock)], 1002),
      ("a reserved bit of a ping", [frame(0x99, [])], 1002),
      ("a reserved opcode", [frame(0x85, [])], 1002),
      ("a reserved opcode of control", [frame(0x8C, [])], 1002),
      ("no mask", [[0x81, 2, 0x7B, 0x7D]], 1002), ("a ping without a mask", [[0x89, 0]], 1002),
      ("text that is not UTF-8", [frame(0x81, [0x22, 0xFF, 0x22])], 1007),
      ("half of a letter", [frame(0x81, [0x22, 0xC3])], 1007),
      ("a surrogate", [frame(0x81, [0xED, 0xA0, 0x80])], 1007),
      ("an overlong letter", [frame(0x81, [0xC0, 0xAF])], 1007),
      ("no UTF-8 in pieces", [frame(0x01, clock), frame(0x80, [0xFE])], 1007),
      ("bytes", [frame(0x82, clock)], 1003),
      ("too long", [frame(0x81, [UInt8](repeating: 32, count: 1025))], 1009),
      (
        "too long in pieces",
        [frame(0x01, [UInt8](repeating: 32, count: 600)), frame(0x80, [UInt8](repeating: 32, count: 600))],
        1009
      ), ("too many pieces", [frame(0x01, [32])] + Array(repeating: frame(0x00, [32]), count: 20), 1008),
      ("no message", [frame(0x81, [])], 1008),
      ("an end of one byte", [frame(0x88, [3])], 1002), ("an end", [frame(0x88, [])], 1000),
      ("an end whose reason is not UTF-8", [Self.end(1000, [0xFF])], 1007),
    ]
    for (name, frames, code) in cases {
      let page = try WebSocketClient(socketAt: port)
      // The server may have closed before all is sent.
      for frame in frames { try? page.send(frame) }
      #expect(page.closeCode() == code, "\(name)")
    }
    for code in [1000, 1001, 1002, 1003, 1007, 1011, 1014, 3000, 4999] as [UInt16] {
      let page = try WebSocketClient(socketAt: port)
      try page.send(Self.end(code, Array("so long".utf8)))
      #expect(page.closeCode() == Int(code))
    }
    // Reserved, not to be sent, or no codes.
    for code in [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535] as [UInt16] {
      let page = try WebSocketClient(socketAt: port)
      try page.send(Self.end(code))
      #expect(page.closeCode() == 1002, "\(code)")
    }
  }

  @Test(
    "Everything that RFC 6455 allows is accepted: empty fragments, pings between fragments, unsolicited pongs"
  )
  func whatRFC6455AllowsIsTaken() throws {
    defer { server.close() }
    let frame = Self.frame
    let clock = Array(#"{"type":"clock","time":7}"#.utf8)
    let page = try WebSocketClient(socketAt: port)
    try page.send(frame(0x8A, [1, 2, 3]))
    try page.send(frame(0x01, []))
    try page.send(frame(0x00, Array(clock.prefix(5))))
    try page.send(frame(0x89, [UInt8](repeating: 7, count: 125)))
    try page.send(frame(0x00, []))
    try page.send(frame(0x80, Array(clock.dropFirst(5))))
    #expect(page.wait { $0.opcode == 10 }?.bytes == [UInt8](repeating: 7, count: 125))
    #expect(page.wait { $0.json["type"] as? String == "clock" }?.json["page"] as? Double == 7)
  }

  @Test("A request with no host, two hosts or two origins is refused, whatever they are")
  func requestsWithDoubledHeadersAreRefused() throws {
    defer { server.close() }
    let (good, other) = ("Host: localhost:\(port)\r\n", "Host: evil.example\r\n")
    let origin = "Origin: http://localhost:\(port)\r\n"
    let socket =
      "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      + "Sec-WebSocket-Version: 13\r\n"
    func status(_ target: String, _ headers: String) throws -> Int {
      try WebSocketClient(port: port).request("GET \(target) HTTP/1.1\r\n\(headers)\r\n").status
    }
    let page = "/?token=\(WebSocketClient.token)"
    #expect(try status(page, good) == 200)
    #expect(try status(page, "") == 400)
    for headers in [
      good + other, other + good, good + good, good + "HOST: localhost\r\n", good + origin + origin,
    ] {
      #expect(try status(page, headers) == 400, "\(headers)")
    }
    let path = WebSocketClient.path
    #expect(try status(path, good + origin + socket) == 101)
    for headers in [
      origin, good + good + origin, good + other + origin, other + good + origin, good + origin + origin,
      good + origin + "Origin: http://evil.example\r\n", good + "origin: null\r\n" + origin,
    ] {
      #expect(try status(path, headers + socket) == 400, "\(headers)")
    }
    // Nor two keys.
    #expect(
      try status(path, good + origin + socket + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n") != 101)
  }

  @Test(
    "A page's figures are what can be: delays in the summary are those of pictures, counts those of frames")
  func aPagesFiguresAreWhatCanBe() throws {
    defer { server.close() }
    for bad in [-999_999, -1.5, 3601, 1e5, 1e99] {
      for name in ["delayP50", "delayP95"] {
        let page = try WebSocketClient(socketAt: port)
        try page.send(#"{"type":"figures","shown":0,"dropped":0,"\#(name)":\#(bad)}"#)
        #expect(page.closeCode() == 1008, "\(name) \(bad)")
      }
    }
    #expect(server.result.figures == nil)
    for number in 0..<5 {
      server.show(WebFrame(number: UInt32(number), isKeyFrame: true, arrived: 0, qp: nil, units: [[1]]))
    }
    let page = try WebSocketClient(socketAt: port)
    func said(_ text: String) throws -> WebMessage.Figures {
      try page.send(text)
      // It is answered when the data before it has been processed.
      try page.send(#"{"type":"clock","time":1}"#)
      _ = try #require(page.wait { $0.json["type"] as? String == "clock" })
      return try #require(server.result.figures)
    }
    #expect(
      try said(#"{"type":"figures","shown":4,"dropped":1,"delayP50":0.02,"delayP95":0.04}"#)
        == .init(shown: 4, dropped: 1, delayP50: 0.02, delayP95: 0.04))
    #expect(
      try said(#"{"type":"figures","shown":9223372036854775807,"dropped":1000,"delayP50":-0.001}"#)
        == .init(shown: 5, dropped: 5, delayP50: -0.001, delayP95: nil))
  }
}
