// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import NIOCore

struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Serves a folder of segments and playlists over HTTP, until Ctrl-C.",
    discussion: """
      It answers GET and HEAD with byte ranges, for players on this machine and pages of any site. Playlists that \
      were written with --part-length are held back until the part that a player asks for is there (low-latency HLS). \
      Files whose name begins with a dot, and symbolic links, are not served.

      Examples:
        vtencode serve www --port 8080
        vtencode serve www --port 0.0.0.0:8080
        vtencode streaming talk.mp4 --part-length 0.5 --out www/live.m3u8
      """)

  @Argument(help: "The folder.", completion: .directory)
  var folder: String

  @Option(
    name: [.customShort("p"), .customLong("port")],
    help: ArgumentHelp(
      "The port, on this machine alone; with an address before it (0.0.0.0:8080, with IPv6 "
        + "[::]:8080) other machines reach it.",
      valueName: "port"), transform: Endpoint.reading(or: Endpoint.advice))
  var port = Endpoint(host: nil, port: 8080)

  func run() async throws {
    let address = try Endpoint(host: port.host ?? "127.0.0.1", port: port.port).resolve()
    let files = try ServedFolder(folder)
    let server = try FileServer(files, at: address)
    Interrupt.shared.watch()
    let ended = AsyncStream.makeStream(of: Void.self)
    Interrupt.shared.onRequest { ended.continuation.finish() }
    Console.note("Serving '\(folder)' at \(server.url); Ctrl-C ends it")
    for path in files.playlists { Console.note("Play: \(server.url)\(path)") }
    if !address.isLoopback { Console.note("Everybody who reaches this address can read the folder") }
    for await _ in ended.stream {}
    server.close()
  }
}
