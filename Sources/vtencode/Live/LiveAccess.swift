// SPDX-License-Identifier: Apache-2.0
import Foundation
import RealTimeSecurity
import RealTimeTransport

// The resources of the machine that `send` and `receive` may use.

extension Send: ResourceUser {
  var resourceNeeds: ResourceLimits.Needs {
    .init(files: options.web.web == nil ? 32 : 64 + WebServer.maxConnections)
  }
}

extension Receive: ResourceUser {
  var resourceNeeds: ResourceLimits.Needs {
    .init(
      files: 32 + (options.web.web == nil ? 0 : WebServer.maxConnections)
        + (options.play ? ResourceLimits.filesOfWindow : 0))
  }
}

extension Serve: ResourceUser {
  // A connection may have a file open.
  var resourceNeeds: ResourceLimits.Needs { .init(files: 64 + 2 * FileServer.maxConnections) }
}

extension Send: SandboxedCommand {
  mutating func prepareForSandbox() throws -> Sandbox.Needs {
    try options.to?.resolveHost()
    try options.web.web?.resolveHost()
    WireOptions.loadLibraries()
    let isMovie = TestPictures.Format(options.source) == nil
    return Sandbox.Needs(
      reading: (isMovie ? try Sandbox.paths(ofMovie: options.source) : []) + options.wire.secretFiles,
      writing: Sandbox.folders(of: options.description.sdp), network: options.web.network,
      system: WireOptions.libraryFiles)
  }
}

extension Receive: SandboxedCommand {
  mutating func prepareForSandbox() throws -> Sandbox.Needs {
    try options.listen?.resolveHost()
    try options.web.web?.resolveHost()
    WireOptions.loadLibraries()
    return Sandbox.Needs(
      reading: options.wire.secretFiles, writing: Sandbox.folders(of: options.out, options.view.snapshot),
      network: options.web.network, system: WireOptions.libraryFiles, terminal: options.terminal)
  }
}

extension WireOptions {
  fileprivate var secretFiles: [String] { [keys.keyFile].compactMap { $0 } }

  /// Loads the cipher library and keeps it loaded. It would otherwise be loaded with the first
  /// session and unloaded with the last; this session with an unused key is never released. If the
  /// library is missing, the actual session reports it.
  fileprivate static func loadLibraries() {
    let nonce = Greeting.Nonce([])
    let key = try? PresharedKey(bytes: [UInt8](repeating: 0, count: PresharedKey.size))
    guard let protection = try? key?.protection(sender: nonce, receiver: nonce, isSender: true) else {
      return
    }
    _ = Unmanaged.passRetained(protection as AnyObject)
  }

  /// OpenSSL's configuration files. If one exists and cannot be read, OpenSSL does not start.
  fileprivate static let libraryFiles = [
    "/etc/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf", "/usr/lib/ssl/openssl.cnf",
    "/usr/local/ssl/openssl.cnf",
  ]
}

extension WebOptions {
  fileprivate var network: Sandbox.Network {
    web.flatMap { UInt16(exactly: $0.port) }.map(Sandbox.Network.server) ?? .datagrams
  }
}

extension Endpoint {
  /// Replaces the host's name with its address, because looking up a name uses programs and files
  /// that are inaccessible inside the sandbox.
  fileprivate mutating func resolveHost() throws {
    guard host != nil, let fixed = Endpoint(argument: try resolve().text) else { return }
    self = fixed
  }
}
