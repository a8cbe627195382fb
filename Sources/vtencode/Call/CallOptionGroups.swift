// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RealTimeTransport

// The options of `vtencode call` that only `--help-all` shows, by groups. `CallOptions` checks
// them.

/// The settings of the simulated sender.
struct CallSenderOptions: ParsableArguments {
  @Flag(
    inversion: .prefixedNo,
    help: "Send lost packets again if that takes no more than a quarter of a second.")
  var retransmission = true

  @Option(
    help: ArgumentHelp(
      "The bit rate as a fraction of the bandwidth, if it follows the bandwidth. (default: 85%)",
      valueName: "share"))
  var utilisation: Fraction?

  @Option(
    help: ArgumentHelp(
      "The window of the data rate limit: no period of this length has more bits than the link carries in "
        + "it, not even with a key frame. (default: 250ms, but at least three frames)",
      valueName: "time"))
  var window: Seconds?

  @Option(
    help: ArgumentHelp(
      "Temporal layers, 1 or 2. With 2 a second receiver listens behind the bottleneck.", valueName: "n"))
  var layers: Int = 1

  @Option(
    help: ArgumentHelp("The base layer's fraction of the bits, 0 to 1. (default: 0.6)", valueName: "share"))
  var baseLayerBitrateFraction: Double?

  @Option(help: ArgumentHelp("Highest QP of a frame, 1 to 51.", valueName: "qp"))
  var maxQp: Int?

  @Option(
    help: ArgumentHelp(
      "With --recovery intra-refresh: frames in which a refresh passes over the picture. (default: 30)",
      valueName: "n"))
  var intraRefreshFrames: Int?

  @Option(help: ArgumentHelp("The encoder, by its id; see vtencode encoders.", valueName: "id"))
  var encoder: String?

  @OptionGroup var effort: EffortOption

  @Option(help: ArgumentHelp("Threads of the encoder.", valueName: "n"))
  var threads: Int = 1

  @Option(
    help: ArgumentHelp("Width and height of the picture. (default: the movie's own)", valueName: "w h"),
    transform: Dimensions.reading(or: Dimensions.advice))
  var dimensions: Dimensions?

  @Option(help: ArgumentHelp("Send only this many frames.", valueName: "n"))
  var frames: Int?
}

/// The further properties of the simulated network.
struct CallNetworkOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The bandwidth of the second receiver's link in bits a second. (default: 0.65 of --bandwidth)",
      valueName: "rate"),
    transform: Bandwidth.reading(or: Bandwidth.advice))
  var bottleneck: Bandwidth?

  @Option(help: ArgumentHelp("The mean of an additional random delay.", valueName: "time"))
  var jitter: Seconds = Seconds(0)

  @Flag(help: "Let jitter change the order of packets.")
  var reorder = false

  @Option(
    help: ArgumentHelp(
      "The longest time that a packet may wait for the link; packets beyond that are "
        + "dropped.", valueName: "time"))
  var queue: Seconds = Seconds(1)

  @Option(
    help: ArgumentHelp(
      "Losses in bursts (Gilbert-Elliott model): the fraction of lost packets and the mean length of a burst "
        + "in packets, such as 5%:4.",
      valueName: "share:n"))
  var burstLoss: Bursts?

  @Option(
    help: ArgumentHelp("The fraction of the receivers' packets that are lost at random.", valueName: "share"))
  var feedbackLoss: Fraction = Fraction(0)

  @Option(help: ArgumentHelp("Largest RTP packet in bytes.", valueName: "bytes"))
  var mtu: Int = 1200

  @Option(
    help: ArgumentHelp("The seed of the random numbers: the same seed gives the same call.", valueName: "n"))
  var seed: UInt64 = 1
}

/// The files that the call writes in addition to its report.
struct CallResultOptions: ParsableArguments {
  @OptionGroup var overwriting: OverwriteOption

  @Option(
    help: ArgumentHelp(
      "Write the result of each frame, at the sender and at the receivers, as JSON.", valueName: "file"),
    completion: .file())
  var record: String?

  @Option(
    help: ArgumentHelp(
      "Write the packets that the (first) receiver received and sent, as a capture for Wireshark.",
      valueName: "file"), completion: .file())
  var dump: String?

  @Option(
    help: ArgumentHelp(
      "Write a session description, then send the packets that the receiver received again, in real time, "
        + "over UDP on loopback.",
      valueName: "file"), completion: .file())
  var sdp: String?

  @Option(
    help: ArgumentHelp(
      "Write the frames that the (first) receiver decoded, as an elementary stream.", valueName: "file"),
    completion: .file())
  var received: String?

  @Option(
    help: ArgumentHelp(
      "The port for --sdp and --dump; RTCP goes to the next. (default: 5004)", valueName: "port"))
  var port: Int?
}
