// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import AVFoundation
import Foundation
import RealTimeTransport

struct Receive: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Receives what vtencode send sends, decodes it, and writes it to a movie.",
    discussion: """
      Waits for a sender, takes the first that greets, and ends with it, after --frames, or with Ctrl-C; the movie is \
      whole then. It asks for lost packets again, and for a new picture where that does not help. The movie holds the \
      frames that came, as they were coded, at their times.

      Examples:
        vtencode receive --listen 5004 --out call.mp4
        vtencode receive --listen 5004 --frames 300 --json
        vtencode receive --listen 5004 --secret 'correct horse battery' --out call.mov
        openssl rand -hex 32 > call.key; vtencode receive --listen 5004 --key-file call.key
      """)

  @OptionGroup var options: ReceiveOptions

  func run() async throws {
    let secret = try options.wire.sharedSecret()
    let isOpen = secret != nil || options.wire.insecure
    let host = options.listen.host ?? (isOpen ? "0.0.0.0" : "127.0.0.1")
    let address = try Endpoint(host: host, port: options.listen.port).resolve()
    try options.wire.check(address, isSecured: secret != nil)
    let file = try options.out.map { try ReceivedFile.Place($0, overwrites: options.overwrite) }
    Interrupt.shared.watch()
    let run = try ReceiveRun(options, address: address, secret: secret, place: file)
    let failure: Failure? = try await onThread("receive") { try run.run() }
    let summary = try await run.finish()
    try summary.print(asJSON: options.wire.json)
    if let failure { throw failure }
  }
}

/// The options of `vtencode receive`.
struct ReceiveOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The port to listen on; with an address before it, on that address. (without a key: 127.0.0.1)",
      valueName: "port"))
  var listen: Endpoint

  @Option(
    name: [.customLong("out"), .customShort("o")],
    help: ArgumentHelp("Write the frames to a movie: .mov, .mp4, .m4v or .264.", valueName: "file"),
    completion: .file())
  var out: String?

  @Flag(help: "Replace the file if it exists.")
  var overwrite = false

  @Option(help: ArgumentHelp("End after so many frames.", valueName: "n"))
  var frames: Int?

  @OptionGroup var wire: WireOptions

  func validate() throws {
    if let frames, frames < 1 { throw ValidationError("--frames must be 1 or more.") }
  }
}
