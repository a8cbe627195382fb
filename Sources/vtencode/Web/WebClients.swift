// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// The connections of a `WebServer`. They are used on its event loop only.
final class WebClients: @unchecked Sendable {
  // Sendable: everything happens on one event loop.
  weak var server: WebServer?
  /// The browsers that are shown the pictures by WebRTC.
  var peers: WebPeers?
  private var clients: [ObjectIdentifier: WebClient] = [:]
  /// Connections that are not WebSockets, or not yet, in the order of arrival.
  private var others: [any Channel] = []
  /// Connections whose upgrade to a WebSocket has been accepted and is not complete. They count
  /// towards the limit.
  private var admitted: Set<ObjectIdentifier> = []
  /// A page that joins waits for a key frame at most this long, in seconds.
  private var limiter = KeyFrameRequestLimiter(maximum: 4)
  private var status: String?
  /// The time in seconds within which a connection must become a WebSocket or have its answer.
  private let timeout: Double

  init(timeout: Double) { self.timeout = timeout }

  /// Sets up the handlers of a new connection.
  func accept(_ channel: any Channel, hosts: WebHosts, token: WebToken) throws {
    // Idle connections must not keep a page out, so the oldest one is closed.
    if others.count + clients.count >= WebServer.maxConnections, !others.isEmpty {
      others.removeFirst().close(promise: nil)
    }
    others.append(channel)
    channel.closeFuture.whenComplete { [self] _ in forget(channel) }
    let page = WebPageHandler(hosts, token)
    let upgrader = NIOWebSocketServerUpgrader(
      maxFrameSize: WebMessage.maxBytes,
      // NIO's own answer closes the connection immediately. Data that the page is still sending
      // would then make the system reset the connection before the answer is read.
      automaticErrorHandling: false,
      shouldUpgrade: { [self] channel, head in
        let refusal = WebPageHandler.refusal(ofSocket: head, hosts: hosts, token: token, isFull: isFull)
        let isAccepted = refusal == nil && WebSocketRules.hasKey(head.headers)
        if isAccepted { admitted.insert(ObjectIdentifier(channel)) }
        return channel.eventLoop.makeSucceededFuture(isAccepted ? HTTPHeaders() : nil)
      },
      upgradePipelineHandler: { [self] channel, _ in
        channel.eventLoop.makeCompletedFuture {
          let client = WebClient(channel, self)
          try channel.pipeline.syncOperations.addHandlers([
            WebSocketRules(client),
            NIOWebSocketFrameAggregator(
              minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 16,
              maxAccumulatedFrameSize: WebMessage.maxBytes),
            WebSocketHandler(client),
          ])
          self.add(client)
        }
      })
    page.isFull = { [self] in isFull }
    page.peers = peers
    let bound = NIOLoopBound(page, eventLoop: channel.eventLoop)
    try channel.pipeline.syncOperations.configureHTTPServerPipeline(
      withServerUpgrade: (
        upgraders: [upgrader],
        completionHandler: { context in
          bound.value.isDone = true
          context.pipeline.syncOperations.removeHandler(bound.value, promise: nil)
        }
      ))
    try channel.pipeline.syncOperations.addHandler(page)
    // A connection that sends no request is closed after a while.
    channel.eventLoop.scheduleTask(in: .milliseconds(Int64(timeout * 1000))) { [weak channel] in
      if !bound.value.isDone { channel?.close(promise: nil) }
    }
  }

  var isFull: Bool { clients.count + admitted.count >= WebServer.maxClients }

  private func forget(_ channel: any Channel) {
    others.removeAll { $0 === channel }
    admitted.remove(ObjectIdentifier(channel))
  }

  private func add(_ client: WebClient) {
    forget(client.channel)
    clients[ObjectIdentifier(client)] = client
    client.channel.closeFuture.whenComplete { [self] _ in
      clients[ObjectIdentifier(client)] = nil
      server?.note(clients: clients.count, dropped: 0)
    }
    server?.note(clients: clients.count, dropped: 0)
    if let status { client.send(text: status) }
    // A page that joins needs a key frame.
    askForKeyFrame(client)
  }

  private func askForKeyFrame(_ client: WebClient) {
    if client.queue.wantsKeyFrame(at: SessionTime.now, &limiter) { server?.receive(.keyFrame(isLost: true)) }
  }

  func send(_ frame: WebFrame, on loop: any EventLoop) {
    guard !clients.isEmpty else { return }
    let message = frame.encoded
    var dropped = 0
    for client in clients.values {
      let before = client.queue.dropped
      client.send(message, isKeyFrame: frame.isKeyFrame)
      dropped += client.queue.dropped - before
      askForKeyFrame(client)
    }
    server?.note(clients: clients.count, dropped: dropped)
  }

  func send(_ audio: WebAudio) {
    guard !clients.isEmpty else { return }
    let message = audio.encoded
    for client in clients.values { client.send(audio: message) }
  }

  func send(_ text: String) {
    status = text
    for client in clients.values {
      client.send(text: text)
      client.closeIfStuck()
      askForKeyFrame(client)
    }
  }

  func receive(_ message: WebMessage, from client: WebClient) {
    switch message {
    case .clock(let time):
      client.send(
        text: "{\"type\":\"clock\",\"page\":\(time),\"time\":\(SessionTime.now)}")
    case .keyFrame(isLost: true):
      client.queue.restart()
      askForKeyFrame(client)
    default: server?.receive(message)
    }
  }

  func closeAll() { for client in clients.values { client.close(.goingAway, "the session has ended") } }
}

/// The connection of a page that is shown frames.
final class WebClient: @unchecked Sendable {
  // Sendable: everything happens on the channel's event loop.
  /// The number of messages that a page may send in a second.
  private static let maxMessages = 40

  let channel: any Channel
  private unowned let clients: WebClients
  var queue = PageQueue()
  private var messages: (second: Int, count: Int) = (0, 0)
  private var oldestWrite: (since: Double, count: Int)?
  private(set) var isClosing = false

  init(_ channel: any Channel, _ clients: WebClients) {
    (self.channel, self.clients) = (channel, clients)
  }

  /// Counts a message from the page.
  /// - Returns: false if there are too many.
  func isAllowedToSend() -> Bool {
    let second = Int(SessionTime.now)
    messages = messages.second == second ? (second, messages.count + 1) : (second, 1)
    return messages.count <= Self.maxMessages
  }

  func receive(_ message: WebMessage) { clients.receive(message, from: self) }

  func send(_ frame: ByteBuffer, isKeyFrame: Bool) {
    let size = frame.readableBytes
    guard !isClosing, queue.admits(isKeyFrame: isKeyFrame, bytes: size) else { return }
    write(WebSocketFrame(fin: true, opcode: .binary, data: frame)) { [self] in queue.didWrite(bytes: size) }
  }

  /// Sends an audio packet. It is dropped if there is no room, since it would come too late.
  func send(audio: ByteBuffer) {
    guard !isClosing, channel.isWritable else { return }
    write(WebSocketFrame(fin: true, opcode: .binary, data: audio)) {}
  }

  /// Sends a text message. It is dropped if there is no room, since status messages are repeated.
  func send(text: String) {
    guard !isClosing, channel.isWritable else { return }
    write(WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: text))) {}
  }

  func send(pong data: ByteBuffer) {
    guard !isClosing, channel.isWritable else { return }
    write(WebSocketFrame(fin: true, opcode: .pong, data: data)) {}
  }

  private func write(_ frame: WebSocketFrame, then done: @escaping () -> Void) {
    oldestWrite = (oldestWrite?.since ?? SessionTime.now, (oldestWrite?.count ?? 0) + 1)
    let then = NIOLoopBound((self, done), eventLoop: channel.eventLoop)
    channel.writeAndFlush(frame).whenComplete { _ in
      let (client, done) = then.value
      done()
      // Writes complete in order, so the remaining ones wait at most since this one's completion.
      let left = (client.oldestWrite?.count ?? 1) - 1
      client.oldestWrite = left > 0 ? (SessionTime.now, left) : nil
    }
  }

  /// Closes the connection if the page has not taken anything for too long.
  func closeIfStuck() {
    guard let oldestWrite, SessionTime.now - oldestWrite.since > WebServer.timeout else { return }
    channel.close(promise: nil)
  }

  func close(_ code: WebSocketErrorCode, _ reason: String) {
    guard !isClosing else { return }
    isClosing = true
    var data = ByteBuffer()
    data.write(webSocketErrorCode: code)
    data.writeString(reason)
    let channel = channel
    channel.writeAndFlush(WebSocketFrame(fin: true, opcode: .connectionClose, data: data), promise: nil)
    // The page then closes the connection. Closing it here at once, with unread data from the page,
    // would reset it before the page has read the close frame.
    channel.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
  }
}

/// Handles the WebSocket frames of a page (RFC 6455).
final class WebSocketHandler: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame

  private let client: WebClient

  init(_ client: WebClient) { self.client = client }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    guard !client.isClosing else {
      if frame.opcode == .connectionClose { context.close(promise: nil) }
      return
    }
    guard client.isAllowedToSend() else { return client.close(.policyViolation, "too many messages") }
    switch frame.opcode {
    case .text:
      // A message that was assembled from fragments has already been unmasked.
      let bytes = Array(frame.unmaskedData.readableBytesView)
      guard WebSocketRules.isText(bytes) else {
        return client.close(.dataInconsistentWithMessage, "text must be UTF-8")
      }
      guard let message = WebMessage(bytes) else {
        return client.close(.policyViolation, "not a message of this page")
      }
      client.receive(message)
    case .binary: client.close(.unacceptableData, "messages must be text")
    case .ping: client.send(pong: frame.unmaskedData)
    case .connectionClose: client.close(WebSocketRules.answer(toClose: frame.unmaskedData), "")
    default: break
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    client.close(WebSocketRules.answer(to: error), "not understood")
  }
}
