// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import NIOCore
import WebRTC

/// A server that is asked over HTTP for a WebRTC session.
struct SignallingURL: ExpressibleByArgument, Sendable {
  static let advice = "it takes an address of http or https, such as https://live.example/whip/room"
  let url: URL

  init?(argument: String) {
    guard let url = URL(string: argument), let scheme = url.scheme?.lowercased(),
      scheme == "https" || scheme == "http", url.host?.isEmpty == false, url.user == nil, url.password == nil
    else { return nil }
    self.url = url
  }

  /// The scheme, the host and the port, without what may be secret: path and query often name a
  /// key.
  var place: String {
    let host = url.host ?? ""
    let shown = host.contains(":") ? "[\(host)]" : host
    return "\(url.scheme?.lowercased() ?? "")://\(shown)\(url.port.map { ":\($0)" } ?? "")"
  }

  var isEncrypted: Bool { url.scheme?.lowercased() == "https" }
  var isLocal: Bool { ["localhost", "127.0.0.1", "::1", "[::1]"].contains(url.host ?? "") }
}

/// How addresses behind a translator are found.
struct StunOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "With WebRTC: a STUN server, which tells the address that this machine has outside of its network.",
      valueName: "host:port"), transform: Endpoint.reading(or: Endpoint.advice))
  var stun: Endpoint?

  func validate() throws {
    if let stun, stun.host == nil {
      throw ValidationError("--stun needs a host and a port, such as stun.example:3478.")
    }
  }

  /// The server's address. One of IPv4 is preferred, as it is IPv4 that is translated.
  /// - Throws: a `Failure` if there is no such host.
  func resolve() throws -> SocketAddress? { try stun?.resolve(prefersIPv4: true) }
}

extension SignallingURL {
  /// The token for a server: of a file that only its owner can read, or of the environment.
  /// - Parameters:
  ///   - file: the file's path; nil for none.
  ///   - variable: the name of the variable of the environment.
  /// - Throws: a `Failure` if the file cannot be read, or the token is none.
  func token(file: String?, variable: String, isInsecure: Bool) throws -> String? {
    let text = try file.map { try KeyFile.firstLine(of: $0) } ?? ProcessInfo.processInfo.environment[variable]
    guard let text, !(file == nil && text.isEmpty) else { return nil }
    // The characters of a token (RFC 6750, 2.1).
    let isGood = text.utf8.allSatisfy { byte in
      switch byte {
      case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
        true
      default: false
      }
    }
    guard !text.isEmpty, isGood else {
      throw Failure(
        "the token in \(file.map { "'\($0)'" } ?? variable) is not valid: it may contain letters, digits and -._~+/= only",
        status: 64)
    }
    guard isEncrypted || isLocal || isInsecure else {
      throw Failure(
        "everybody on the network path could read the token on its way to \(place); use https, or add --insecure",
        status: 64)
    }
    return text
  }
}

/// The session with a WebRTC server.
struct SendPeerOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "With --whip: a file whose first line is the token that the server wants, and that only you can read.",
      valueName: "file"), completion: .file())
  var whipTokenFile: String?

  @OptionGroup var stun: StunOption
}
