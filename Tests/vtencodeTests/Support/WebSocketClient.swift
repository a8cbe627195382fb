// SPDX-License-Identifier: Apache-2.0
import Foundation

/// As much of HTTP and of a WebSocket (RFC 6455) as a test needs, over a socket of the system, so
/// that nothing of what is tested is used to test it.
final class WebSocketClient {
  struct Refused: Error, CustomStringConvertible {
    var status: Int
    var text: String
    var description: String { "\(status): \(text)" }
  }

  /// The secret that tests give pages, and where a page's WebSocket is with it.
  static let token = "0123456789abcdef-TEST_token"
  static let path = "/socket?token=\(token)"

  struct Message {
    /// 1 is text, 2 bytes, 8 the end, 10 a pong.
    var opcode: UInt8
    var bytes: [UInt8]

    var text: String { String(decoding: bytes, as: UTF8.self) }
    /// Of an end.
    var code: Int { bytes.count < 2 ? 0 : Int(bytes[0]) << 8 | Int(bytes[1]) }
    var json: [String: Any] {
      (try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]) ?? [:]
    }
    /// Of a frame: as the page reads it.
    var isKeyFrame: Bool { bytes.count > 28 && bytes[1] & 1 != 0 }
    var isHEVC: Bool { bytes.count > 28 && bytes[1] & 2 != 0 }
    var frame: ArraySlice<UInt8> { bytes.dropFirst(28) }
  }

  private let descriptor: Int32
  private var buffer: [UInt8] = []

  /// Connects, and no more.
  init(port: Int, seconds: Int = 20) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var limit = timeval(tv_sec: seconds, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let status = withLoopback(port: port) { connect(descriptor, $0, $1) }
    guard status == 0 else { throw Refused(status: -1, text: String(cString: strerror(errno))) }
  }

  deinit { close(descriptor) }

  /// Becomes a WebSocket.
  convenience init(
    socketAt port: Int, origin: String? = nil, host: String? = nil, path: String = WebSocketClient.path
  ) throws {
    try self.init(port: port)
    let host = host ?? "127.0.0.1:\(port)"
    let (status, _) = try request(Self.upgradeRequest(host: host, origin: origin, path: path))
    // The answer to the key that RFC 6455 shows, 1.3.
    guard status == 101 else { throw Refused(status: status, text: readToEnd()) }
    guard answer.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") else { throw Refused(status: 0, text: answer) }
  }

  static func upgradeRequest(
    host: String, origin: String? = nil, path: String = WebSocketClient.path
  ) -> String {
    "GET \(path) HTTP/1.1\r\nHost: \(host)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
      + (origin == "" ? "" : "Origin: \(origin ?? "http://\(host)")\r\n") + "\r\n"
  }

  /// Ends the connection without a word.
  func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  private(set) var answer = ""

  /// Sends a request.
  /// - Returns: The answer's status and headers.
  func request(_ text: String) throws -> (status: Int, headers: String) {
    try send(Array(text.utf8))
    while true {
      if let end = buffer.indices.dropLast(3).first(where: { buffer[$0..<($0 + 4)] == [13, 10, 13, 10] }) {
        answer = String(decoding: buffer[..<end], as: UTF8.self)
        buffer.removeFirst(end + 4)
        return (Int(answer.split(separator: " ").dropFirst().first ?? "") ?? 0, answer)
      }
      guard fill() else { throw Refused(status: 0, text: String(decoding: buffer, as: UTF8.self)) }
    }
  }

  func readToEnd() -> String {
    while fill() {}
    defer { buffer = [] }
    return String(decoding: buffer, as: UTF8.self)
  }

  private func fill() -> Bool {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    guard count > 0 else { return false }
    buffer += bytes[..<count]
    return true
  }

  func send(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw Refused(status: -1, text: "cannot send") }
      rest = rest.dropFirst(count)
    }
  }

  /// Sends a frame, masked as clients do.
  func send(_ text: String, opcode: UInt8 = 1, isFinal: Bool = true) throws {
    let bytes = Array(text.utf8)
    var frame: [UInt8] = [(isFinal ? 0x80 : 0) | opcode]
    if bytes.count < 126 {
      frame.append(0x80 | UInt8(bytes.count))
    } else {
      frame += [0x80 | 126, UInt8(bytes.count >> 8 & 255), UInt8(bytes.count & 255)]
    }
    let mask: [UInt8] = [1, 2, 3, 4]
    try send(frame + mask + bytes.enumerated().map { $1 ^ mask[$0 % 4] })
  }

  /// The next message; nil at the connection's end.
  func next() -> Message? {
    while true {
      if let message = parse() { return message }
      guard fill() else { return nil }
    }
  }

  private func parse() -> Message? {
    guard buffer.count >= 2 else { return nil }
    var (length, start) = (Int(buffer[1] & 127), 2)
    if length == 126 {
      guard buffer.count >= 4 else { return nil }
      (length, start) = (Int(buffer[2]) << 8 | Int(buffer[3]), 4)
    } else if length == 127 {
      guard buffer.count >= 10 else { return nil }
      (length, start) = (buffer[2..<10].reduce(0) { $0 << 8 | Int($1) }, 10)
    }
    guard buffer.count >= start + length else { return nil }
    let message = Message(opcode: buffer[0] & 15, bytes: Array(buffer[start..<(start + length)]))
    buffer.removeFirst(start + length)
    return message
  }

  /// Reads on until a message is as wanted.
  func wait(for condition: (Message) -> Bool) -> Message? {
    while let message = next() {
      if condition(message) { return message }
    }
    return nil
  }

  /// The code with which the connection ends.
  func closeCode() -> Int? { wait { $0.opcode == 8 }?.code }
}

/// This machine's own address, as the calls of sockets want it, which may write another one there.
func withLoopback<R>(port: Int, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> R) -> R {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = UInt16(port).bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  return withUnsafeMutablePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
  }
}
