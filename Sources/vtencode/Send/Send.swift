// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import NIOCore
import RealTimeSecurity
import RealTimeTransport
import VideoToolbox

struct Send: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Sends a movie, a screen or a camera live to vtencode receive, or shows it live in a browser.",
    discussion: """
      Sends H.264 or HEVC in RTP over UDP, from the encoder's low-latency mode. Only a greeting is sent before the receiver \
      has answered it. The audio of a movie, or of a microphone with --sound, goes as Opus. Lost packets are sent again; other losses are repaired as --recovery says. The session ends \
      with the source, when the receiver leaves, or with Ctrl-C. --web does what vtencode receive --web does, in the \
      same process.

      Examples:
        vtencode receive --listen 5004 --out call.mp4 & vtencode send talk.mp4 --to 127.0.0.1:5004
        vtencode send test:1280x720@30 --to 127.0.0.1:5004 --frames 300
        vtencode send talk.mp4 --loop --to 192.168.1.5:5004 --secret 'correct horse battery' --bitrate 1500k
        vtencode send talk.mp4 --to pc.local:5004 --key-file call.key
        vtencode send talk.mp4 --codec hevc --to 127.0.0.1:5004 --bitrate 600k
        vtencode send x11: --to pc.local:5004 --key-file call.key --dimensions 1280 720
        vtencode send v4l2:/dev/video0 --sound pulse: --whip https://live.example/whip/room
        vtencode send v4l2:/dev/video0 --web 8080
        vtencode send talk.mp4 --whip https://live.example/whip/room --whip-token-file token
        vtencode send test:640x360@30 --web 8080
        vtencode send talk.mp4 --to 127.0.0.1:5004 --sdp call.sdp & sleep 1; ffplay -protocol_whitelist file,udp,rtp call.sdp

      --help shows the options that are used most; --help-all shows all of them.
      """)

  @OptionGroup var options: SendOptions
  @OptionGroup(title: "Sandbox", visibility: .helpAll) var sandboxing: SandboxOptions

  func validate() throws {
    if sandboxing.sandbox, options.whip != nil {
      throw ValidationError("--sandbox permits no connection to a server; omit it with --whip.")
    }
    if options.audioSource.audio != nil { try AudioSourceOption.validate(isSandboxed: sandboxing.sandbox) }
    if sandboxing.sandbox, DeviceFormat.isDevice(options.source) {
      throw ValidationError(
        "--sandbox cannot be combined with a screen or a camera, which require access to the system.")
    }
  }

  func run() async throws {
    if let server = options.whip { return try await publish(to: server) }
    guard let destination = options.to else { return try await show() }
    let secret = try options.wire.sharedSecret()
    let address = try destination.resolve()
    try options.wire.check(address, isSecured: secret != nil)
    let description = try AuxiliaryFile(
      options.description.sdp, option: "--sdp", what: "session description", others: [options.source],
      overwrites: options.overwriting.overwrite)
    Interrupt.shared.watch()
    let source = try await SendSource.open(options)
    let (summary, damage) = try await Self.send(
      options, source, to: destination, at: address, secret, description)
    try summary.print(asJSON: options.wire.progressOption.json)
    if let damage { throw damage }
  }

  /// Sends the whole source.
  /// - Returns: the summary, and the error that reports damage in the source; nil without damage.
  /// - Throws: a `Failure` if the session cannot be opened or ends because of an error.
  private static func send(
    _ options: SendOptions, _ source: SendSource, to destination: Endpoint, at address: SocketAddress,
    _ secret: (any SharedSecret)?, _ description: AuxiliaryFile?
  ) async throws -> (SummaryTable, Failure?) {
    try await onThread("send") {
      let pictures = try source.pictures()
      let audio = options.audio.noAudio ? nil : source.audio()
      if audio != nil, description != nil, !options.wire.progressOption.quiet {
        Console.note("The audio is left out, as players get the pictures alone; --whip has both")
      }
      let run = try SendRun(
        options, source: source, pictures: pictures, destination: destination, address: address,
        audio: description == nil ? audio : nil, secret: secret, description: description)
      let summary = try run.run()
      let damage = pictures.damage.summary.map {
        Failure("'\(source.name)' is damaged: \($0)", status: SourceDamage.exitStatus)
      }
      return (summary, damage)
    }
  }

  /// Sends the whole source to a WebRTC server.
  private func publish(to server: SignallingURL) async throws {
    let token = try server.token(
      file: options.peer.whipTokenFile, variable: "VTENCODE_WHIP_TOKEN",
      isInsecure: options.wire.keys.insecure)
    let stun = try options.peer.stun.resolve()
    Interrupt.shared.watch()
    let source = try await SendSource.open(options)
    let options = options
    let (summary, damage) = try await onThread("send") {
      let pictures = try source.pictures()
      let run = WhipRun(
        options, source: source, pictures: pictures, audio: options.audio.noAudio ? nil : source.audio(),
        client: SignallingClient(server: server, token: token), stun: stun)
      let summary = try run.run()
      let damage = pictures.damage.summary.map {
        Failure("'\(source.name)' is damaged: \($0)", status: SourceDamage.exitStatus)
      }
      return (summary, damage)
    }
    try summary.print(asJSON: options.wire.progressOption.json)
    if let damage { throw damage }
  }

  /// Runs the sender and the receiver in this process, with a random key, and shows the received
  /// pictures in a browser.
  private func show() async throws {
    let web = try options.web.place(isInsecure: options.wire.keys.insecure)
    Interrupt.shared.watch()
    let source = try await SendSource.open(options)
    let secret = try PresharedKey(bytes: (0..<PresharedKey.size).map { _ in UInt8.random(in: 0...255) })
    let receiver = try ReceiveRun(
      .init(
        address: SocketAddress(ipAddress: "127.0.0.1", port: 0), secret: secret, isQuiet: true, web: web))
    let destination = Endpoint(host: "127.0.0.1", port: receiver.port)
    let address = try destination.resolve()
    let received = Task { try await onThread("receive") { try receiver.run() } }
    do {
      var (summary, damage) = try await Self.send(options, source, to: destination, at: address, secret, nil)
      // The sender has already thrown an error, if there was one.
      _ = try await received.value
      summary.append(try await receiver.finish())
      try summary.print(asJSON: options.wire.progressOption.json)
      if let damage { throw damage }
    } catch {
      receiver.stop()
      _ = await received.result
      throw error
    }
  }
}
