// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import NIOHTTP1

/// Answers the requests of one connection, one after the other.
final class FileRequestHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  /// The size of a read from a file, and so of what waits for a slow client.
  private static let blockSize = 128 << 10
  private static let maxPlaylistBytes = 8 << 20
  private static let methods = "GET, HEAD, OPTIONS"

  private let folder: ServedFolder
  private let limits: FileServer.Limits
  private var head: HTTPRequestHead?
  private var hasBody = false
  /// Whether a playlist may come as a delta update.
  private var wantsDelta = false
  /// Ends the connection if nothing happens in time.
  private var deadline: Scheduled<Void>?
  /// Looks for what a player waits for.
  private var waiting: RepeatedTask?

  init(_ folder: ServedFolder, _ limits: FileServer.Limits) { (self.folder, self.limits) = (folder, limits) }

  func handlerAdded(context: ChannelHandlerContext) { setDeadline(limits.request, context) }

  func channelInactive(context: ChannelHandlerContext) {
    deadline?.cancel()
    waiting?.cancel()
    context.fireChannelInactive()
  }

  private func setDeadline(_ seconds: Double, _ context: ChannelHandlerContext) {
    deadline?.cancel()
    let channel = context.channel
    deadline = context.eventLoop.scheduleTask(in: .milliseconds(Int64(seconds * 1000))) {
      channel.close(promise: nil)
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      (self.head, hasBody) = (head, false)
      setDeadline(limits.request, context)
    case .body: hasBody = true
    case .end:
      guard let head else { return }
      deadline?.cancel()
      answer(head, context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  // MARK: - Requests

  private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    if hasBody {
      let isRead = head.method == .GET || head.method == .HEAD
      return refuse(
        isRead ? .payloadTooLarge : .methodNotAllowed, context, [("Allow", Self.methods)], closes: true)
    }
    let size = head.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    guard size <= FileServer.maxHeaderBytes else {
      return refuse(.requestHeaderFieldsTooLarge, context, closes: true)
    }
    guard head.version.major == 1, head.version.minor == 0 || head.headers["Host"].count == 1 else {
      return refuse(.badRequest, context, closes: true)
    }
    switch head.method {
    case .GET, .HEAD: break
    case .OPTIONS:
      return send(
        .noContent,
        [
          ("Access-Control-Allow-Methods", Self.methods), ("Access-Control-Allow-Headers", "Range"),
          ("Access-Control-Max-Age", "86400"), ("Allow", Self.methods),
        ], context)
    default:
      return refuse(.methodNotAllowed, context, [("Allow", Self.methods)])
    }
    let target = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let path = target.first.map(Self.path), let names = ServedFolder.names(inPath: path),
      let name = names.last
    else {
      return refuse(.notFound, context)
    }
    wantsDelta = false
    if name.hasSuffix(".m3u8") {
      wantsDelta = PlaylistDelta.isAsked(for: target.count > 1 ? target[1] : "")
      do {
        let directives = try PlaylistProgress.DeliveryDirectives(query: target.count > 1 ? target[1] : "")
        return answerPlaylist(names, directives, context)
      } catch { return refuse(.badRequest, context) }
    }
    guard let file = folder.open(names) else { return answerMissing(names, context) }
    send(file, name: name, context)
  }

  /// The path of a request's target, which may be a whole address (RFC 9112, 3.2.2).
  private static func path(_ target: Substring) -> Substring {
    guard let scheme = target.range(of: "://"), !target.hasPrefix("/") else { return target }
    return target[scheme.upperBound...].drop { $0 != "/" }
  }

  /// Answers with a playlist, as soon as it has what the player waits for.
  private func answerPlaylist(
    _ names: [String], _ directives: PlaylistProgress.DeliveryDirectives?, _ context: ChannelHandlerContext
  ) {
    guard let file = folder.open(names), file.size <= Self.maxPlaylistBytes else {
      return refuse(.notFound, context)
    }
    guard let directives else { return send(file, name: names.last ?? "", context) }
    let progress = Self.progress(of: file)
    if progress.isTooFar(directives) { return refuse(.badRequest, context) }
    if progress.holds(directives) { return send(file, name: names.last ?? "", context) }
    var tag = file.tag
    // A player waits for three target durations at most (6.2.5.2).
    wait(Double(3 * progress.targetDuration), context, otherwise: .serviceUnavailable) { [folder] in
      guard let file = folder.open(names), file.size <= Self.maxPlaylistBytes, file.tag != tag else {
        return nil
      }
      tag = file.tag
      return Self.progress(of: file).holds(directives) ? (file, names.last ?? "") : nil
    }
  }

  /// Answers a request for a file that is not there: a part that a playlist announces is waited for
  /// (4.4.5.3).
  private func answerMissing(_ names: [String], _ context: ChannelHandlerContext) {
    guard let name = names.last, name.hasSuffix(".m4s") else { return refuse(.notFound, context) }
    let announcing = folder.playlists(beside: names).lazy.compactMap { [folder] in folder.open($0) }
      .filter { $0.size <= Self.maxPlaylistBytes }.map(Self.progress)
      .first { !$0.hasEnded && $0.hint.map(String.init) == name }
    guard let announcing else { return refuse(.notFound, context) }
    wait(Double(3 * announcing.targetDuration), context, otherwise: .notFound) { [folder] in
      folder.open(names).map { ($0, name) }
    }
  }

  private static func progress(of file: ServedFolder.File) -> PlaylistProgress {
    PlaylistProgress(text(of: file))
  }

  private static func text(of file: ServedFolder.File) -> String {
    String(decoding: file.read(at: 0, count: file.size), as: UTF8.self)
  }

  /// Looks for a file again and again.
  /// - Parameters:
  ///   - seconds: for how long.
  ///   - status: the answer if it does not come.
  ///   - look: returns the file and its name as soon as it exists.
  private func wait(
    _ seconds: Double, _ context: ChannelHandlerContext, otherwise status: HTTPResponseStatus,
    for look: @escaping () -> (ServedFolder.File, String)?
  ) {
    let end = NIODeadline.now() + .milliseconds(Int64(seconds * 1000))
    let bound = NIOLoopBound((self, context, look), eventLoop: context.eventLoop)
    let interval = TimeAmount.microseconds(Int64(limits.poll * 1_000_000))
    waiting = context.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { task in
      let (handler, context, look) = bound.value
      if let (file, name) = look() {
        task.cancel()
        handler.waiting = nil
        handler.send(file, name: name, context)
      } else if NIODeadline.now() > end {
        task.cancel()
        handler.waiting = nil
        handler.refuse(status, context)
      }
    }
  }

  // MARK: - Answers

  /// Sends a file, or the range of it that was asked for.
  private func send(_ file: ServedFolder.File, name: String, _ context: ChannelHandlerContext) {
    guard let head else { return }
    if wantsDelta, file.size <= Self.maxPlaylistBytes,
      let delta = PlaylistDelta.text(of: Self.text(of: file))
    {
      return send(delta, name: name, context)
    }
    var headers = [
      ("Content-Type", ServedType.of(name)), ("Cache-Control", ServedType.caching(name)), ("ETag", file.tag),
      ("Last-Modified", HTTPDate.text(file.changed)),
      ("Accept-Ranges", "bytes"),
    ]
    let known = head.headers[canonicalForm: "If-None-Match"]
    if known.contains(where: { $0 == file.tag[...] || $0 == "*" }) {
      return send(.notModified, headers, context)
    }
    // A range of another version of the file is of no use (RFC 9110, 13.1.5).
    let condition = head.headers.first(name: "If-Range")
    let asked = condition == nil || condition == file.tag ? head.headers.first(name: "Range") : nil
    var range = 0..<file.size
    var status = HTTPResponseStatus.ok
    switch head.method == .GET ? ServedRange(asked, size: file.size) : .whole {
    case .whole: break
    case .part(let part):
      (range, status) = (part, .partialContent)
      headers.append(("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(file.size)"))
    case .unsatisfiable:
      return refuse(.rangeNotSatisfiable, context, [("Content-Range", "bytes */\(file.size)")])
    }
    headers.append(("Content-Length", "\(range.count)"))
    writeHead(status, headers, context)
    head.method == .HEAD ? finish(context) : write(file, range, context)
  }

  /// Sends a text that is not a file.
  private func send(_ text: String, name: String, _ context: ChannelHandlerContext) {
    let headers = [
      ("Content-Type", ServedType.of(name)), ("Cache-Control", ServedType.caching(name)),
      ("Content-Length", "\(text.utf8.count)"),
    ]
    writeHead(.ok, headers, context)
    if head?.method != .HEAD {
      context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
    }
    finish(context)
  }

  /// Writes a range, block by block, each when the one before has been taken.
  private func write(_ file: ServedFolder.File, _ range: Range<Int>, _ context: ChannelHandlerContext) {
    guard !range.isEmpty else { return finish(context) }
    let bytes = file.read(at: range.lowerBound, count: min(range.count, Self.blockSize))
    // The file has become shorter than the header says.
    guard !bytes.isEmpty else { return context.close(promise: nil) }
    setDeadline(limits.progress, context)
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    let rest = range.lowerBound + bytes.count..<range.upperBound
    context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes))))).whenComplete {
      result in
      let (handler, context) = bound.value
      guard case .success = result else { return context.close(promise: nil) }
      handler.write(file, rest, context)
    }
  }

  private func refuse(
    _ status: HTTPResponseStatus, _ context: ChannelHandlerContext, _ headers: [(String, String)] = [],
    closes: Bool = false
  ) {
    let text = "\(status.code) \(status.reasonPhrase)\n"
    let own = [
      ("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store"),
      ("Content-Length", "\(text.utf8.count)"),
    ]
    writeHead(status, own + headers, context, closes: closes)
    if head?.method != .HEAD {
      context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
    }
    finish(context, closes: closes)
  }

  /// Sends an answer without contents.
  private func send(
    _ status: HTTPResponseStatus, _ headers: [(String, String)], _ context: ChannelHandlerContext
  ) {
    writeHead(status, headers, context)
    finish(context)
  }

  private func writeHead(
    _ status: HTTPResponseStatus, _ headers: [(String, String)], _ context: ChannelHandlerContext,
    closes: Bool = false
  ) {
    var answer = HTTPResponseHead(version: .http1_1, status: status)
    answer.headers = HTTPHeaders(headers)
    answer.headers.add(name: "Date", value: HTTPDate.text(time(nil)))
    // Players in pages of any site may read the folder, as anybody may.
    answer.headers.add(name: "Access-Control-Allow-Origin", value: "*")
    answer.headers.add(name: "Access-Control-Expose-Headers", value: "Content-Length, Content-Range, ETag")
    answer.headers.add(name: "X-Content-Type-Options", value: "nosniff")
    if closes || head?.isKeepAlive != true { answer.headers.add(name: "Connection", value: "close") }
    context.write(wrapOutboundOut(.head(answer)), promise: nil)
  }

  private func finish(_ context: ChannelHandlerContext, closes: Bool = false) {
    let ends = closes || head?.isKeepAlive != true
    head = nil
    setDeadline(limits.request, context)
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
      if ends { bound.value.close(promise: nil) }
    }
  }
}
