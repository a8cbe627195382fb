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
  /// A message has begun whose last piece has not come.
  private var isInPieces = false

  init(_ client: WebClient) { self.client = client }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    if !client.isClosing, Self.isBroken(frame) || !isInOrder(frame) {
      return client.close(.protocolError, "not understood")
    }
    context.fireChannelRead(data)
  }

  /// The pieces of a message follow one another, with nothing but control frames between them; a piece that goes on with
  /// nothing is none (5.4).
  private func isInOrder(_ frame: WebSocketFrame) -> Bool {
    switch frame.opcode {
    case .continuation:
      guard isInPieces else { return false }
      isInPieces = !frame.fin
    case .text, .binary:
      guard !isInPieces else { return false }
      isInPieces = !frame.fin
    default: break
    }
    return true
  }

  /// Clients mask what they send (5.1); no extension was agreed upon, and no other opcode means anything (5.2).
  private static func isBroken(_ frame: WebSocketFrame) -> Bool {
    frame.maskKey == nil || frame.rsv1 || frame.rsv2 || frame.rsv3 || !opcodes.contains(frame.opcode)
  }

  /// Whether bytes are UTF-8, as those of text and of a reason to close are (5.6, 8.1).
  static func isText(_ bytes: some Sequence<UInt8>) -> Bool {
    String(validating: bytes, as: UTF8.self) != nil
  }

  /// The code that answers a page's own end of the connection: the same, or what is wrong with it (5.5.1, 7.4).
  /// - Parameter payload: Nothing, or a code and a reason.
  static func answer(toClose payload: ByteBuffer) -> WebSocketErrorCode {
    var payload = payload
    guard payload.readableBytes > 0 else { return .normalClosure }
    guard let number = payload.readInteger(as: UInt16.self) else { return .protocolError }
    switch number {
    // Those that are registered and may be sent, and those for libraries and programs (7.4.2).
    case 1000...1003, 1007...1014, 3000...4999: break
    default: return .protocolError
    }
    guard isText(payload.readableBytesView) else { return .dataInconsistentWithMessage }
    return WebSocketErrorCode(codeNumber: Int(number))
  }

  /// The code for what the decoder, or what puts pieces together, has refused (7.4.1).
  static func answer(to error: any Error) -> WebSocketErrorCode {
    switch error {
    case NIOWebSocketError.invalidFrameLength: .messageTooLarge
    case NIOWebSocketFrameAggregator.Error.accumulatedFrameSizeIsTooLarge: .messageTooLarge
    case NIOWebSocketFrameAggregator.Error.tooManyFragments: .policyViolation
    default: .protocolError
    }
  }

  /// Whether a request to become a WebSocket has a key: 16 bytes in Base64 (4.1).
  static func hasKey(_ headers: HTTPHeaders) -> Bool {
    headers.first(name: "Sec-WebSocket-Key").flatMap { Data(base64Encoded: $0) }?.count == 16
  }
}
