// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation

/// A stream or a file on the network, which is read as it comes, once, from its beginning to its
/// end. Nothing is opened before a demuxer is made of it (``Demuxer/init(network:)``).
package final class NetworkInput: @unchecked Sendable {
  // Sendable: `lock` guards what changes.

  /// A change of the state of the connection.
  package enum Event: Sendable, Equatable {
    /// The input waits for a sender to connect.
    case waiting
    /// A sender was turned away, for this reason; the input waits for another one.
    case refused(String)
    /// The sender has gone, for this reason; the input waits for it to come back.
    case left(String)
    /// A sender has returned, after a number of seconds.
    case returned(seconds: Double)
  }

  /// Seconds in which a connection has to be made, and in which a header has to come.
  package static let connectionTime = 10.0
  /// Seconds without a byte after which a connection counts as lost, and those of a playlist, whose
  /// segments come one by one.
  private static let defaultSilence = 10.0
  static let playlistSilence = 60.0
  var silence: Double {
    lock.withLock { isEndlessPlaylist == nil ? Self.defaultSilence : Self.playlistSilence }
  }
  /// Seconds that the other streams may take to come to the end of one that is read no longer.
  static let remainder = 1.0
  /// Seconds before the first attempts to listen again after failures; the last one is repeated.
  static let pauses: [Double] = [1, 2, 4, 8, 16, 30]

  /// The address, whose description has no secrets.
  package let address: StreamAddress
  /// Whether this end waits for a sender to connect, and waits again when it has gone.
  package let isListener: Bool
  /// Whether the stream comes at its sender's pace, and not as fast as it is read. Of a playlist it
  /// is known when it was read.
  package var isLive: Bool {
    !["http", "https"].contains(address.scheme) || lock.withLock { isEndlessPlaylist == true }
  }

  let interruption = MediaInterruption()
  private let lock = Lock()
  private let pause = WakeUp()
  private var handler: (@Sendable (Event) -> Void)?
  private var reason: String?
  private var refusal: String?
  /// Whether the playlist will be extended; nil if it is not a playlist.
  private var isEndlessPlaylist: Bool?

  /// - Parameter text: The address, of one of ``StreamAddress/inputSchemes``.
  /// - Throws: `MediaFileError`, whose text contains no secret, if the text is no such address, or
  ///   one that cannot be listened on.
  package init(_ text: String) throws {
    guard let address = StreamAddress(input: text) else {
      throw MediaFileError(
        .notFound, "'\(StreamAddress.redacting(text, in: text))' is not an address that can be read")
    }
    self.address = address
    isListener = address.isListener || address.isOfAllInterfaces
    guard !isListener || ["rtmp", "srt", "tcp", "rtsp", "udp"].contains(address.scheme) else {
      throw MediaFileError(.other, "\(address): \(address.scheme) cannot wait for a sender; rtmp, srt can")
    }
  }

  /// Sets the function that is called with the events of the connection, on any thread.
  package func onEvent(_ handler: @escaping @Sendable (Event) -> Void) {
    lock.withLock { self.handler = handler }
  }

  /// Why the stream has ended before its sender ended it; nil if it has not.
  package var lossReason: String? { lock.withLock { reason } }

  /// Why the input could not be opened; nil if it could.
  package var openingFailure: String? { lock.withLock { refusal } }

  /// Ends opening, waiting and reading. May be called on any thread.
  package func cancel() {
    interruption.interrupt()
    pause.signal()
  }

  package var isCancelled: Bool { interruption.isSet }

  func tell(_ event: Event) { lock.withLock { handler }?(event) }
  func noteLoss(_ text: String) { lock.withLock { reason = reason ?? text } }
  func notePlaylist(isEndless: Bool) { lock.withLock { isEndlessPlaylist = isEndless } }
  func noteFailure(_ text: String) { lock.withLock { refusal = text } }

  /// Waits before another attempt.
  /// - Parameter attempts: How many attempts have failed in a row.
  func wait(after attempts: Int) {
    guard attempts > 0, !isCancelled else { return }
    _ = pause.wait(seconds: Self.pauses[min(attempts, Self.pauses.count) - 1])
  }

  /// An error whose text has no secret of the address.
  func redacted(_ error: any Error) -> MediaFileError {
    guard let error = error as? MediaFileError else {
      return MediaFileError(.other, address.redacted("\(error)"))
    }
    return MediaFileError(error.kind, address.redacted(error.detail), code: error.code)
  }

  /// The URL to pass to libavformat: without the parameters that are passed as options, and with
  /// the parameter that makes it listen.
  var openedURL: String {
    guard isListener else { return address.url }
    switch address.scheme {
    case "rtmp", "rtsp": return address.url(dropping: "listen")
    case "tcp" where !address.isListener: return address.url(adding: "listen")
    case "srt" where !address.isListener: return address.url(adding: "mode=listener")
    default: return address.url
    }
  }

  /// The options for libavformat's protocol. Only the protocols that the scheme is made of are
  /// allowed.
  var protocolOptions: [String: String] {
    let protocols = Self.protocols[address.scheme, default: [address.scheme]]
    var options = ["protocol_whitelist": protocols.joined(separator: ",")]
    switch address.scheme {
    case "rtmp": if isListener { options["listen"] = "1" }
    case "rtsp":
      // Over the same connection: a receiver of datagrams would have to open further ports.
      options["rtsp_transport"] = "tcp"
      if isListener { options["rtsp_flags"] = "listen" }
    case "udp":
      // Datagrams that come faster than they are read are lost; the reading continues.
      options["overrun_nonfatal"] = "1"
      // libavformat would take datagrams of all interfaces.
      if let host = address.unicastHost { options["localaddr"] = host }
    case "https", "rtmps": options["tls_verify"] = "1"
    default: break
    }
    return options
  }

  /// libavformat's names of the formats that may come.
  var formats: String {
    switch address.scheme {
    case "rtsp": "rtsp"
    case "rtmp", "rtmps": "flv,live_flv"
    // Elementary streams are missing, since their index is made by reading them to their end, and
    // all that refers to other addresses.
    default: "mpegts,matroska,webm,flv,live_flv,mov,nut,ogg,mpeg,asf,avi,mpjpeg,mxf"
    }
  }

  private static let protocols: [String: [String]] = [
    "rtmp": ["rtmp", "tcp"], "rtmps": ["rtmps", "rtmp", "tls", "tcp"], "rtsp": ["rtsp", "rtp", "tcp"],
    // A server may send a reader on to an address that is encrypted, but not back.
    "http": ["http", "https", "httpproxy", "tls", "tcp"], "https": ["https", "httpproxy", "tls", "tcp"],
  ]
}

extension StreamAddress {
  /// The host without the port and the brackets of an IPv6 address.
  private var hostName: String {
    if host.hasPrefix("[") { return String(host.dropFirst().prefix { $0 != "]" }) }
    return String(host.prefix { $0 != ":" })
  }

  /// Whether the host means all interfaces of this machine, so that it can only be listened on.
  var isOfAllInterfaces: Bool { ["0.0.0.0", "::", ""].contains(hostName) }

  /// The host, unless it means all interfaces or a group of receivers (RFC 5771, RFC 4291 2.7).
  var unicastHost: String? {
    let name = hostName
    let first = name.split(separator: ".").first.flatMap { Int($0) } ?? 0
    guard !isOfAllInterfaces, !(224...239).contains(first), !name.lowercased().hasPrefix("ff") else {
      return nil
    }
    return name
  }

  /// The address without one item of its query, whatever its value.
  func url(dropping item: String) -> String {
    guard let query else { return url }
    let kept = query.split(separator: "&").filter { $0 != item && !$0.hasPrefix(item + "=") }
    let base = url.prefix { $0 != "?" }
    return kept.isEmpty ? String(base) : base + "?" + kept.joined(separator: "&")
  }

  /// The address with another item in its query.
  func url(adding item: String) -> String { url + (query == nil ? "?" : "&") + item }
}
