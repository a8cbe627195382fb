// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The address of a server or receiver of a live stream, or of a stream or file to read.
///
/// It may contain secrets: a stream key in the path, a passphrase in the query, a password. Texts
/// for people must not contain any of them, so they use `description` and `redacted(_:)`.
package struct StreamAddress: Sendable, Hashable, CustomStringConvertible {
  /// The schemes of outputs, and the container that each carries.
  private static let containers: [String: StreamContainer] = [
    "rtmp": .flv, "rtmps": .flv, "srt": .transportStream, "udp": .transportStream,
    "tcp": .transportStream, "rtsp": .rtsp,
  ]

  /// The schemes of outputs in the order in which messages name them.
  package static let schemes = ["rtmp", "rtmps", "srt", "udp", "tcp", "rtsp"]

  /// The schemes of inputs in the order in which messages name them.
  package static let inputSchemes = schemes + ["http", "https"]

  /// The longest address in bytes.
  private static let maxBytes = 4096

  /// The whole address, with its secrets.
  let url: String
  package let scheme: String
  /// The container that an output has by default.
  package var container: StreamContainer { Self.containers[scheme] ?? .transportStream }
  /// The host with the port, as given.
  let host: String
  private let path: String
  let query: String?
  private let user: String?

  /// Whether a text has the form of an address, with any scheme.
  package static func isAddress(_ text: String) -> Bool {
    guard let end = text.range(of: "://") else { return false }
    let scheme = text[..<end.lowerBound]
    return !scheme.isEmpty && scheme.utf8.allSatisfy { isalnum(Int32($0)) != 0 || $0 == 0x2B }
      && scheme.lowercased() != "file"
  }

  /// Makes the address of an output.
  /// - Returns: nil if the scheme is none of `schemes`, there is no host, there is an @ after the
  ///   host that is not percent-encoded (%40), or the text is longer than 4096 bytes or holds
  ///   control characters or spaces.
  package init?(_ text: String) { self.init(text, schemes: Self.schemes) }

  /// Makes the address of an input.
  /// - Returns: nil if the scheme is none of `inputSchemes`, or for the other reasons of
  ///   `init(_:)`.
  package init?(input text: String) { self.init(text, schemes: Self.inputSchemes) }

  private init?(_ text: String, schemes: [String]) {
    guard Self.isAddress(text), text.utf8.count <= Self.maxBytes,
      text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }), let end = text.range(of: "://")
    else { return nil }
    let scheme = text[..<end.lowerBound].lowercased()
    guard schemes.contains(scheme) else { return nil }
    var rest = text[end.upperBound...]
    query = rest.firstIndex(of: "?").map { String(rest[rest.index(after: $0)...]) }
    rest = rest.prefix { $0 != "?" }
    let authority = rest.prefix { $0 != "/" }
    path = String(rest.dropFirst(authority.count))
    let at = authority.lastIndex(of: "@")
    user = at.map { String(authority[..<$0]) }
    // A password with / or ? that is not percent-encoded would be taken for a path or a query.
    guard user != nil || !path.contains("@") && query?.contains("@") != true else { return nil }
    host = at.map { String(authority[authority.index(after: $0)...]) } ?? String(authority)
    // A listener may leave the host out: tcp://:5000?listen.
    guard !host.isEmpty else { return nil }
    self.scheme = scheme
    url = scheme + text[end.lowerBound...]
  }

  /// Whether this end waits for the other one to connect, for as long as that takes.
  package var isListener: Bool {
    (query ?? "").split(separator: "&").contains {
      $0 == "listen" || $0.hasPrefix("listen=") && $0 != "listen=0" || $0 == "mode=listener"
    }
  }

  /// How long a connection has to be held after the last byte, in seconds. A receiver of SRT hands
  /// data on when they are as old as the latency, and drops them when the connection is closed
  /// before.
  var holdingTime: Double {
    guard scheme == "srt" else { return 0 }
    let names: Set<Substring> = ["latency", "rcvlatency", "peerlatency", "tsbpddelay"]
    let latencies = (query ?? "").split(separator: "&").compactMap { pair -> Double? in
      let parts = pair.split(separator: "=", maxSplits: 1)
      return parts.count == 2 && names.contains(parts[0]) ? Double(parts[1]) : nil
    }
    // They are in microseconds, and 120 ms by default. The rest is for the way there.
    let latency = (latencies.filter(\.isFinite).max() ?? 0) / 1e6
    return min(max(latency, 0.12), 8) + 0.25
  }

  /// The address without secrets: of the path the first of several components alone, and nothing of
  /// the query, the user or the password.
  package var description: String {
    let components = path.split(separator: "/", omittingEmptySubsequences: true)
    var text = "\(scheme)://\(user == nil ? "" : "***@")\(host)"
    // The only component may be the key.
    if let first = components.first { text += components.count > 1 ? "/\(first)/***" : "/***" }
    if query != nil { text += "?***" }
    return text
  }

  /// A text in which an argument that is an address, right or wrong, is replaced by one without
  /// secrets.
  /// - Parameters:
  ///   - argument: the argument; others than addresses of streams change nothing.
  ///   - text: the text.
  package static func redacting(_ argument: String, in text: String) -> String {
    guard let colon = argument.firstIndex(of: ":") else { return text }
    let scheme = argument[..<colon].lowercased()
    guard inputSchemes.contains(scheme), argument[argument.index(after: colon)...].hasPrefix("/") else {
      return text
    }
    guard let address = StreamAddress(input: argument) else {
      return text.replacingOccurrences(of: argument, with: "\(scheme)://***")
    }
    return address.redacted(text)
  }

  /// A text in which neither the address nor one of its secrets remains.
  package func redacted(_ text: String) -> String {
    var text = text.replacingOccurrences(of: url, with: description)
    let components = path.split(separator: "/", omittingEmptySubsequences: true)
    var secrets = [query, user].compactMap(\.self)
    secrets += (components.count > 1 ? components.dropFirst() : components[...]).map(String.init)
    if components.count > 1 { secrets.append(components.dropFirst().joined(separator: "/")) }
    secrets += (query ?? "").split(separator: "&").compactMap { pair in
      guard let equals = pair.firstIndex(of: "="), !Self.harmlessOptions.contains(String(pair[..<equals]))
      else { return nil }
      return String(pair[pair.index(after: equals)...])
    }
    secrets += (user ?? "").split(separator: ":").map(String.init)
    // A short component of the path that consists of letters may be an ordinary word.
    let words = Set(components.map(String.init).filter(Self.isOrdinary)).subtracting(
      [user ?? ""] + (user ?? "").split(separator: ":").map(String.init))
    // Longer ones first, since they may contain the others.
    for secret in Set(secrets).sorted(by: { $0.utf8.count > $1.utf8.count }) where !secret.isEmpty {
      for form in Set([secret, secret.removingPercentEncoding ?? secret]) where form.utf8.count > 2 {
        text =
          words.contains(form)
          ? Self.replacingWords(form, in: text) : text.replacingOccurrences(of: form, with: "***")
      }
    }
    return text
  }

  /// The options of a query whose values are not secrets, but words that messages contain.
  private static let harmlessOptions: Set<String> = [
    "mode", "listen", "latency", "rcvlatency", "peerlatency", "tsbpddelay", "pkt_size", "timeout",
    "pbkeylen", "transtype", "ttl", "rtsp_transport", "connect_timeout", "buffer_size", "fifo_size",
  ]

  /// Whether a component of a path may be a word, or a part of one, such as "live" in "delivered".
  private static func isOrdinary(_ component: String) -> Bool {
    component.utf8.count < 8 && component.utf8.allSatisfy { (0x61...0x7A).contains($0) }
  }

  /// Replaces a word of lowercase letters where it is not part of a longer one.
  private static func replacingWords(_ word: String, in text: String) -> String {
    let (bytes, word) = (Array(text.utf8), Array(word.utf8))
    func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte) }
    var result: [UInt8] = []
    var at = 0
    while at < bytes.count {
      let end = at + word.count
      if bytes[at...].starts(with: word), at == 0 || !isLetter(bytes[at - 1]),
        end == bytes.count || !isLetter(bytes[end])
      {
        result += Array("***".utf8)
        at = end
      } else {
        result.append(bytes[at])
        at += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
