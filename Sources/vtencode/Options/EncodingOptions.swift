import ArgumentParser

/// What `streaming` and `transcoding` have in common.
struct EncodingOptions: ParsableArguments {
  @Argument(help: "The movie to encode: anything that libavformat reads, Y4M and raw H.264 or HEVC included.")
  var movie: String

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Where to write: a .mov, .mp4 or .m4v movie, a .264 or .265 elementary stream, or - for an elementary "
        + "stream on standard output. An existing file is replaced once the new one is whole. (default: the "
        + "movie's name with the subcommand's, as .mov, in the current folder)", valueName: "file"))
  var out: String?

  @Option(
    help: ArgumentHelp(
      "Bits a second to aim at, such as 1500000, 1500k or 1.5M. (default: by size, frame rate and codec)",
      valueName: "rate"))
  var bitrate: BitRate?

  @Option(help: ArgumentHelp("The codec: avc1 is H.264, hvc1 is HEVC.", valueName: "code"))
  var codec: Codec = .avc1

  @Option(
    help: ArgumentHelp(
      "Width and height of the encoded picture. (default: the movie's own)", valueName: "w h"))
  var dimensions: Dimensions?

  @Option(help: ArgumentHelp("Encode only this many frames.", valueName: "n"))
  var frames: Int?

  @Option(
    help: ArgumentHelp(
      "Pixel format of the pictures given to the encoder; x420 has 10 bits. (default: y420; x420 with "
        + "--profile main10)", valueName: "format"))
  var pixelFormat: PixelFormat?

  @Option(
    help: ArgumentHelp(
      "Settings that the encoder suggests. (default: the encoder's own)", valueName: "name"))
  var preset: Preset?

  @Option(
    help: ArgumentHelp(
      "The profile: with hvc1 main or main10, with avc1 any but main10. (default: the encoder's own)",
      valueName: "name"))
  var profile: Profile?

  @Option(help: ArgumentHelp("At most this many frames from one key frame to the next.", valueName: "n"))
  var keyframeInterval: Int?

  @Option(help: ArgumentHelp("At most this many seconds from one key frame to the next.", valueName: "s"))
  var keyframeDuration: Double?

  @Option(help: ArgumentHelp("Frames that the encoder looks ahead to share out the bits.", valueName: "n"))
  var lookAheadFrames: Int?

  @Option(
    help: ArgumentHelp(
      "Whether the quantiser follows the activity within a picture. (default: the encoder's own)",
      valueName: "level"))
  var spatialAdaptiveQP: SpatialAdaptiveQP?

  @Flag(help: "Hold the bit rate constant: short frames are filled up.")
  var cbr = false

  @Flag(help: "Spend less power, at some cost in size or quality.")
  var savePower = false

  @Option(
    help: ArgumentHelp("Threads of the encoder. (default: by the number of processors)", valueName: "n"))
  var threads: Int?

  @Option(
    name: .customLong("fps"),
    help: ArgumentHelp(
      "Frames a second of a raw stream, which has no times. (default: what the stream says, or 30)",
      valueName: "rate"))
  var framesPerSecond: Double?

  @Flag(help: "Leave the sound track out.")
  var noAudio = false

  @Flag(help: "Decode the result and print its PSNR against the source.")
  var psnr = false

  @Flag(
    help: ArgumentHelp(
      "Give up the file system, but for the movie and the output's folder, and the network before the movie is "
        + "opened: for movies from people whom you do not know. Needs landlock (Linux 5.13)."))
  var sandbox = false

  @Flag(name: .shortAndLong, help: "Print the session's settings, and a line for each frame.")
  var verbose = false

  func validate() throws {
    try dimensions?.validate()
    if let bitrate, !BitRate.allowed.contains(bitrate.bitsPerSecond) {
      throw ValidationError("--bitrate goes from 1k to 1000M (bits a second); try --bitrate 1500k.")
    }
    try check("--frames", frames, in: 1...Int(Int32.max))
    try check("--keyframe-interval", keyframeInterval, in: 1...Int(Int32.max))
    try check("--look-ahead-frames", lookAheadFrames, in: 0...250)
    try check("--threads", threads, in: 1...128)
    if let keyframeDuration, !(keyframeDuration > 0 && keyframeDuration <= 86_400) {
      throw ValidationError("--keyframe-duration must be more than 0 seconds and at most a day.")
    }
    if let framesPerSecond, !(framesPerSecond >= 0.1 && framesPerSecond <= 1000) {
      throw ValidationError("--fps goes from 0.1 to 1000.")
    }
    if let profile, profile.level(for: codec) == nil {
      let choices = Profile.choices(for: codec).joined(separator: ", ")
      throw ValidationError(
        "\(codec.name) has no profile '\(profile.rawValue)': with --codec \(codec.rawValue) choose \(choices)."
      )
    }
  }

  private func check(_ name: String, _ value: Int?, in range: ClosedRange<Int>) throws {
    guard let value, !range.contains(value) else { return }
    throw ValidationError(
      "\(name) goes from \(range.lowerBound) to \(range.upperBound); \(value) is outside.")
  }
}
