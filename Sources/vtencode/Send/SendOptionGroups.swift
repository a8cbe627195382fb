// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RealTimeTransport

// The options of `vtencode send` that only `--help-all` shows, by groups. `SendOptions` checks
// them.

/// How much of the source is sent, in frames.
struct SendLengthOption: ParsableArguments {
  @Option(help: ArgumentHelp("Send only this many frames.", valueName: "n"))
  var frames: Int?
}

/// How losses are found and repaired.
struct SendLossOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How losses are repaired: keyframe, ltr, invalidate or intra-refresh. (default: ltr)", valueName: "how")
  )
  var recovery: RecoveryMode?

  @Option(
    help: ArgumentHelp(
      "With --recovery intra-refresh: frames in which a refresh passes over the picture. (default: 30)",
      valueName: "n"))
  var intraRefreshFrames: Int?

  @Flag(
    inversion: .prefixedNo,
    help:
      "Send lost packets again if that takes no more than half a second. (default: --retransmission)"
  )
  var retransmission: Bool?

  @Flag(
    inversion: .prefixedNo,
    help: ArgumentHelp(
      "Forward error correction: also send packets from which lost ones can be restored, by the measured "
        + "losses, if retransmission takes too long. (default: --fec)"
    ))
  var fec: Bool?

  @Option(help: ArgumentHelp("Largest RTP packet in bytes.", valueName: "bytes"))
  var mtu: Int = 1200

  @Option(
    help: ArgumentHelp(
      "The time to wait for the receiver's answer, from 100ms to 10s. (default: 10s)", valueName: "time"))
  var wait: Seconds?
}

/// The settings of the encoder.
struct SendEncoderOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Highest QP of a frame, 1 to 51.", valueName: "qp"))
  var maxQp: Int?

  @OptionGroup var effort: EffortOption

  @Option(
    help: ArgumentHelp(
      "The profile of H.264: high444 keeps the full resolution of colour, for coloured text on screens. "
        + "Browsers do not decode it by WebRTC. (default: high)", valueName: "name"))
  var profile: SendProfile?

  @Option(help: ArgumentHelp("Threads of the encoder.", valueName: "n"))
  var threads: Int = 2
}

/// A profile of H.264 that `send` can be asked for.
enum SendProfile: String, CaseIterable, ExpressibleByArgument, Sendable {
  case high
  /// High 4:4:4 Predictive.
  case high444
}

/// The session description for players.
struct SendDescriptionOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Send to a player that reads RTP, such as ffplay, in place of vtencode receive, and write the session "
        + "description for it. There is no feedback and no repair; there is a key frame every two seconds.",
      valueName: "file"), completion: .file())
  var sdp: String?
}
