// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// What RFC 6455 asks of each frame that a browser sends, before pieces are put together: then nothing is seen of it any more.
final class WebSocketRules: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias InboundOut = WebSocketFrame

  private static let opcodes: [WebSocketOpcode] = [
    .continuation, .text, .binary, .connectionClose, .ping, .pong,
  ]
  private let client: WebClient

  init(_ client: WebClient) { self.client = client }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    if !client.isClosing, Self.isBroken(frame) { return client.close(.protocolError, "not understood") }
    context.fireChannelRead(data)
  }

  /// Clients mask what they send (5.1); no extension was agreed upon, and no other opcode means anything (5.2).
  private static func isBroken(_ frame: WebSocketFrame) -> Bool {
    frame.maskKey == nil || frame.rsv1 || frame.rsv2 || frame.rsv3 || !opcodes.contains(frame.opcode)
  }

  /// Whether a request to become a WebSocket has a key: 16 bytes in Base64 (4.1).
  static func hasKey(_ headers: HTTPHeaders) -> Bool {
    headers.first(name: "Sec-WebSocket-Key").flatMap { Data(base64Encoded: $0) }?.count == 16
  }
}
