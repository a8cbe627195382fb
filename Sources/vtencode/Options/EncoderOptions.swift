// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The options that choose the encoder and its settings.
struct EncoderOptions: ParsableArguments {
  static let threadCounts = 1...128

  @Option(
    help: ArgumentHelp(
      "The encoder, by its id or the end of it, such as x264; see vtencode encoders. (default: the one that "
        + "suits the command best)", valueName: "id"), transform: ListedEncoder.identifier)
  var encoder: String?

  @Option(
    help: ArgumentHelp(
      "A preset of the encoder's settings. (default: none)", valueName: "name"))
  var preset: Preset?

  @Option(
    help: ArgumentHelp(
      "The profile: with hvc1 main or main10, with avc1 any but main10. high444 keeps the full resolution of "
        + "colour, for coloured text on screens; players need not decode it, and browsers' calls do not. "
        + "(default: the encoder's own)",
      valueName: "name"))
  var profile: ProfileChoice?

  @Option(help: ArgumentHelp("At most this many frames from one key frame to the next.", valueName: "n"))
  var keyframeInterval: Int?

  @Option(help: ArgumentHelp("At most this many seconds from one key frame to the next.", valueName: "s"))
  var keyframeDuration: Double?

  @Option(
    help: ArgumentHelp(
      "The number of frames that the encoder looks ahead to distribute the bits; its output is delayed by as "
        + "many. (default: the preset's or the encoder's own; for streaming with the package's own encoder "
        + "20, but at most two seconds)", valueName: "n"))
  var lookAheadFrames: Int?

  @Option(
    help: ArgumentHelp(
      "Whether the QP of a macroblock depends on its activity. (default: the encoder's own)",
      valueName: "level"))
  var spatialAdaptiveQP: SpatialAdaptiveQP?

  @OptionGroup var effort: EffortOption

  @Flag(help: "Spend less power, at some cost in size or quality.")
  var savePower = false

  @Option(
    help: ArgumentHelp(
      "Threads of the encoder; the package's own uses 16 at most. (default: by the number of processors)",
      valueName: "n"))
  var threads: Int?

  func validate() throws {
    try checkRange("--keyframe-interval", keyframeInterval, in: 1...Int(Int32.max))
    try checkRange("--look-ahead-frames", lookAheadFrames, in: 0...250)
    try checkRange("--threads", threads, in: Self.threadCounts)
    if let keyframeDuration, !(keyframeDuration > 0 && keyframeDuration <= 86_400) {
      throw ValidationError("--keyframe-duration must be more than 0 seconds and at most a day.")
    }
  }
}
