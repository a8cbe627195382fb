// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RealTimeTransport

/// The options of `vtencode send`.
struct SendOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "A movie, sent at its own pace; test:WIDTHxHEIGHT@RATE, a made-up picture with a clock in it; x11:DISPLAY, a screen, or "
        + "x11:DISPLAY+X,Y:WIDTHxHEIGHT@RATE, a part of it; v4l2:/dev/video0:WIDTHxHEIGHT@RATE, a camera.",
      valueName: "source"), completion: .file())
  var source: String

  @Option(
    help: ArgumentHelp("Where vtencode receive listens.", valueName: "host:port"),
    transform: Endpoint.reading(or: Endpoint.advice))
  var to: Endpoint?

  @OptionGroup var web: WebOptions

  @Option(
    help: ArgumentHelp(
      "How losses are repaired: keyframe, ltr, invalidate or intra-refresh. (default: ltr)", valueName: "how")
  )
  var recovery: RecoveryMode?

  @OptionGroup var overwriting: OverwriteOption

  @Option(
    help: ArgumentHelp(
      "Send to a player that reads RTP, such as ffplay, in place of vtencode receive, and write the session description "
        + "that it wants. Nothing is asked and nothing repaired; a key frame goes every two seconds.",
      valueName: "file"), completion: .file())
  var sdp: String?

  @Flag(
    inversion: .prefixedNo,
    help:
      "Lost packets are sent once more as long as that takes no more than half a second. (default: --retransmission)"
  )
  var retransmission: Bool?

  @Flag(
    inversion: .prefixedNo,
    help: ArgumentHelp(
      "Packets that others can be made of go along, as many as the losses ask for, where sending again takes long. "
        + "(default: --fec)"
    ))
  var fec: Bool?

  @Option(
    help: ArgumentHelp(
      "Most bits a second, if the path takes them. (default: what the picture's size asks for)",
      valueName: "rate"))
  var bitrate: BitRate?

  @Flag(name: .customLong("loop"), help: "At the movie's end begin again.")
  var loops = false

  @Option(help: ArgumentHelp("Send only this many frames.", valueName: "n"))
  var frames: Int?

  @Option(
    help: ArgumentHelp("Width and height of the picture. (default: the source's own)", valueName: "w h"),
    transform: Dimensions.reading(or: Dimensions.advice))
  var dimensions: Dimensions?

  @Option(help: ArgumentHelp("Highest QP of a frame, 1 to 51.", valueName: "qp"))
  var maxQp: Int?

  @OptionGroup var effort: EffortOption

  @Option(help: ArgumentHelp("Threads of the encoder.", valueName: "n"))
  var threads: Int = 2

  @Option(help: ArgumentHelp("Largest RTP packet in bytes.", valueName: "bytes"))
  var mtu: Int = 1200

  @Option(
    help: ArgumentHelp(
      "Seconds to wait for the receiver to answer, up to 10s. (default: 10s)", valueName: "time"))
  var wait: Seconds?

  @OptionGroup var wire: WireOptions

  func validate() throws {
    try validateDestination()
    if overwriting.overwrite, sdp == nil {
      throw ValidationError("--overwrite is for --sdp; give a file, or leave it out.")
    }
    if source.hasPrefix(TestPictures.Format.scheme), TestPictures.Format(source) == nil {
      throw ValidationError("'\(source)' is no test picture; write test:, test:1280x720 or test:640x360@25.")
    }
    if let format = TestPictures.Format(source),
      let reason = TestPictures.Format.refusal(of: dimensions ?? format.size)
    {
      throw ValidationError("'\(source)' is not possible: \(reason).")
    }
    if DeviceFormat.isDevice(source), DeviceFormat(source) == nil {
      throw ValidationError(DeviceFormat.refusal(of: source))
    }
    if let bitrate, !BitRate.allowed.contains(bitrate.bitsPerSecond) {
      throw ValidationError("--bitrate goes from 1k to 1000M (bits a second); try --bitrate 1500k.")
    }
    try dimensions?.validate()
    try check("--max-qp", maxQp, 1...51)
    try check("--threads", threads, 1...16)
    try check("--mtu", mtu, 200...1400)
    try check("--frames", frames, 1...Int(Int32.max))
    guard (0.1...10).contains(wait?.value ?? 1) else {
      throw ValidationError("--wait goes from 100ms to 10s.")
    }
  }

  /// Checks the destination, and that no option is given that has no effect with it.
  private func validateDestination() throws {
    switch (to, web.web) {
    case (nil, nil):
      throw ValidationError("Say where to send: --to host:port, or --web port for a browser on this machine.")
    case (.some, .some):
      throw ValidationError("--to and --web exclude each other; at the other end there is receive --web.")
    case (let to?, nil):
      guard to.host != nil else {
        throw ValidationError("--to wants a host and a port, such as pc.local:5004.")
      }
    case (nil, .some):
      try refuse(keyOptions + [("--sdp", sdp != nil), ("--wait", wait != nil)]) {
        "--web shows it in this process, where nobody else is asked or waited for; leave out \($0)."
      }
    }
    if loops, TestPictures.Format(source) != nil || DeviceFormat.isDevice(source) {
      throw ValidationError("Only a movie has an end; leave out --loop.")
    }
    guard sdp != nil else { return }
    try refuse([("--recovery", recovery != nil)]) {
      "--sdp is for players, who say nothing of losses; leave out \($0)."
    }
    try refuse(keyOptions) { "--sdp is for players, who know no key of vtencode's; leave out \($0)." }
    try refuse([
      ("--retransmission", retransmission != nil), ("--fec", fec != nil), ("--wait", wait != nil),
    ]) { "--sdp is for players, who ask for nothing and answer nothing; leave out \($0)." }
    if let to, to.port == 65_535 {
      throw ValidationError("With --sdp the port after --to's is used too; choose a lower one.")
    }
  }

  private var keyOptions: [(String, Bool)] {
    [("--key", wire.key != nil), ("--key-file", wire.keyFile != nil), ("--secret", wire.secret != nil)]
  }

  private func refuse(_ options: [(name: String, isGiven: Bool)], _ reason: (String) -> String) throws {
    if let option = options.first(where: \.isGiven) { throw ValidationError(reason(option.name)) }
  }

  private func check(_ name: String, _ value: Int?, _ range: ClosedRange<Int>) throws {
    guard let value, !range.contains(value) else { return }
    throw ValidationError(
      "\(name) goes from \(range.lowerBound) to \(range.upperBound); \(value) is outside.")
  }
}
