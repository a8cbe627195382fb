// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Checks the rules of RFC 6455 for each frame from a browser. It comes before the aggregation of
/// fragments, which hides them.
final class WebSocketRules: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias InboundOut = WebSocketFrame

  private static let opcodes: [WebSocketOpcode] = [
    .continuation, .text, .binary, .connectionClose, .ping, .pong,
  ]
  private let client: WebClient
  /// Whether a fragmented message has begun and is not complete.
  private var isFragmented = false

  init(_ client: WebClient) { self.client = client }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    if !client.isClosing, Self.isBroken(frame) || !isInOrder(frame) {
      return client.close(.protocolError, "not understood")
    }
    context.fireChannelRead(data)
  }

  /// Checks the order of fragments: only control frames may come between the fragments of a
  /// message, and a continuation needs a message that has begun (5.4).
  private func isInOrder(_ frame: WebSocketFrame) -> Bool {
    switch frame.opcode {
    case .continuation:
      guard isFragmented else { return false }
      isFragmented = !frame.fin
    case .text, .binary:
      guard !isFragmented else { return false }
      isFragmented = !frame.fin
    default: break
    }
    return true
  }

  /// Whether a frame is not masked (5.1), or has a reserved bit or an unknown opcode; no extension
  /// is negotiated (5.2).
  private static func isBroken(_ frame: WebSocketFrame) -> Bool {
    frame.maskKey == nil || frame.rsv1 || frame.rsv2 || frame.rsv3 || !opcodes.contains(frame.opcode)
  }

  /// Whether bytes are valid UTF-8, as required for text messages and close reasons (5.6, 8.1).
  static func isText(_ bytes: some Sequence<UInt8>) -> Bool {
    String(validating: bytes, as: UTF8.self) != nil
  }

  /// The close code that answers a page's close frame: the same code, or the error that it contains
  /// (5.5.1, 7.4).
  /// - Parameter payload: empty, or a code and a reason.
  static func answer(toClose payload: ByteBuffer) -> WebSocketErrorCode {
    var payload = payload
    guard payload.readableBytes > 0 else { return .normalClosure }
    guard let number = payload.readInteger(as: UInt16.self) else { return .protocolError }
    switch number {
    // The registered codes that may be sent, and the ranges for libraries and applications (7.4.2).
    case 1000...1003, 1007...1014, 3000...4999: break
    default: return .protocolError
    }
    guard isText(payload.readableBytesView) else { return .dataInconsistentWithMessage }
    return WebSocketErrorCode(codeNumber: Int(number))
  }

  /// The close code for an error of the frame decoder or of the aggregation (7.4.1).
  static func answer(to error: any Error) -> WebSocketErrorCode {
    switch error {
    case NIOWebSocketError.invalidFrameLength: .messageTooLarge
    case NIOWebSocketFrameAggregator.Error.accumulatedFrameSizeIsTooLarge: .messageTooLarge
    case NIOWebSocketFrameAggregator.Error.tooManyFragments: .policyViolation
    default: .protocolError
    }
  }

  /// Whether an upgrade request has a key: 16 bytes in Base64 (4.1).
  static func hasKey(_ headers: HTTPHeaders) -> Bool {
    headers.first(name: "Sec-WebSocket-Key").flatMap { Data(base64Encoded: $0) }?.count == 16
  }
}
