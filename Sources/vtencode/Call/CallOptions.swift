// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RealTimeTransport

/// The options of `vtencode call`. Those that are used most are shown by `--help`, and the groups
/// by `--help-all`.
struct CallOptions: ParsableArguments {
  @Argument(help: "The movie to send: anything that libavformat reads.", completion: .file())
  var movie: String

  @Option(
    help: ArgumentHelp(
      "How losses are repaired: keyframe, ltr, invalidate or intra-refresh.", valueName: "how"))
  var recovery: RecoveryMode = .ltr

  @Option(
    help: ArgumentHelp(
      "The encoder's bit rate throughout, in bits a second. (default: follows the bandwidth)",
      valueName: "rate"))
  var bitrate: BitRate?

  @Option(
    help: ArgumentHelp(
      "The codec, by its name or its four-character code: h264 or avc1, hevc or hvc1.", valueName: "codec"))
  var codec: Codec = .avc1

  @Option(
    help: ArgumentHelp(
      "The bandwidth of the link in bits a second, or its changes: 0s:1500k,4s:500k,8s:1500k. (default: "
        + "2000k)",
      valueName: "rate"), transform: Bandwidth.reading(or: Bandwidth.advice))
  var bandwidth: Bandwidth = Bandwidth(BandwidthSchedule(constant: 2_000_000))

  @Option(help: ArgumentHelp("The delay of the network in one direction.", valueName: "time"))
  var delay: Seconds = Seconds(0.05)

  @Option(help: ArgumentHelp("The fraction of packets that are lost at random.", valueName: "share"))
  var loss: Fraction?

  @Option(help: ArgumentHelp("Write a page with charts.", valueName: "file"), completion: .file())
  var report: String?

  @OptionGroup(title: "Sender", visibility: .helpAll) var sender: CallSenderOptions

  @OptionGroup(title: "Network", visibility: .helpAll) var network: CallNetworkOptions

  @OptionGroup(title: "Output and reports", visibility: .helpAll) var results: CallResultOptions

  static let defaultPort = 5004

  func validate() throws {
    try loss?.validate("--loss")
    try network.feedbackLoss.validate("--feedback-loss")
    try sender.utilisation?.validate("--utilisation")
    try validateMeaning()
    guard (1...2).contains(sender.layers) else { throw ValidationError("--layers is 1 or 2.") }
    if network.bottleneck != nil, sender.layers == 1 {
      throw ValidationError("--bottleneck needs --layers 2.")
    }
    if let share = sender.baseLayerBitrateFraction {
      guard sender.layers == 2 else {
        throw ValidationError("--base-layer-bitrate-fraction needs --layers 2.")
      }
      guard share >= 0, share <= 1 else {
        throw ValidationError("--base-layer-bitrate-fraction must be from 0 to 1.")
      }
    }
    if loss != nil, network.burstLoss != nil {
      throw ValidationError("--loss and --burst-loss exclude each other; give one of them.")
    }
    if let window = sender.window, !(0.01...60).contains(window.value) {
      throw ValidationError("--window must be from 10ms to 60s.")
    }
    if let utilisation = sender.utilisation, utilisation.value <= 0 {
      throw ValidationError("--utilisation must be more than 0.")
    }
    if let bitrate, !BitRate.allowed.contains(bitrate.bitsPerSecond) {
      throw ValidationError("--bitrate must be from 1k to 1000M (bits a second); try --bitrate 1500k.")
    }
    try sender.dimensions?.validate()
    try check("--max-qp", sender.maxQp, 1...51)
    try check("--threads", sender.threads, 1...16)
    try check("--intra-refresh-frames", sender.intraRefreshFrames, 2...1000)
    try check("--mtu", network.mtu, 100...65_000)
    try check("--frames", sender.frames, 1...Int(Int32.max))
    try check("--port", results.port, 1024...65_534)
    guard (results.port ?? 0) % 2 == 0 else {
      throw ValidationError("--port must be even, because RTCP uses the next port.")
    }
  }

  /// Checks that no option is given that has no effect in combination with the others.
  private func validateMeaning() throws {
    if sender.utilisation != nil, bitrate != nil {
      throw ValidationError(
        "--utilisation cannot be combined with --bitrate, because it requires a rate that follows the bandwidth."
      )
    }
    if sender.intraRefreshFrames != nil, recovery != .intraRefresh {
      throw ValidationError("--intra-refresh-frames requires --recovery intra-refresh.")
    }
    if results.overwriting.overwrite,
      [report, results.dump, results.received, results.sdp, results.record].allSatisfy({ $0 == nil })
    {
      throw ValidationError("--overwrite requires an option that writes a file.")
    }
    if results.port != nil, results.sdp == nil, results.dump == nil {
      throw ValidationError("--port requires --sdp or --dump.")
    }
    if network.reorder, network.jitter.value == 0 { throw ValidationError("--reorder requires --jitter.") }
  }

  private func check(_ name: String, _ value: Int?, _ range: ClosedRange<Int>) throws {
    guard let value, !range.contains(value) else { return }
    throw ValidationError(
      "\(name) must be from \(range.lowerBound) to \(range.upperBound), not \(value).")
  }
}

extension CallPlan {
  init(_ options: CallOptions, source: MovieSource) throws {
    let (width, height) = try source.callSize(options.sender.dimensions)
    var link = NetworkLink.Configuration(bandwidth: options.bandwidth.schedule)
    link.delay = options.delay.value
    link.jitter = options.network.jitter.value
    link.reorders = options.network.reorder
    link.queueLimit = options.network.queue.value
    link.loss = options.network.burstLoss?.model ?? options.loss.map { .random($0.value) } ?? .none
    self.init(width: width, height: height, frameRate: source.frameRate, link: link)
    codec = options.codec
    frameLimit = options.sender.frames
    recovery = options.recovery
    retransmits = options.sender.retransmission
    bitRate = options.bitrate?.bitsPerSecond
    if let share = options.sender.utilisation { utilisation = share.value }
    if let chosen = options.sender.window { window = chosen.value }
    hasLayers = options.sender.layers == 2
    baseLayerBitRateFraction = options.sender.baseLayerBitrateFraction
    maximumQP = options.sender.maxQp
    if let frames = options.sender.intraRefreshFrames { intraRefreshFrames = frames }
    encoderID = options.sender.encoder
    effort = options.sender.effort.value
    threads = options.sender.threads
    packetSize = options.network.mtu
    if hasLayers {
      bottleneck =
        options.network.bottleneck?.schedule
        ?? BandwidthSchedule(
          options.bandwidth.schedule.steps.map {
            .init(time: $0.time, bitsPerSecond: $0.bitsPerSecond * 0.65)
          })
    }
    if options.network.feedbackLoss.value > 0 { feedbackLoss = .random(options.network.feedbackLoss.value) }
    seed = options.network.seed
    keepsFrames = options.results.received != nil
    keepsPackets = options.results.dump != nil || options.results.sdp != nil
    chooseReferenceCount()
  }
}
