// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import AVFoundation
import Foundation
import RealTimeTransport

struct Receive: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Receives a session of vtencode send, shows it, and writes it to a movie.",
    discussion: """
      Waits for a sender, accepts the first one, and ends with it, after --frames, or with Ctrl-C; the movie is then \
      complete. A second Ctrl-C does not wait for the sender's answer; a third ends the process at once, and the part \
      that was written is kept. Lost packets are requested again, and a repaired picture where that does not help. The \
      movie contains the received frames, as they were coded, at their times, and the audio as AAC. --web serves a page with the pictures, \
      charts of the session, and controls that request a key frame, drop packets, and limit the rate.

      Examples:
        vtencode receive --listen 5004 --out call.mp4
        vtencode receive --listen 5004 --play
        vtencode receive --listen 5004 --terminal
        vtencode receive --listen 5004 --web 8080
        vtencode receive --whep https://live.example/whep/room --play
        vtencode receive --listen 5004 --frames 300 --json
        vtencode receive --listen 5004 --codec hevc --out call.mp4
        vtencode receive --listen 5004 --secret 'correct horse battery' --out call.mov
        (umask 077; openssl rand -hex 32 > call.key); vtencode receive --listen 5004 --key-file call.key

      --help shows the options that are used most; --help-all shows all of them.
      """)

  @OptionGroup var options: ReceiveOptions
  @OptionGroup(title: "Sandbox", visibility: .helpAll) var sandboxing: SandboxOptions

  func validate() throws {
    if sandboxing.sandbox, options.whep != nil {
      throw ValidationError("--sandbox permits no connection to a server; omit it with --whep.")
    }
    if sandboxing.sandbox, options.play {
      throw ValidationError(
        "--sandbox permits no access to a screen, which would reach programs outside of it; show the "
          + "pictures with --terminal or --web in place of --play.")
    }
  }

  func run() async throws {
    if let server = options.whep { return try await play(from: server) }
    guard let listen = options.listen else { return }
    let secret = try options.wire.sharedSecret()
    let isOpen = secret != nil || options.wire.keys.insecure
    let host = listen.host ?? (isOpen ? "0.0.0.0" : "127.0.0.1")
    let address = try Endpoint(host: host, port: listen.port).resolve()
    try options.wire.check(address, isSecured: secret != nil)
    let file = try options.out.map {
      try ReceivedFile.Place($0, codec: options.codec, overwrites: options.recording.overwrite)
    }
    let codecs = try options.codecs(writing: file)
    let snapshot = try AuxiliaryFile(
      options.view.snapshot, option: "--snapshot", what: "snapshot", others: [options.out],
      overwrites: options.recording.overwrite)
    let web = try options.web.place(isInsecure: options.wire.keys.insecure)
    Interrupt.shared.watch()
    let run = try ReceiveRun(
      .init(
        address: address, secret: secret, codecs: codecs, place: file,
        maxFrames: options.recording.frames ?? .max,
        takesAudio: !options.audio.noAudio, isQuiet: options.wire.progressOption.quiet, web: web,
        screen: options.screen, snapshot: snapshot))
    let failure: Failure?
    do {
      failure = try await onThread("receive") { try run.run() }
    } catch {
      // The recorded file is kept even if the screen fails.
      _ = try? await run.finish()
      throw error
    }
    let summary = try await run.finish()
    try summary.print(asJSON: options.wire.progressOption.json)
    if let failure { throw failure }
  }
}

extension Receive {
  /// Receives from a WebRTC server.
  private func play(from server: SignallingURL) async throws {
    let token = try server.token(
      file: options.peer.whepTokenFile, variable: "VTENCODE_WHEP_TOKEN",
      isInsecure: options.wire.keys.insecure)
    let file = try options.out.map {
      try ReceivedFile.Place(
        $0, codec: .avc1, hasCodecOption: false, overwrites: options.recording.overwrite)
    }
    let snapshot = try AuxiliaryFile(
      options.view.snapshot, option: "--snapshot", what: "snapshot", others: [options.out],
      overwrites: options.recording.overwrite)
    let stun = try options.peer.stun.resolve()
    Interrupt.shared.watch()
    let run = try WhepRun(
      .init(
        client: SignallingClient(server: server, token: token), stun: stun, place: file,
        maxFrames: options.recording.frames ?? .max, takesAudio: !options.audio.noAudio,
        isQuiet: options.wire.progressOption.quiet, screen: options.screen, snapshot: snapshot))
    let failure: Failure?
    do {
      failure = try await onThread("receive") { try run.run() }
    } catch {
      // The recorded file is kept even if the session fails.
      _ = try? await run.finish()
      throw error
    }
    let summary: SummaryTable
    do { summary = try await run.finish() } catch { throw failure ?? error }
    try summary.print(asJSON: options.wire.progressOption.json)
    if let failure { throw failure }
  }
}

/// How `vtencode receive` shows the pictures.
struct ReceiveViewOptions: ParsableArguments {
  @Flag(help: "With --play: fill the screen.")
  var fullScreen = false

  @Option(
    help: ArgumentHelp(
      "With --play or --terminal: at the end, write what is shown to this file.",
      valueName: "file.png"), completion: .file())
  var snapshot: String?
}

/// The session with a WebRTC server.
struct ReceivePeerOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "With --whep: a file whose first line is the token that the server wants, and that only you can read.",
      valueName: "file"), completion: .file())
  var whepTokenFile: String?

  @OptionGroup var stun: StunOption
}

/// How much `vtencode receive` writes, and whether over existing files.
struct ReceiveRecordingOptions: ParsableArguments {
  @Option(help: ArgumentHelp("End after so many frames.", valueName: "n"))
  var frames: Int?

  @Flag(help: "Replace the file if it exists.")
  var overwrite = false
}

/// The options of `vtencode receive`. Those that are used most are shown by `--help`, and the
/// groups by `--help-all`.
struct ReceiveOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The port to listen on; with an address before it, on that address, such as [::1]:5004, or [::]:5004 for "
        + "all addresses of IPv4 and IPv6. (default address: 127.0.0.1; with a key or --insecure, all IPv4 "
        + "addresses of the machine)",
      valueName: "port"), transform: Endpoint.reading(or: Endpoint.advice))
  var listen: Endpoint?

  @Option(
    help: ArgumentHelp(
      "Receive by WebRTC from a server that offers WHEP, in place of --listen. A token that it wants is in the "
        + "variable VTENCODE_WHEP_TOKEN, or in the file of --whep-token-file.",
      valueName: "url"), transform: SignallingURL.reading(or: SignallingURL.advice))
  var whep: SignallingURL?

  @Option(
    help: ArgumentHelp(
      "The only codec to take: h264 or avc1, hevc or hvc1. (default: the one that the sender has)",
      valueName: "codec"))
  var codec: Codec?

  @Option(
    name: [.customLong("out"), .customShort("o")],
    help: ArgumentHelp(
      "Write frames and audio to a movie: .mov, .mp4 or .m4v, or the frames alone: .264 or .265.",
      valueName: "file"),
    completion: .file())
  var out: String?

  @Flag(help: "Show the pictures in a window, and play the audio. f toggles full screen, q quits.")
  var play = false

  @Flag(help: "Show the pictures in the terminal, as coloured blocks, without audio. q quits.")
  var terminal = false

  @OptionGroup var web: WebOptions

  @OptionGroup var audio: NoAudioOption

  @OptionGroup var wire: WireOptions

  @OptionGroup(title: "WebRTC", visibility: .helpAll) var peer: ReceivePeerOptions

  @OptionGroup(title: "Window and terminal", visibility: .helpAll) var view: ReceiveViewOptions

  @OptionGroup(title: "Output and reports", visibility: .helpAll) var recording: ReceiveRecordingOptions

  /// The codecs to take.
  /// - Parameter file: the file to write; nil if there is none.
  /// - Throws: a `Failure` if this machine decodes none of them.
  func codecs(writing file: ReceivedFile.Place?) throws -> Set<VideoCodec> {
    let decoded = CallDecoder.codecs
    guard let only = codec ?? file?.codec else { return decoded }
    guard decoded.contains(only.transportCodec) else {
      throw Failure("the installed FFmpeg has no decoder of \(only.name)")
    }
    return [only.transportCodec]
  }

  var screen: LiveScreen.Kind? {
    play ? .window(isFullScreen: view.fullScreen) : terminal ? .terminal : nil
  }

  func validate() throws {
    try validateSource()
    if play, terminal {
      throw ValidationError("--play and --terminal exclude each other; give one of them.")
    }
    if view.fullScreen, !play { throw ValidationError("--full-screen requires --play.") }
    if let snapshot = view.snapshot {
      guard play || terminal else { throw ValidationError("--snapshot requires --play or --terminal.") }
      guard snapshot.lowercased().hasSuffix(".png") else {
        throw ValidationError("--snapshot writes PNG; give a name that ends in .png.")
      }
    }
    if terminal, wire.progressOption.json {
      throw ValidationError("--terminal writes the pictures to standard output; omit --json.")
    }
    if recording.overwrite, out == nil, view.snapshot == nil {
      throw ValidationError("--overwrite requires --out or --snapshot.")
    }
    if let frames = recording.frames, !(1...Int(Int32.max)).contains(frames) {
      throw ValidationError("--frames must be from 1 to \(Int32.max), not \(frames).")
    }
  }

  /// Checks where the pictures come from, and that no option is given that has no effect then.
  private func validateSource() throws {
    guard whep != nil else {
      guard listen != nil else {
        throw ValidationError("Say where to receive: --listen port, or --whep url of a server.")
      }
      if peer.whepTokenFile != nil || peer.stun.stun != nil {
        throw ValidationError("--whep-token-file and --stun require --whep.")
      }
      return
    }
    try peer.stun.validate()
    if codec == .hvc1 {
      throw ValidationError("--whep receives H.264, as sessions of WebRTC do here; omit --codec hevc.")
    }
    let refused = [
      ("--listen", listen != nil), ("--web", web.web != nil), ("--key", wire.keys.key != nil),
      ("--key-file", wire.keys.keyFile != nil), ("--secret", wire.secret != nil),
    ]
    if let option = refused.first(where: \.1) {
      throw ValidationError(
        "--whep receives from a server, with the keys that it agrees on; omit \(option.0).")
    }
  }
}
