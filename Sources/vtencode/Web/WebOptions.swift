// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NIOCore

/// The options of the web page.
struct WebOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Show the pictures in a browser: a page at this port of this machine, with charts and controls. With "
        + "an address before it (0.0.0.0:8080, with IPv6 [::]:8080, and --insecure) it is accessible from "
        + "other machines. The page's address contains a secret, without which nothing is shown.",
      valueName: "port"), transform: Endpoint.reading(or: Endpoint.advice))
  var web: Endpoint?

  @Option(
    help: ArgumentHelp(
      "The secret in the page's address, in place of a random one: \(WebToken.lengths.lowerBound) to "
        + "\(WebToken.lengths.upperBound) letters, digits, - and _. Users who can list this machine's "
        + "processes can read it.",
      valueName: "text", visibility: .helpAll), transform: WebToken.reading(or: WebToken.advice))
  var webToken: WebToken?

  func validate() throws {
    if webToken != nil, web == nil { throw ValidationError("--web-token requires --web.") }
  }

  /// The endpoint as the user gave it, the address to listen on, and the secret.
  struct Place: Sendable {
    var endpoint: Endpoint
    var address: SocketAddress
    var token: WebToken
  }

  /// The place of the page; nil without `--web`.
  /// - Parameter isInsecure: whether the user permits that others can see the page. It is sent
  ///   unencrypted, including the secret in its address, also if the call has a key.
  /// - Throws: a `Failure` if the address is not local and `isInsecure` is false.
  func place(isInsecure: Bool) throws -> Place? {
    guard let web else { return nil }
    let address = try Endpoint(host: web.host ?? "127.0.0.1", port: web.port).resolve()
    guard address.isLoopback || isInsecure else {
      throw Failure(
        "\(address.text) is not a loopback address: everybody on the network path sees the pictures, and the "
          + "page's address with its secret; omit the address (and forward the port with ssh -L), or "
          + "add --insecure",
        status: 64)
    }
    return Place(endpoint: web, address: address, token: webToken ?? WebToken())
  }
}

extension WebServer {
  /// Tells the user the page's address, and warns if others can reach it.
  static func announce(_ server: WebServer, at place: WebOptions.Place) {
    Console.note("Open \(server.url) in a browser")
    guard !place.address.isLoopback else { return }
    Console.note(
      "Whoever has this address sees the pictures and can use the controls, and everybody on the network "
        + "path sees the address; browsers decode the pictures only on this machine or through HTTPS")
  }
}
