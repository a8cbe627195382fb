// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import RealTimeTransport

/// Shows a session's frames in browsers: a page over HTTP, and frames, figures and controls over a
/// WebSocket. It has a thread of its own, so that slow pages do not delay the session.
final class WebServer: @unchecked Sendable {
  // Sendable: `lock` guards what the session's thread uses; the rest belongs to the event loop.

  /// The largest numbers of pages and of connections. The memory of each connection is limited too.
  static let maxClients = 8
  static let maxConnections = 64
  /// The time in seconds within which a connection must become a WebSocket or have its answer, and
  /// within which a page must take a frame.
  static let timeout = 10.0

  private let group: MultiThreadedEventLoopGroup
  private let channel: any Channel
  private let token: WebToken
  private let wake: @Sendable () -> Void
  private let lock = Lock()
  private var requests = WebRequests()
  private var figures: WebMessage.Figures?
  /// The number of frames sent to pages, which limits the number that a page can claim to have
  /// shown.
  private var frameCount = 0
  private var dropped = 0
  private var clientCount = 0
  private let clients: WebClients
  private let peers: WebPeers

  /// Opens the port.
  /// - Parameters:
  ///   - endpoint: the endpoint as the user gave it, whose host name requests may use.
  ///   - address: the address to listen on.
  ///   - token: the secret in the page's address.
  ///   - timeout: the time in seconds within which a connection must become a WebSocket or have
  ///     its answer.
  ///   - wake: is called on the server's thread when a page asks for something.
  /// - Throws: a `Failure` with advice if the port cannot be opened.
  init(
    _ endpoint: Endpoint, at address: SocketAddress, token: WebToken, timeout: Double = WebServer.timeout,
    wake: @escaping @Sendable () -> Void
  ) throws {
    self.wake = wake
    let hosts = WebHosts(endpoint)
    let clients = WebClients(timeout: timeout)
    // The server is made only later, and closes the peers before it goes.
    let keyFrameRequests = KeyFrameRequestForwarder()
    peers = WebPeers(address) { keyFrameRequests.requestKeyFrame() }
    clients.peers = peers
    self.token = token
    self.clients = clients
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    do {
      channel = try ServerBootstrap(group: group)
        .serverChannelOption(.backlog, value: 32)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture { try clients.accept(channel, hosts: hosts, token: token) }
        }
        .bind(to: address).wait()
    } catch let error as IOError {
      try? group.syncShutdownGracefully()
      throw DatagramSocket.failure(error.errnoCode, address)
    } catch {
      try? group.syncShutdownGracefully()
      throw Failure("cannot listen at \(address.text): \(Failure.describe(error))")
    }
    keyFrameRequests.server = self
    try channel.eventLoop.submit { clients.server = self }.wait()
  }

  /// The page's address for the user.
  var url: String {
    let port = channel.localAddress?.port ?? 0
    guard let address = channel.localAddress?.ipAddress, address != "0.0.0.0", address != "::" else {
      return "http://\(Endpoint(host: "127.0.0.1", port: port).text)/\(token.query)"
    }
    return "http://\(Endpoint(host: address, port: port).text)/\(token.query)"
  }

  // MARK: - From the session's thread

  /// Lets browsers that come from now on have audio by WebRTC.
  func expectAudio() { peers.expectAudio() }

  /// Sends an audio packet to all browsers.
  func show(_ packet: AudioReceiver.Packet, captured: Double) {
    peers.show(packet, captured: captured)
    channel.eventLoop.execute { [self] in clients.send(WebAudio(packet: packet)) }
  }

  /// Sends a frame to all pages, except those that are too slow.
  func show(_ frame: WebFrame) {
    lock.withLock { frameCount += 1 }
    peers.show(frame)
    channel.eventLoop.execute { [self] in clients.send(frame, on: channel.eventLoop) }
  }

  /// Sends a status message to all pages.
  func send(_ status: WebStatus) {
    var status = status
    status.clients = lock.withLock { clientCount }
    let text = status.text
    channel.eventLoop.execute { [self] in clients.send(text) }
  }

  /// Returns and clears what pages have asked for.
  func takeRequests() -> WebRequests {
    lock.withLock {
      defer { requests = WebRequests() }
      return requests
    }
  }

  /// The figures that a page reported last, limited to what is possible, and the number of frames
  /// dropped for slow pages.
  var result: (figures: WebMessage.Figures?, dropped: Int) { lock.withLock { (figures, dropped) } }

  /// The number of open pages.
  var pageCount: Int { lock.withLock { clientCount } }

  /// Closes all connections and stops the thread, without waiting for the pages.
  func close() {
    peers.close()
    channel.eventLoop.execute { [self] in
      clients.closeAll()
      channel.close(promise: nil)
    }
    try? channel.closeFuture.wait()
    try? group.syncShutdownGracefully()
  }

  // MARK: - From the event loop

  func note(clients count: Int, dropped more: Int) {
    let hasLeft = lock.withLock {
      let hasLeft = count == 0 && clientCount > 0
      if hasLeft { requests.isLastPageClosed = true }
      clientCount = count
      dropped += more
      return hasLeft
    }
    if hasLeft { wake() }
  }

  /// Takes a message from a page.
  func receive(_ message: WebMessage) {
    let isRequest = lock.withLock {
      switch message {
      case .keyFrame: requests.wantsKeyFrame = true
      case .lose(let share): requests.loss = share
      case .cap(let rate): requests.cap = rate.map { .rate($0) } ?? .unlimited
      case .figures(var said):
        said.shown = min(said.shown, frameCount)
        said.dropped = min(said.dropped, frameCount)
        figures = said
        return false
      case .clock: return false
      }
      return true
    }
    if isRequest { wake() }
  }
}

/// Forwards the key-frame requests of WebRTC viewers to the server.
private final class KeyFrameRequestForwarder: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
  private let lock = Lock()
  private weak var target: WebServer?

  var server: WebServer? {
    get { lock.withLock { target } }
    set { lock.withLock { target = newValue } }
  }

  func requestKeyFrame() { server?.receive(.keyFrame(isLost: true)) }
}

/// Checks the host names by which requests address the server. Another site can make its own name
/// resolve to this machine (DNS rebinding), and its scripts would then have the same origin as the
/// page. Names are therefore checked; ports are not, because they may be forwarded.
struct WebHosts: Sendable {
  private let name: String?

  init(_ endpoint: Endpoint) { name = endpoint.host?.lowercased() }

  /// Whether a request may use this host.
  /// - Parameter host: the value of the header `Host`.
  func allows(host: String?) -> Bool {
    guard let host = host?.lowercased(), !host.isEmpty, host.utf8.count < 300 else { return false }
    var bare = host[...]
    if bare.first == "[" {
      guard let end = bare.firstIndex(of: "]") else { return false }
      bare = bare[bare.index(after: bare.startIndex)..<end]
    } else if let colon = bare.lastIndex(of: ":") {
      bare = bare[..<colon]
    }
    if bare == "localhost" || bare[...] == name?[...] { return true }
    // A numeric address cannot be another site's name.
    return (try? SocketAddress(ipAddress: String(bare), port: 0)) != nil
  }

  /// Whether the page that a script belongs to, according to the header `Origin`, is the one served
  /// here.
  func allows(origin: String?, host: String?) -> Bool {
    guard let origin = origin?.lowercased(), let host = host?.lowercased() else { return false }
    // It is https behind a TLS proxy.
    return origin == "http://\(host)" || origin == "https://\(host)"
  }
}
