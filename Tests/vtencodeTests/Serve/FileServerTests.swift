// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import Testing

@testable import vtencode

/// `serve` over TCP connections.
@Suite struct FileServerTests {
  /// A server of a folder, which is closed with it.
  private final class Served {
    let folder: Folder
    let server: FileServer

    init(limits: FileServer.Limits = FileServer.Limits()) throws {
      folder = try Folder()
      server = try FileServer(
        ServedFolder(folder.url.path), at: SocketAddress(ipAddress: "127.0.0.1", port: 0), limits: limits)
    }

    deinit { server.close() }

    func write(_ text: String, _ name: String) throws {
      try Data(text.utf8).write(to: folder.url.appendingPathComponent(name), options: .atomic)
    }

    /// The answer to one request, with its body.
    func ask(
      _ target: String, method: String = "GET", _ headers: String = ""
    ) throws -> (status: Int, headers: String, body: String) {
      let client = try WebSocketClient(port: server.port)
      let (status, answer) = try client.request(Self.request(target, method: method, headers))
      return (status, answer, client.readToEnd())
    }

    static func request(_ target: String, method: String = "GET", _ headers: String = "") -> String {
      "\(method) \(target) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\(headers)\r\n"
    }
  }

  @Test("Responses have the content type, the caching and the CORS header")
  func filesComeWithTheirTypes() throws {
    let served = try Served()
    let types = [
      "a.m3u8": ("application/vnd.apple.mpegurl", "max-age=1"),
      "a.m4s": ("video/iso.segment", "no-cache"),
      "a.mpd": ("application/dash+xml", "max-age=1"), "a.mp4": ("video/mp4", "no-cache"),
      "a.key": ("application/octet-stream", "max-age=60"),
    ]
    for (name, (type, caching)) in types {
      try served.write("contents of \(name)", name)
      let answer = try served.ask("/\(name)")
      #expect(answer.status == 200 && answer.body == "contents of \(name)", "\(answer)")
      #expect(answer.headers.contains("Content-Type: \(type)\r\n"), "\(answer.headers)")
      #expect(answer.headers.contains("Cache-Control: \(caching)\r\n"), "\(answer.headers)")
      #expect(answer.headers.contains("Access-Control-Allow-Origin: *"))
      let head = try served.ask("/\(name)", method: "HEAD")
      #expect(
        head.status == 200 && head.body.isEmpty && head.headers.contains("Content-Length: \(12 + name.count)")
      )
    }
  }

  @Test("Ranges, conditions and methods are answered as RFC 9110 says")
  func rangesAndConditionsAreAnswered() throws {
    let served = try Served()
    let text = String((0..<400_000).map { Character(UnicodeScalar(UInt8(97 + $0 % 26))) })
    try served.write(text, "a.m4s")
    let whole = try served.ask("/a.m4s")
    #expect(whole.body == text)
    let part = try served.ask("/a.m4s", "Range: bytes=100000-299999\r\n")
    #expect(part.status == 206 && part.body == String(text.dropFirst(100_000).prefix(200_000)))
    #expect(part.headers.contains("Content-Range: bytes 100000-299999/400000"))
    let none = try served.ask("/a.m4s", "Range: bytes=400000-\r\n")
    #expect(none.status == 416 && none.headers.contains("Content-Range: bytes */400000"))
    let tag = try #require(whole.headers.firstMatch(of: /ETag: ("[^"]+")/)).1
    #expect(try served.ask("/a.m4s", "If-None-Match: \(tag)\r\n").status == 304)
    #expect(try served.ask("/a.m4s", "If-Range: \(tag)\r\nRange: bytes=0-4\r\n").body == "abcde")
    #expect(try served.ask("/a.m4s", "If-Range: \"x\"\r\nRange: bytes=0-4\r\n").status == 200)
    #expect(try served.ask("/a.m4s", method: "DELETE").status == 405)
    #expect(try served.ask("/a.m4s", method: "POST", "Content-Length: 1\r\n\r\nx").status == 405)
    let options = try served.ask("/a.m4s", method: "OPTIONS")
    #expect(options.status == 204 && options.headers.contains("Access-Control-Allow-Headers: Range"))
    #expect(try served.ask("/none").status == 404)
    #expect(try served.ask("/%2e%2e/etc/passwd").status == 404)
    #expect(try served.ask("/a.m4s", "Host: b\r\n").status == 400)
    #expect(try served.ask("/a.m4s", "X: \(String(repeating: "x", count: 20_000))\r\n").status == 431)
  }

  @Test("Several requests use one connection")
  func oneConnectionCarriesSeveral() throws {
    let served = try Served()
    try served.write("one", "a.mp4")
    let client = try WebSocketClient(port: served.server.port)
    for _ in 0..<3 {
      #expect(try client.request("HEAD /a.mp4 HTTP/1.1\r\nHost: a\r\n\r\n").status == 200)
    }
  }

  @Test("Connections without a request or with a malformed one are closed")
  func whatSendsNothingIsClosed() throws {
    let served = try Served(limits: FileServer.Limits(request: 0.05))
    for text in ["", "GET /a HT", "nonsense\r\n\r\n"] {
      let client = try WebSocketClient(port: served.server.port)
      try client.send(Array(text.utf8))
      // Without the limit the connection would stay open until the client's own limit.
      let rest = client.readToEnd()
      #expect(rest.isEmpty || rest.contains(" 400 "), "\(rest)")
    }
  }

  private static func playlist(parts: Int, ends: Bool = false) -> String {
    "#EXTM3U\n#EXT-X-TARGETDURATION:60\n#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES\n#EXT-X-PART-INF:PART-TARGET=0.5\n"
      + "#EXT-X-MEDIA-SEQUENCE:5\n"
      + (0..<parts).map { "#EXT-X-PART:DURATION=0.5,URI=\"p\($0).m4s\"\n" }.joined()
      + (ends ? "#EXT-X-ENDLIST\n" : "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"p\(parts).m4s\"\n")
  }

  @Test("A blocking playlist request waits for its part, and a preload-hinted part waits until it exists")
  func playlistsAndPartsAreHeldBack() throws {
    let served = try Served()
    try served.write(Self.playlist(parts: 1), "a.m3u8")
    #expect(try served.ask("/a.m3u8?_HLS_msn=5&_HLS_part=0").body == Self.playlist(parts: 1))
    #expect(try served.ask("/a.m3u8?_HLS_part=0").status == 400)
    #expect(try served.ask("/a.m3u8?_HLS_msn=9").status == 400)
    let reload = try WebSocketClient(port: served.server.port)
    try reload.send(Array(Served.request("/a.m3u8?_HLS_msn=5&_HLS_part=1").utf8))
    let part = try WebSocketClient(port: served.server.port)
    try part.send(Array(Served.request("/p1.m4s").utf8))
    // Both wait now or will; another request is answered meanwhile, and an unknown part is not
    // waited for.
    #expect(try served.ask("/p2.m4s").status == 404)
    try served.write("part", "p1.m4s")
    try served.write(Self.playlist(parts: 2), "a.m3u8")
    #expect(part.readToEnd().hasSuffix("part"))
    #expect(reload.readToEnd().hasSuffix(Self.playlist(parts: 2)))
    // The end of the stream also answers waiting requests.
    let last = try WebSocketClient(port: served.server.port)
    try last.send(Array(Served.request("/a.m3u8?_HLS_msn=6").utf8))
    try served.write(Self.playlist(parts: 2, ends: true), "a.m3u8")
    #expect(last.readToEnd().hasSuffix("#EXT-X-ENDLIST\n"))
  }

  @Test("A delta update has the number of skipped segments in their place")
  func deltaUpdatesComeWhenAskedFor() throws {
    let served = try Served()
    let head =
      "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:1\n#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=6\n"
      + "#EXT-X-MEDIA-SEQUENCE:5\n"
    let map = "#EXT-X-MAP:URI=\"i.mp4\"\n"
    func segments(_ numbers: Range<Int>) -> String { numbers.map { "#EXTINF:1.0,\n\($0).m4s\n" }.joined() }
    let whole = head + map + segments(0..<10)
    try served.write(whole, "a.m3u8")
    #expect(try served.ask("/a.m3u8").body == whole)
    // The segments 0 to 2 end more than six seconds before the end of the playlist.
    let delta = head + "#EXT-X-SKIP:SKIPPED-SEGMENTS=3\n" + map + segments(3..<10)
    for target in ["/a.m3u8?_HLS_skip=YES", "/a.m3u8?_HLS_msn=14&_HLS_skip=v2"] {
      let answer = try served.ask(target)
      #expect(answer.status == 200 && answer.body == delta, "\(answer)")
      #expect(answer.headers.contains("Content-Length: \(delta.utf8.count)\r\n"))
    }
    let asked = try served.ask("/a.m3u8?_HLS_skip=YES", method: "HEAD")
    #expect(
      asked.status == 200 && asked.body.isEmpty
        && asked.headers.contains("Content-Length: \(delta.utf8.count)"))
    // No other value requests one, and an ended playlist is complete.
    #expect(try served.ask("/a.m3u8?_HLS_skip=NO").body == whole)
    try served.write(whole + "#EXT-X-ENDLIST\n", "a.m3u8")
    #expect(try served.ask("/a.m3u8?_HLS_skip=YES").body == whole + "#EXT-X-ENDLIST\n")
  }
}
