// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The options that only the low-latency mode has.
struct ConferencingOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Write a page with charts of each frame's bits, QP, queueing delay, quality and encoding time.",
      valueName: "file"),
    completion: .file())
  var report: String?

  @OptionGroup(title: "Calls", visibility: .helpAll) var calls: CallModeOptions
}

/// The options that only the low-latency mode has and only `--help-all` shows.
struct CallModeOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The base layer's fraction of the frames: 1 (no layers), 0.5 or 0.25.", valueName: "share"))
  var baseLayerFraction: Double?

  @Option(
    help: ArgumentHelp(
      "The base layer's fraction of the bits, 0 to 1. (default: 0.6)", valueName: "share"))
  var baseLayerBitrateFraction: Double?

  @Option(
    help: ArgumentHelp(
      "The highest QP of a frame, 1 to 51: frames are dropped instead of exceeding it. (Only with the "
        + "package's own encoder.)",
      valueName: "qp"))
  var maxQp: Int?

  @Option(help: ArgumentHelp("Lowest QP of a frame, 0 to 51.", valueName: "qp"))
  var minQp: Int?

  @Flag(help: "Mark long-term references, and acknowledge each of them three frames later.")
  var ltr = false

  @Option(
    help: ArgumentHelp(
      "Frames in which a gradual intra refresh passes over the picture, over and over, 2 to 1000. (Only with the "
        + "package's own encoder.)",
      valueName: "n"))
  var intraRefresh: Int?

  @Option(
    help: ArgumentHelp(
      "Changes of the bit rate, each as time:rate, such as 2s:500k,4s:1500k.", valueName: "steps"),
    transform: RateSteps.reading(
      or: "it takes rates from 1k to 1000M with their times, such as 2s:500k,4s:1500k"))
  var rateSteps: RateSteps?

  func validate() throws {
    if let baseLayerFraction, ![0.25, 0.5, 1].contains(baseLayerFraction) {
      throw ValidationError("--base-layer-fraction is 1, 0.5 or 0.25.")
    }
    if let share = baseLayerBitrateFraction, !(share >= 0 && share <= 1) {
      throw ValidationError("--base-layer-bitrate-fraction must be from 0 to 1.")
    }
    if baseLayerBitrateFraction != nil, baseLayerFraction ?? 1 == 1 {
      throw ValidationError(
        "--base-layer-bitrate-fraction needs layers; give --base-layer-fraction 0.5 or 0.25, or omit it."
      )
    }
    if let maxQp, !(1...51).contains(maxQp) { throw ValidationError("--max-qp must be from 1 to 51.") }
    if let minQp, !(0...51).contains(minQp) { throw ValidationError("--min-qp must be from 0 to 51.") }
    if let minQp, let maxQp, minQp > maxQp {
      throw ValidationError("--min-qp must not be above --max-qp.")
    }
    if let intraRefresh, !(2...1000).contains(intraRefresh) {
      throw ValidationError("--intra-refresh must be from 2 to 1000 frames.")
    }
  }
}

/// Changes of the bit rate over time.
struct RateSteps: ExpressibleByArgument, Sendable {
  struct Step: Sendable {
    var seconds: Double
    var rate: BitRate
  }

  var steps: [Step] = []

  init?(argument: String) {
    for part in argument.split(separator: ",") {
      let sides = part.split(separator: ":")
      guard sides.count == 2 else { return nil }
      var time = sides[0].trimmingPrefix { $0 == " " }
      if time.last == "s" { time = time.dropLast() }
      guard let seconds = Double(time), seconds >= 0, seconds.isFinite,
        let rate = BitRate(argument: String(sides[1])), BitRate.allowed.contains(rate.bitsPerSecond)
      else { return nil }
      steps.append(Step(seconds: seconds, rate: rate))
    }
    guard !steps.isEmpty else { return nil }
    steps.sort { $0.seconds < $1.seconds }
  }

  /// The bit rate at a time, in bits a second; nil before the first step.
  func rate(at seconds: Double) -> Int? { steps.last { $0.seconds <= seconds }?.rate.bitsPerSecond }
}

/// The settings of the low-latency mode.
struct ConferencingPlan: Sendable {
  var baseLayerFraction: Double?
  var baseLayerBitRateFraction: Double?
  var maximumQP: Int?
  var minimumQP: Int?
  var usesLongTermReferences: Bool
  /// The frames of an intra refresh; nil: there is none.
  var intraRefreshFrames: Int?
  var rateSteps: RateSteps?
  /// Whether the session computes the error of each frame, for the report.
  var measuresQuality: Bool
  let log = FrameLog()

  init(_ options: ConferencingOptions) {
    baseLayerFraction = options.calls.baseLayerFraction
    baseLayerBitRateFraction = options.calls.baseLayerBitrateFraction
    maximumQP = options.calls.maxQp
    minimumQP = options.calls.minQp
    usesLongTermReferences = options.calls.ltr
    intraRefreshFrames = options.calls.intraRefresh
    rateSteps = options.calls.rateSteps
    measuresQuality = options.report != nil
  }
}
