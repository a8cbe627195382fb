// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RealTimeTransport

/// The options of `vtencode send`. Those that are used most are shown by `--help`, and the groups
/// by `--help-all`.
struct SendOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "A movie, sent in real time; test:WIDTHxHEIGHT@RATE, a generated picture with a clock; x11:DISPLAY, a "
        + "screen, or x11:DISPLAY+X,Y:WIDTHxHEIGHT@RATE, a part of it; v4l2:/dev/video0:WIDTHxHEIGHT@RATE, a "
        + "camera.",
      valueName: "source"), completion: .file())
  var source: String

  @Option(
    help: ArgumentHelp("The address at which vtencode receive listens.", valueName: "host:port"),
    transform: Endpoint.reading(or: Endpoint.advice))
  var to: Endpoint?

  @Option(
    help: ArgumentHelp(
      "Send by WebRTC to a server that takes WHIP (RFC 9725), in place of --to. A token that it wants is in the "
        + "variable VTENCODE_WHIP_TOKEN, or in the file of --whip-token-file.",
      valueName: "url"), transform: SignallingURL.reading(or: SignallingURL.advice))
  var whip: SignallingURL?

  @OptionGroup var web: WebOptions

  @Option(
    help: ArgumentHelp(
      "The highest bit rate in bits a second; it is lower if the path carries less. (default: by size and "
        + "frame rate)",
      valueName: "rate"),
    transform: BitRate.reading(or: BitRate.advice))
  var bitrate: BitRate?

  @Option(
    help: ArgumentHelp(
      "The codec, by its name or its four-character code: h264 or avc1, hevc or hvc1.", valueName: "codec"))
  var codec: Codec = .avc1

  @Flag(name: .customLong("loop"), help: "Start again at the movie's end.")
  var loops = false

  @Option(
    help: ArgumentHelp("Width and height of the picture. (default: the source's own)", valueName: "w h"),
    transform: Dimensions.reading(or: Dimensions.advice))
  var dimensions: Dimensions?

  @OptionGroup var audioSource: AudioSourceOption

  @OptionGroup var audio: NoAudioOption

  @OptionGroup var wire: WireOptions

  @OptionGroup(title: "WebRTC", visibility: .helpAll) var peer: SendPeerOptions

  @OptionGroup(title: "Part of the source", visibility: .helpAll) var range: RangeOptions

  @OptionGroup(title: "Part of the source", visibility: .helpAll) var length: SendLengthOption

  @OptionGroup(title: "Losses", visibility: .helpAll) var losses: SendLossOptions

  @OptionGroup(title: "Encoder", visibility: .helpAll) var encoding: SendEncoderOptions

  @OptionGroup(title: "Output and reports", visibility: .helpAll) var description: SendDescriptionOption

  @OptionGroup(title: "Output and reports", visibility: .helpAll) var overwriting: OverwriteOption

  func validate() throws {
    try validateDestination()
    if overwriting.overwrite, description.sdp == nil {
      throw ValidationError("--overwrite requires --sdp.")
    }
    try LiveSource.validate(source, dimensions: dimensions)
    try refuse(
      [("--no-audio", audio.noAudio), ("--sdp", description.sdp != nil)].map {
        ($0.0, $0.1 && audioSource.audio != nil)
      }
    ) { "--sound records audio, which \($0) does not send; omit one of them." }
    if let bitrate, !BitRate.allowed.contains(bitrate.bitsPerSecond) {
      throw ValidationError("--bitrate must be from 1k to 1000M (bits a second); try --bitrate 1500k.")
    }
    try dimensions?.validate()
    try check("--max-qp", encoding.maxQp, 1...51)
    if encoding.profile != nil {
      try refuse([("--codec hvc1", codec == .hvc1)]) {
        "--profile cannot be combined with \($0); it applies to H.264 only."
      }
    }
    if encoding.profile == .high444 {
      try refuse([("--web", web.web != nil), ("--whip", whip != nil)]) {
        "Browsers do not decode --profile high444 by WebRTC; omit it with \($0)."
      }
    } else if encoding.profile != nil {
      try refuse([("--web", web.web != nil), ("--whip", whip != nil)]) {
        "With \($0) the browser decides on the profile; omit --profile."
      }
    }
    try check("--threads", encoding.threads, 1...16)
    try check("--mtu", losses.mtu, 200...1400)
    try check("--intra-refresh-frames", losses.intraRefreshFrames, 2...1000)
    if losses.intraRefreshFrames != nil, losses.recovery != .intraRefresh {
      throw ValidationError("--intra-refresh-frames requires --recovery intra-refresh.")
    }
    try check("--frames", length.frames, 1...Int(Int32.max))
    guard (0.1...10).contains(losses.wait?.value ?? 1) else {
      throw ValidationError("--wait must be from 100ms to 10s.")
    }
  }

  /// Checks the destination, and that no option is given that has no effect with it.
  private func validateDestination() throws {
    if let whip {
      try refuse([("--to", to != nil), ("--web", web.web != nil)]) {
        "--whip sends to a server; omit \($0)."
      }
      return try validatePeer(whip)
    }
    try refuse([("--whip-token-file", peer.whipTokenFile != nil), ("--stun", peer.stun.stun != nil)]) {
      "\($0) requires --whip."
    }
    switch (to, web.web) {
    case (nil, nil):
      throw ValidationError(
        "No destination: use --to host:port, --whip url for a server, or --web port for a browser on this machine."
      )
    case (.some, .some):
      throw ValidationError("--to and --web exclude each other; at the other end there is receive --web.")
    case (let to?, nil):
      guard to.host != nil else {
        throw ValidationError("--to needs a host and a port, such as pc.local:5004.")
      }
    case (nil, .some):
      try refuse(keyOptions + [("--sdp", description.sdp != nil), ("--wait", losses.wait != nil)]) {
        "--web shows the pictures from this process, without another receiver; omit \($0)."
      }
    }
    if loops, TestPictures.Format(source) != nil || DeviceFormat.isDevice(source) {
      throw ValidationError("--loop requires a movie as the source.")
    }
    guard description.sdp != nil else { return }
    try refuse([("--recovery", losses.recovery != nil)]) {
      "--sdp is for players, which do not report losses; omit \($0)."
    }
    try refuse(keyOptions) { "--sdp is for players, which do not support vtencode's keys; omit \($0)." }
    try refuse([
      ("--retransmission", losses.retransmission != nil), ("--fec", losses.fec != nil),
      ("--wait", losses.wait != nil),
    ]) { "--sdp is for players, which send no requests and no answers; omit \($0)." }
    if let to, to.port == 65_535 {
      throw ValidationError("With --sdp the port after --to's is used too; choose a lower one.")
    }
  }

  /// Checks that no option is given that has no effect with a WebRTC server.
  private func validatePeer(_ whip: SignallingURL) throws {
    try refuse(
      keyOptions + [
        ("--sdp", description.sdp != nil), ("--wait", losses.wait != nil),
        ("--recovery", losses.recovery != nil), ("--retransmission", losses.retransmission != nil),
        ("--fec", losses.fec != nil),
      ]
    ) { "With --whip the server decides on keys and repair; omit \($0)." }
    if codec == .hvc1 {
      throw ValidationError("--whip sends H.264, as sessions of WebRTC do here; omit --codec hevc.")
    }
    guard losses.mtu <= 1300 else { throw ValidationError("With --whip --mtu goes up to 1300.") }
    try peer.stun.validate()
    if loops, TestPictures.Format(source) != nil || DeviceFormat.isDevice(source) {
      throw ValidationError("--loop requires a movie as the source.")
    }
  }

  private var keyOptions: [(String, Bool)] {
    [
      ("--key", wire.keys.key != nil), ("--key-file", wire.keys.keyFile != nil),
      ("--secret", wire.secret != nil),
    ]
  }

  private func refuse(_ options: [(name: String, isGiven: Bool)], _ reason: (String) -> String) throws {
    if let option = options.first(where: \.isGiven) { throw ValidationError(reason(option.name)) }
  }

  private func check(_ name: String, _ value: Int?, _ range: ClosedRange<Int>) throws {
    guard let value, !range.contains(value) else { return }
    throw ValidationError(
      "\(name) must be from \(range.lowerBound) to \(range.upperBound), not \(value).")
  }
}
