// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NIOCore

/// Where `--web` serves its page.
struct WebOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Show the pictures in a browser: a page at this port of this machine, with charts and buttons. With an address before "
        + "it (0.0.0.0:8080, and --insecure), everybody who reaches that sees them and can press the buttons.",
      valueName: "port"))
  var web: Endpoint?

  /// A page's name, and the address to listen at.
  struct Place: Sendable {
    var endpoint: Endpoint
    var address: SocketAddress
  }

  /// - Parameter isInsecure: whether it was asked for that others see it. A key of the call's says nothing here: the page
  ///   asks nobody for one.
  func place(isInsecure: Bool) throws -> Place? {
    guard let web else { return nil }
    let address = try Endpoint(host: web.host ?? "127.0.0.1", port: web.port).resolve()
    guard address.isLoopback || isInsecure else {
      throw Failure(
        "\(address.text) is not this machine's alone: everybody who reaches the page there sees the pictures and can press "
          + "its buttons; leave out the address (and forward the port with ssh -L), or add --insecure",
        status: 64)
    }
    return Place(endpoint: web, address: address)
  }
}

extension WebServer {
  /// What a person is told at the beginning.
  static func announce(_ server: WebServer, at place: WebOptions.Place) {
    Console.note("Open \(server.url) in a browser")
    guard !place.address.isLoopback else { return }
    Console.note(
      "Everybody who reaches \(place.address.text) sees the pictures and can press the buttons; browsers decode them only on "
        + "this machine or through HTTPS")
  }
}
