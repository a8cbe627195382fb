// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// The connections of a `WebServer`, on its event loop alone.
final class WebClients: @unchecked Sendable {
  // Sendable: everything happens on one event loop.
  weak var server: WebServer?
  private var clients: [ObjectIdentifier: WebClient] = [:]
  /// Connections that are no WebSocket, or not yet, in the order in which they came.
  private var others: [any Channel] = []
  /// Connections that have been told that they may become a WebSocket, and are not yet: they have their places.
  private var admitted: Set<ObjectIdentifier> = []
  /// Who comes late waits for a key frame no longer than this, in seconds.
  private var pace = KeyFramePace(most: 4)
  private var status: String?
  /// Seconds in which a connection becomes a WebSocket or has its answer.
  private let patience: Double

  init(patience: Double) { self.patience = patience }

  /// A connection comes in.
  func accept(_ channel: any Channel, hosts: WebHosts, token: WebToken) throws {
    // Those that say nothing are not to keep a page out.
    if others.count + clients.count >= WebServer.mostConnections, !others.isEmpty {
      others.removeFirst().close(promise: nil)
    }
    others.append(channel)
    channel.closeFuture.whenComplete { [self] _ in forget(channel) }
    let page = WebPageHandler(hosts, token)
    let upgrader = NIOWebSocketServerUpgrader(
      maxFrameSize: WebMessage.mostBytes,
      // Its own answer closes at once, and what the page still says would take the answer back.
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
              maxAccumulatedFrameSize: WebMessage.mostBytes),
            WebSocketHandler(client),
          ])
          self.add(client)
        }
      })
    page.isFull = { [self] in isFull }
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
    // Who opens a connection and says nothing has it for a while.
    channel.eventLoop.scheduleTask(in: .milliseconds(Int64(patience * 1000))) { [weak channel] in
      if !bound.value.isDone { channel?.close(promise: nil) }
    }
  }

  var isFull: Bool { clients.count + admitted.count >= WebServer.mostClients }

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
    // Who comes late is to see something.
    askForKeyFrame(client)
  }

  private func askForKeyFrame(_ client: WebClient) {
    if client.gate.wantsKeyFrame(at: SessionTime.now, &pace) { server?.take(.keyFrame(isLost: true)) }
  }

  func send(_ frame: WebFrame, on loop: any EventLoop) {
    guard !clients.isEmpty else { return }
    let message = frame.encoded
    var dropped = 0
    for client in clients.values {
      let before = client.gate.dropped
      client.send(message, isKeyFrame: frame.isKeyFrame)
      dropped += client.gate.dropped - before
      askForKeyFrame(client)
    }
    server?.note(clients: clients.count, dropped: dropped)
  }

  func send(_ text: String) {
    status = text
    for client in clients.values {
      client.send(text: text)
      client.closeIfStuck()
      askForKeyFrame(client)
    }
  }

  func take(_ message: WebMessage, from client: WebClient) {
    switch message {
    case .clock(let time):
      client.send(
        text: "{\"type\":\"clock\",\"page\":\(time),\"time\":\(SessionTime.now)}")
    case .keyFrame(isLost: true):
      client.gate.restart()
      askForKeyFrame(client)
    default: server?.take(message)
    }
  }

  func closeAll() { for client in clients.values { client.close(.goingAway, "the session has ended") } }
}

/// A page that is shown frames.
final class WebClient: @unchecked Sendable {
  // Sendable: everything happens on the channel's event loop.
  /// Messages in a second: more is a page gone wrong.
  private static let mostMessages = 40

  let channel: any Channel
  private unowned let clients: WebClients
  var gate = WebGate()
  private var messages: (second: Int, count: Int) = (0, 0)
  private var oldestWrite: (since: Double, count: Int)?
  private(set) var isClosing = false

  init(_ channel: any Channel, _ clients: WebClients) {
    (self.channel, self.clients) = (channel, clients)
  }

  /// Counts what a page says.
  /// - Returns: False if it is too much.
  func mayTalk() -> Bool {
    let second = Int(SessionTime.now)
    messages = messages.second == second ? (second, messages.count + 1) : (second, 1)
    return messages.count <= Self.mostMessages
  }

  func take(_ message: WebMessage) { clients.take(message, from: self) }

  func send(_ frame: ByteBuffer, isKeyFrame: Bool) {
    let size = frame.readableBytes
    guard !isClosing, gate.admits(isKeyFrame: isKeyFrame, bytes: size) else { return }
    write(WebSocketFrame(fin: true, opcode: .binary, data: frame)) { [self] in gate.leave(bytes: size) }
  }

  /// What says how it stands is said again: without room it is left out.
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
      // Writes end in order: what is left is no older than this one's end.
      let left = (client.oldestWrite?.count ?? 1) - 1
      client.oldestWrite = left > 0 ? (SessionTime.now, left) : nil
    }
  }

  /// A page that takes nothing any more.
  func closeIfStuck() {
    guard let oldestWrite, SessionTime.now - oldestWrite.since > WebServer.patience else { return }
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
    // The page closes it then. If what it still says were not read, the system would take back what was said to it.
    channel.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
  }
}

/// What a page's WebSocket says (RFC 6455).
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
    guard client.mayTalk() else { return client.close(.policyViolation, "too many messages") }
    switch frame.opcode {
    case .text:
      // Put together of pieces it is unmasked.
      let bytes = Array(frame.unmaskedData.readableBytesView)
      guard WebSocketRules.isText(bytes) else {
        return client.close(.dataInconsistentWithMessage, "text is UTF-8")
      }
      guard let message = WebMessage(bytes) else {
        return client.close(.policyViolation, "no message that this page sends")
      }
      client.take(message)
    case .binary: client.close(.unacceptableData, "messages are text")
    case .ping: client.send(pong: frame.unmaskedData)
    case .connectionClose: client.close(WebSocketRules.answer(toClose: frame.unmaskedData), "")
    default: break
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    client.close(WebSocketRules.answer(to: error), "not understood")
  }
}
