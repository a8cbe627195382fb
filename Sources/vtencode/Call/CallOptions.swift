// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RealTimeTransport

/// The options of `vtencode call`.
struct CallOptions: ParsableArguments {
  @Argument(help: "The movie to send: anything that libavformat reads.", completion: .file())
  var movie: String

  // MARK: The sender

  @Option(
    help: ArgumentHelp(
      "How losses are repaired: keyframe, ltr, invalidate or intra-refresh.", valueName: "how"))
  var recovery: RecoveryMode = .ltr

  @Flag(
    inversion: .prefixedNo,
    help: "Send lost packets again if that takes no more than a quarter of a second.")
  var retransmission = true

  @Option(
    help: ArgumentHelp(
      "The encoder's bit rate throughout, in bits a second. (default: follows the bandwidth)",
      valueName: "rate"))
  var bitrate: BitRate?

  @Option(
    help: ArgumentHelp(
      "The bit rate as a fraction of the bandwidth, if it follows the bandwidth. (default: 85%)",
      valueName: "share"))
  var utilisation: Share?

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

  // MARK: The network

  @Option(
    help: ArgumentHelp(
      "The bandwidth of the link in bits a second, or its changes: 0s:1500k,4s:500k,8s:1500k. (default: "
        + "2000k)",
      valueName: "rate"), transform: Bandwidth.reading(or: Bandwidth.advice))
  var bandwidth: Bandwidth = Bandwidth(BandwidthSchedule(constant: 2_000_000))

  @Option(
    help: ArgumentHelp(
      "The bandwidth of the second receiver's link in bits a second. (default: 0.65 of --bandwidth)",
      valueName: "rate"),
    transform: Bandwidth.reading(or: Bandwidth.advice))
  var bottleneck: Bandwidth?

  @Option(help: ArgumentHelp("The delay of the network in one direction.", valueName: "time"))
  var delay: Seconds = Seconds(0.05)

  @Option(help: ArgumentHelp("The mean of an additional random delay.", valueName: "time"))
  var jitter: Seconds = Seconds(0)

  @Flag(help: "Let jitter change the order of packets.")
  var reorder = false

  @Option(
    help: ArgumentHelp(
      "The longest time that a packet may wait for the link; packets beyond that are "
        + "dropped.", valueName: "time"))
  var queue: Seconds = Seconds(1)

  @Option(help: ArgumentHelp("The fraction of packets that are lost at random.", valueName: "share"))
  var loss: Share?

  @Option(
    help: ArgumentHelp(
      "Losses in bursts (Gilbert-Elliott model): the fraction of lost packets and the mean length of a burst "
        + "in packets, such as 5%:4.",
      valueName: "share:n"))
  var burstLoss: Bursts?

  @Option(
    help: ArgumentHelp("The fraction of the receivers' packets that are lost at random.", valueName: "share"))
  var feedbackLoss: Share = Share(0)

  @Option(help: ArgumentHelp("Largest RTP packet in bytes.", valueName: "bytes"))
  var mtu: Int = 1200

  @Option(
    help: ArgumentHelp("The seed of the random numbers: the same seed gives the same call.", valueName: "n"))
  var seed: UInt64 = 1

  // MARK: Results

  @OptionGroup var overwriting: OverwriteOption

  @Option(help: ArgumentHelp("Write a page with charts.", valueName: "file"), completion: .file())
  var report: String?

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
      "Write the frames that the (first) receiver decoded, as an H.264 elementary stream.", valueName: "file"),
    completion: .file())
  var received: String?

  @Option(
    help: ArgumentHelp(
      "The port for --sdp and --dump; RTCP goes to the next. (default: 5004)", valueName: "port"))
  var port: Int?

  static let defaultPort = 5004

  func validate() throws {
    try loss?.validate("--loss")
    try feedbackLoss.validate("--feedback-loss")
    try utilisation?.validate("--utilisation")
    try validateMeaning()
    guard (1...2).contains(layers) else { throw ValidationError("--layers is 1 or 2.") }
    if bottleneck != nil, layers == 1 { throw ValidationError("--bottleneck needs --layers 2.") }
    if let share = baseLayerBitrateFraction {
      guard layers == 2 else { throw ValidationError("--base-layer-bitrate-fraction needs --layers 2.") }
      guard share >= 0, share <= 1 else {
        throw ValidationError("--base-layer-bitrate-fraction goes from 0 to 1.")
      }
    }
    if loss != nil, burstLoss != nil {
      throw ValidationError("--loss and --burst-loss exclude each other; give one of them.")
    }
    if let window, !(0.01...60).contains(window.value) {
      throw ValidationError("--window goes from 10ms to 60s.")
    }
    if let utilisation, utilisation.value <= 0 { throw ValidationError("--utilisation must be more than 0.") }
    if let bitrate, !BitRate.allowed.contains(bitrate.bitsPerSecond) {
      throw ValidationError("--bitrate goes from 1k to 1000M (bits a second); try --bitrate 1500k.")
    }
    try dimensions?.validate()
    try check("--max-qp", maxQp, 1...51)
    try check("--threads", threads, 1...16)
    try check("--intra-refresh-frames", intraRefreshFrames, 2...1000)
    try check("--mtu", mtu, 100...65_000)
    try check("--frames", frames, 1...Int(Int32.max))
    try check("--port", port, 1024...65_534)
    guard (port ?? 0) % 2 == 0 else {
      throw ValidationError("--port must be even; RTCP has the odd one above it.")
    }
  }

  /// Checks that no option is given that has no effect in combination with the others.
  private func validateMeaning() throws {
    if utilisation != nil, bitrate != nil {
      throw ValidationError(
        "--utilisation is for a rate that follows the bandwidth; leave it or --bitrate out.")
    }
    if intraRefreshFrames != nil, recovery != .intraRefresh {
      throw ValidationError("--intra-refresh-frames is for --recovery intra-refresh.")
    }
    if overwriting.overwrite, [report, dump, received, sdp, record].allSatisfy({ $0 == nil }) {
      throw ValidationError("--overwrite is for files that the call writes; name one, or leave it out.")
    }
    if port != nil, sdp == nil, dump == nil { throw ValidationError("--port is for --sdp and --dump.") }
    if reorder, jitter.value == 0 { throw ValidationError("--reorder is for --jitter.") }
  }

  private func check(_ name: String, _ value: Int?, _ range: ClosedRange<Int>) throws {
    guard let value, !range.contains(value) else { return }
    throw ValidationError(
      "\(name) goes from \(range.lowerBound) to \(range.upperBound); \(value) is outside.")
  }
}

extension CallPlan {
  init(_ options: CallOptions, source: MovieSource) throws {
    let (width, height) = try source.callSize(options.dimensions)
    var link = NetworkLink.Configuration(bandwidth: options.bandwidth.schedule)
    link.delay = options.delay.value
    link.jitter = options.jitter.value
    link.reorders = options.reorder
    link.queueLimit = options.queue.value
    link.loss = options.burstLoss?.model ?? options.loss.map { .random($0.value) } ?? .none
    self.init(width: width, height: height, frameRate: source.frameRate, link: link)
    frameLimit = options.frames
    recovery = options.recovery
    retransmits = options.retransmission
    bitRate = options.bitrate?.bitsPerSecond
    if let share = options.utilisation { utilisation = share.value }
    if let chosen = options.window { window = chosen.value }
    hasLayers = options.layers == 2
    baseLayerBitRateFraction = options.baseLayerBitrateFraction
    maximumQP = options.maxQp
    if let frames = options.intraRefreshFrames { intraRefreshFrames = frames }
    encoderID = options.encoder
    effort = options.effort.value
    threads = options.threads
    packetSize = options.mtu
    if hasLayers {
      bottleneck =
        options.bottleneck?.schedule
        ?? BandwidthSchedule(
          options.bandwidth.schedule.steps.map {
            .init(time: $0.time, bitsPerSecond: $0.bitsPerSecond * 0.65)
          })
    }
    if options.feedbackLoss.value > 0 { feedbackLoss = .random(options.feedbackLoss.value) }
    seed = options.seed
    keepsFrames = options.received != nil
    keepsPackets = options.dump != nil || options.sdp != nil
    chooseReferenceCount()
  }
}
