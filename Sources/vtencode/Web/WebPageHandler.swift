// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import NIOHTTP1

/// Answers one HTTP request and closes the connection: the page, or the answer to a browser's offer
/// of a WebRTC session, which comes by POST as WHEP has it.
final class WebPageHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  /// The path of the WebSocket.
  static let socketPath = "/socket"
  /// The path for offers of WebRTC sessions.
  static let peerPath = "/whep"
  /// The longest offer, in bytes.
  private static let maxOffer = 65_536

  private let hosts: WebHosts
  private let token: WebToken
  private var head: HTTPRequestHead?
  var isFull: () -> Bool = { false }
  var peers: WebPeers?
  /// The offer that is being received; nil if there is none.
  private var offer: [UInt8]?
  /// Whether the connection has become a WebSocket.
  var isDone = false

  init(_ hosts: WebHosts, _ token: WebToken) { (self.hosts, self.token) = (hosts, token) }

  private static let noToken = "Open the address that vtencode has printed: it ends with a secret.\n"

  /// The error for a request with ambiguous headers; nil if there is none. With two `Host` or
  /// `Origin` headers, one could be checked and the other one used (RFC 9112, 3.2; RFC 6454, 7.3).
  private static func refusal(of headers: HTTPHeaders) -> (HTTPResponseStatus, String)? {
    guard headers["Host"].count == 1 else { return (.badRequest, "A request has one header Host.\n") }
    guard headers["Origin"].count <= 1 else {
      return (.badRequest, "A request has no more than one header Origin.\n")
    }
    return nil
  }

  /// The error for a request of a WebSocket; nil if it is accepted.
  static func refusal(
    ofSocket head: HTTPRequestHead, hosts: WebHosts, token: WebToken, isFull: Bool
  ) -> (HTTPResponseStatus, String)? {
    if let refusal = refusal(of: head.headers) { return refusal }
    guard head.method == .GET else { return (.methodNotAllowed, "Only GET.\n") }
    if let refusal = refusal(of: head, path: socketPath, hosts: hosts, token: token) { return refusal }
    guard !isFull else {
      return (.serviceUnavailable, "\(WebServer.maxClients) pages are open already; close one.\n")
    }
    return nil
  }

  /// The error for a request that gives away frames; nil if it is of the page from this server.
  private static func refusal(
    of head: HTTPRequestHead, path: String, hosts: WebHosts, token: WebToken
  ) -> (HTTPResponseStatus, String)? {
    if let refusal = refusal(of: head.headers) { return refusal }
    let host = head.headers.first(name: "Host")
    guard hosts.allows(host: host) else {
      return (.misdirectedRequest, "This host name is not served here.\n")
    }
    guard WebToken.path(head.uri) == path else { return (.notFound, "There is nothing here.\n") }
    guard hosts.allows(origin: head.headers.first(name: "Origin"), host: host) else {
      return (.forbidden, "Only the page from this server may have the frames.\n")
    }
    guard token.isIn(head.uri) else { return (.forbidden, noToken) }
    return nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      guard self.head == nil else { return }
      self.head = head
      if head.method == .POST, WebToken.path(head.uri) == Self.peerPath { return beginOffer(head, context) }
      // No other request here has a body that is read.
      answer(head, context)
    case .body(let part):
      guard let begun = offer, let head else { return }
      guard begun.count + part.readableBytes <= Self.maxOffer else {
        offer = nil
        return send(context, head, .payloadTooLarge, "The offer is too long.\n")
      }
      offer?.append(contentsOf: part.readableBytesView)
    case .end:
      guard let text = offer, let head else { return }
      offer = nil
      answerOffer(String(decoding: text, as: UTF8.self), head, context)
    }
  }

  /// Takes an offer of a WebRTC session, if it is of the page from this server.
  private func beginOffer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    if let (status, text) = Self.refusal(of: head, path: Self.peerPath, hosts: hosts, token: token) {
      return send(context, head, status, text)
    }
    guard head.headers.first(name: "Content-Type")?.lowercased().hasPrefix("application/sdp") == true else {
      return send(context, head, .unsupportedMediaType, "An offer is application/sdp.\n")
    }
    offer = []
  }

  private func answerOffer(_ offer: String, _ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    guard let peers else { return send(context, head, .notFound, "There is nothing here.\n") }
    // Opening the socket waits for its thread, so it happens off this one.
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    let loop = context.eventLoop
    DispatchQueue.global().async {
      let result: Result<String, WebPeers.Refusal>
      do throws(WebPeers.Refusal) {
        result = .success(try peers.answer(offer))
      } catch {
        result = .failure(error)
      }
      loop.execute {
        let (handler, context) = bound.value
        guard context.channel.isActive else { return }
        switch result {
        case .success(let answer):
          handler.send(context, head, .created, answer, type: "application/sdp")
        case .failure(.tooMany):
          handler.send(
            context, head, .serviceUnavailable, "\(WebServer.maxClients) pages are open already; close one.\n"
          )
        case .failure(.noPicture):
          handler.send(
            context, head, .conflict, "No picture is available yet.\n", headers: [("Retry-After", "1")])
        case .failure(.codec(let codec)):
          handler.send(
            context, head, .notAcceptable,
            "The pictures are \(codec.name), which goes to browsers with WebCodecs; send H.264 for others.\n")
        case .failure(.offer(let reason)):
          handler.send(context, head, .notAcceptable, "Your browser was not understood: \(reason).\n")
        case .failure(.system(let reason)): handler.send(context, head, .internalServerError, reason + "\n")
        }
      }
    }
  }

  private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    if let (status, text) = Self.refusal(of: head.headers) { return send(context, head, status, text) }
    guard hosts.allows(host: head.headers.first(name: "Host")) else {
      return send(context, head, .misdirectedRequest, "This host name is not served here.\n")
    }
    guard head.method == .GET || head.method == .HEAD else {
      return send(context, head, .methodNotAllowed, "Only GET.\n", headers: [("Allow", "GET, HEAD")])
    }
    switch WebToken.path(head.uri) {
    case "/":
      guard token.isIn(head.uri) else { return send(context, head, .forbidden, Self.noToken) }
      let nonce = Data((0..<16).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
      // Allows no content from elsewhere, no connection to elsewhere, and no embedding in another
      // page.
      let policy =
        "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; connect-src 'self'; "
        + "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
      send(
        context, head, .ok, WebPage.text(nonce: nonce), type: "text/html; charset=utf-8",
        headers: [("Content-Security-Policy", policy)])
    case "/favicon.ico": send(context, head, .noContent, "")
    case Self.peerPath[...]:
      send(
        context, head, .methodNotAllowed, "This resource accepts WebRTC offers by POST only.\n",
        headers: [("Allow", "POST")])
    case Self.socketPath[...]:
      let (status, text) =
        Self.refusal(ofSocket: head, hosts: hosts, token: token, isFull: isFull())
        ?? (.upgradeRequired, "This resource accepts WebSocket connections only.\n")
      send(context, head, status, text, headers: status == .upgradeRequired ? [("Upgrade", "websocket")] : [])
    default: send(context, head, .notFound, "There is nothing here.\n")
    }
  }

  private func send(
    _ context: ChannelHandlerContext, _ request: HTTPRequestHead, _ status: HTTPResponseStatus,
    _ text: String,
    type: String = "text/plain; charset=utf-8", headers: [(String, String)] = []
  ) {
    let body = ByteBuffer(string: text)
    var head = HTTPResponseHead(version: .http1_1, status: status)
    head.headers = [
      "Content-Type": type, "Cache-Control": "no-store", "Connection": "close",
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
    ]
    if status != .noContent { head.headers.add(name: "Content-Length", value: "\(body.readableBytes)") }
    head.headers.add(contentsOf: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if request.method != .HEAD, body.readableBytes > 0 {
      context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
    }
    let bound = context.loopBound
    context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in bound.value.close(promise: nil) }
  }

  // NIO has answered what is not HTTP, and passes improper upgrades on as requests. The connection
  // is closed later: closing it with unread data would reset it before the answer is read.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    let channel = context.channel
    channel.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
  }
}
