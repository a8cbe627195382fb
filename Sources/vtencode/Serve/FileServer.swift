// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// Serves a folder over HTTP/1.1 on a thread of its own.
final class FileServer: Sendable {
  /// The largest number of connections; further ones are closed at once.
  static let maxConnections = 256
  /// The largest size of a request's headers in bytes.
  static let maxHeaderBytes = 16 << 10

  /// Times in seconds.
  struct Limits: Sendable {
    /// Within which a request has to arrive whole, and the next one has to begin.
    var request = 15.0
    /// Within which a client has to take some of the answer.
    var progress = 30.0
    /// How often a file is looked for that a player waits for.
    var poll = 0.015
  }

  private let group: MultiThreadedEventLoopGroup
  private let channel: any Channel
  private let connections = Connections()

  /// The open connections.
  fileprivate final class Connections: @unchecked Sendable {
    // Sendable: used on the server's event loop only.
    var count = 0
    var all: [ObjectIdentifier: any Channel] = [:]
  }

  /// Opens the port.
  /// - Throws: a `Failure` with advice if the port cannot be opened.
  init(_ folder: ServedFolder, at address: SocketAddress, limits: Limits = Limits()) throws {
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    do {
      channel = try ServerBootstrap(group: group)
        .serverChannelOption(.backlog, value: 128)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        // One message at a time bounds what a client can have waiting.
        .childChannelOption(.maxMessagesPerRead, value: 1)
        .childChannelInitializer { [connections] channel in
          channel.eventLoop.makeCompletedFuture {
            guard connections.all.count < Self.maxConnections else { throw ChannelError.ioOnClosedChannel }
            connections.all[ObjectIdentifier(channel)] = channel
            channel.closeFuture.whenComplete { _ in connections.all[ObjectIdentifier(channel)] = nil }
            let pipeline = channel.pipeline.syncOperations
            try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: true, withErrorHandling: true)
            try pipeline.addHandler(FileRequestHandler(folder, limits))
          }
        }
        .bind(to: address).wait()
    } catch let error as IOError {
      try? group.syncShutdownGracefully()
      throw DatagramSocket.failure(error.errnoCode, address)
    } catch {
      try? group.syncShutdownGracefully()
      throw Failure("cannot listen at \(address.text): \(Failure.describe(error))")
    }
  }

  var port: Int { channel.localAddress?.port ?? 0 }

  /// The server's address for the user.
  var url: String {
    let address = channel.localAddress?.ipAddress ?? "127.0.0.1"
    let host = address == "0.0.0.0" || address == "::" ? "127.0.0.1" : address
    return "http://\(Endpoint(host: host, port: port).text)/"
  }

  /// Closes all connections and stops the thread.
  func close() {
    channel.eventLoop.execute { [channel, connections] in
      channel.close(promise: nil)
      for connection in connections.all.values { connection.close(promise: nil) }
    }
    try? channel.closeFuture.wait()
    try? group.syncShutdownGracefully()
  }
}

/// The media types that the server sends for files, by their file name extensions.
enum ServedType {
  /// The media type.
  static func of(_ name: String) -> String {
    switch (name as NSString).pathExtension.lowercased() {
    case "m3u8": "application/vnd.apple.mpegurl"
    case "mpd": "application/dash+xml"
    case "m4s": "video/iso.segment"
    case "mp4", "m4v": "video/mp4"
    case "m4a": "audio/mp4"
    case "mov": "video/quicktime"
    case "ts": "video/mp2t"
    case "vtt": "text/vtt; charset=utf-8"
    case "html": "text/html; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "json": "application/json"
    case "jpg", "jpeg": "image/jpeg"
    case "png": "image/png"
    default: "application/octet-stream"
    }
  }

  /// Whether the file changes while a stream continues.
  static func isPlaylist(_ name: String) -> Bool {
    ["m3u8", "mpd"].contains((name as NSString).pathExtension.lowercased())
  }

  /// How long others may keep the file. A movie that is made again has segments of the same names,
  /// so these are kept, but asked for by their tag.
  static func caching(_ name: String) -> String {
    switch (name as NSString).pathExtension.lowercased() {
    case "m3u8", "mpd": "max-age=1"
    case "m4s", "mp4", "ts", "vtt": "no-cache"
    default: "max-age=60"
    }
  }
}

/// Writes times as HTTP does (RFC 9110, 5.6.7).
enum HTTPDate {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// - Parameter seconds: since 1970 in UTC.
  static func text(_ seconds: Int) -> String {
    var whole = time_t(seconds)
    var parts = tm()
    guard gmtime_r(&whole, &parts) != nil, days.indices.contains(Int(parts.tm_wday)),
      months.indices.contains(Int(parts.tm_mon))
    else { return "Thu, 01 Jan 1970 00:00:00 GMT" }
    let clock = String(format: "%02d:%02d:%02d", parts.tm_hour, parts.tm_min, parts.tm_sec)
    return days[Int(parts.tm_wday)] + String(format: ", %02d ", parts.tm_mday) + months[Int(parts.tm_mon)]
      + String(format: " %04d ", parts.tm_year + 1900) + clock + " GMT"
  }
}
