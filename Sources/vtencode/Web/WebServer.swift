// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// Shows a session's frames in browsers: one page over HTTP, and frames, figures and buttons over a WebSocket. It has a thread
/// of its own; whatever pages do, the session goes on.
final class WebServer: @unchecked Sendable {
  // Sendable: `lock` guards what the session's thread sees; the rest belongs to the event loop.

  /// Pages that are shown frames, and connections in all: each has a limit on what it may hold.
  static let mostClients = 8
  static let mostConnections = 64
  /// Seconds in which a connection becomes a WebSocket or has its answer, and in which a page takes a frame.
  static let patience = 10.0

  private let group: MultiThreadedEventLoopGroup
  private let channel: any Channel
  private let token: WebToken
  private let wake: @Sendable () -> Void
  private let lock = Lock()
  private var requests = WebRequests()
  private var figures: WebMessage.Figures?
  /// Frames that were given to pages: none can have shown more.
  private var frameCount = 0
  private var dropped = 0
  private var clientCount = 0
  private let clients: WebClients

  /// Opens the port.
  /// - Parameters:
  ///   - endpoint: as it was given, for its name.
  ///   - token: what a page's address must have.
  ///   - patience: seconds in which a connection becomes a WebSocket or has its answer.
  ///   - wake: called from the server's thread when a page asks for something.
  /// - Throws: A `Failure` that says what to do, if the port cannot be had.
  init(
    _ endpoint: Endpoint, at address: SocketAddress, token: WebToken, patience: Double = WebServer.patience,
    wake: @escaping @Sendable () -> Void
  ) throws {
    self.wake = wake
    let hosts = WebHosts(endpoint)
    let clients = WebClients(patience: patience)
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
    try channel.eventLoop.submit { clients.server = self }.wait()
  }

  /// Where a person finds the page.
  var url: String {
    let port = channel.localAddress?.port ?? 0
    guard let address = channel.localAddress?.ipAddress, address != "0.0.0.0", address != "::" else {
      return "http://\(Endpoint(host: "127.0.0.1", port: port).text)/\(token.query)"
    }
    return "http://\(Endpoint(host: address, port: port).text)/\(token.query)"
  }

  // MARK: - From the session's thread

  /// Gives a frame to all pages; those that are behind go without.
  func show(_ frame: WebFrame) {
    lock.withLock { frameCount += 1 }
    channel.eventLoop.execute { [self] in clients.send(frame, on: channel.eventLoop) }
  }

  /// Tells all pages how it stands.
  func tell(_ status: WebStatus) {
    var status = status
    status.clients = lock.withLock { clientCount }
    let text = status.text
    channel.eventLoop.execute { [self] in clients.send(text) }
  }

  /// What pages have asked for since the last time.
  func takeRequests() -> WebRequests {
    lock.withLock {
      defer { requests = WebRequests() }
      return requests
    }
  }

  /// What the page that spoke last says it has shown, as far as that can be, and the frames that were left out for slow ones.
  var result: (figures: WebMessage.Figures?, dropped: Int) { lock.withLock { (figures, dropped) } }

  /// Pages that are open.
  var pageCount: Int { lock.withLock { clientCount } }

  /// Ends, whatever pages do.
  func close() {
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
      if hasLeft { requests.isDeserted = true }
      clientCount = count
      dropped += more
      return hasLeft
    }
    if hasLeft { wake() }
  }

  /// A page has asked for something.
  func take(_ message: WebMessage) {
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

/// Whose name a page may be asked for by. A page elsewhere can have its own name point here (DNS rebinding), and would be
/// of the same origin then: names count, not addresses. Ports do not: they may be forwarded.
struct WebHosts: Sendable {
  private let name: String?

  init(_ endpoint: Endpoint) { name = endpoint.host?.lowercased() }

  /// - Parameter host: the header `Host`.
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
    // An address is nobody's name.
    return (try? SocketAddress(ipAddress: String(bare), port: 0)) != nil
  }

  /// A browser says in `Origin` which page a script is of: it must be the one that came from here.
  func allows(origin: String?, host: String?) -> Bool {
    guard let origin = origin?.lowercased(), let host = host?.lowercased() else { return false }
    // Behind a proxy that speaks TLS it is https.
    return origin == "http://\(host)" || origin == "https://\(host)"
  }
}
