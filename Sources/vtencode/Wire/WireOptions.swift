// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import NIOCore
import RealTimeSecurity
import RealTimeTransport

/// The ways to agree on a key other than a passphrase.
struct KeyOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The key that both ends share, 32 bytes in hexadecimal or Base64, such as openssl rand -hex 32 makes. "
        + "Others on this machine may see it; --key-file hides it.", valueName: "key"))
  var key: String?

  @Option(
    help: ArgumentHelp(
      "A file whose first line is the key, and that only you can read.", valueName: "file"),
    completion: .file())
  var keyFile: String?

  @Flag(
    help: "Allow a session without a key beyond this machine: everybody on the path can see and change it.")
  var insecure = false
}

/// The output options of `send` and `receive`.
struct SessionReportOptions: ParsableArguments {
  @Flag(help: "Print the figures at the end as a JSON object.")
  var json = false

  @Flag(help: "Print nothing during the session.")
  var quiet = false
}

/// The options that `send` and `receive` share. `--help` shows the passphrase alone.
struct WireOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A passphrase that both ends share, in place of a key, of eight characters or more: the longer, the "
        + "better. Others on this machine may see it; --key-file hides a key.",
      valueName: "words"))
  var secret: String?

  @OptionGroup(title: "Keys", visibility: .helpAll) var keys: KeyOptions

  @OptionGroup(title: "Output and reports", visibility: .helpAll) var progressOption: SessionReportOptions

  func validate() throws {
    guard [keys.key, keys.keyFile, secret].count(where: { $0 != nil }) <= 1 else {
      throw ValidationError("--key, --key-file and --secret exclude each other; give one of them.")
    }
  }

  /// The shared secret from the options; nil for an unencrypted session.
  /// - Throws: a `Failure` if the key is malformed or cannot be read.
  func sharedSecret() throws -> (any SharedSecret)? {
    do {
      if let key = keys.key { return try PresharedKey(text: key) }
      if let keyFile = keys.keyFile { return try PresharedKey(text: KeyFile.firstLine(of: keyFile)) }
      return try secret.map { try PresharedKey(secret: $0) }
    } catch PresharedKey.Failure.malformed {
      throw Failure(
        "the key is malformed: it takes 64 hexadecimal digits or 32 bytes in Base64, as openssl rand -hex 32 "
          + "gives",
        status: 64)
    } catch PresharedKey.Failure.tooShort {
      throw Failure(
        "--secret must have at least \(PresharedKey.shortestSecret) letters; shorter ones can be guessed",
        status: 64)
    } catch PresharedKey.Failure.unavailable {
      throw Failure("this machine's OpenSSL cannot derive such keys")
    }
  }

  /// Checks that a session without a key stays on this machine, unless the user permits otherwise.
  /// - Throws: a `Failure` with advice if it does not.
  func check(_ address: SocketAddress, isSecured: Bool) throws {
    guard !isSecured, !keys.insecure, !address.isLoopback else { return }
    throw Failure(
      "without a key only this machine's own addresses are allowed, and \(address.text) is not one; give "
        + "both ends a --key or a --secret, or --insecure to let everybody on the network path see the call",
      status: 64)
  }
}
