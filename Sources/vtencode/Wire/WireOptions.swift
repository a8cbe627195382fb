// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NIOCore
import RealTimeTransport

/// What `send` and `receive` have in common.
struct WireOptions: ParsableArguments {
  @Flag(
    help: "Allow a session without a key beyond this machine: whoever is on the way can see and change it.")
  var insecure = false

  @Flag(help: "Print the figures at the end as a JSON object.")
  var json = false

  @Flag(help: "Say nothing while it goes on.")
  var quiet = false

  /// Nil is a session in the clear.
  func secret() throws -> (any SharedSecret)? { nil }

  /// Without a key nothing leaves this machine unless that was asked for.
  func check(_ address: SocketAddress, isSecured: Bool) throws {
    guard !isSecured, !insecure, !address.isLoopback else { return }
    throw Failure(
      "without a key only this machine's own addresses are allowed, and \(address.text) is none; "
        + "with --insecure everybody on the way can see the call", status: 64)
  }
}
