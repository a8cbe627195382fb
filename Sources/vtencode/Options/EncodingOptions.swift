// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation

/// The options that all subcommands for encoding a movie share.
struct EncodingOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "The movie to encode: anything that libavformat reads, including Y4M and raw H.264 or HEVC; or a "
        + "sequence of pictures, such as frame%04d.png. Standard input (-) and pipes are read to their end "
        + "first."),
    completion: .file())
  var movie: String

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Where to write: a .mov, .mp4 or .m4v movie, a .264 or .265 elementary stream, or - for an elementary "
        + "stream on standard output. The file gets its name when it is complete; the file of an interrupted "
        + "run has -part in its name. (default: the movie's name and the subcommand's, as .mov, in the "
        + "current folder)", valueName: "file"),
    completion: .file())
  var out: String?

  @Option(
    help: ArgumentHelp(
      "The target bit rate in bits a second, such as 1500000, 1500k or 1.5M. (default: by size, frame rate "
        + "and codec)",
      valueName: "rate"))
  var bitrate: BitRate?

  @Option(
    help: ArgumentHelp(
      "The quality in place of a bit rate, from 0 (smallest file) to 1 (best picture). A single picture, "
        + "which has no bit rate, gets 0.7 by default.", valueName: "0...1"))
  var quality: Double?

  @Option(
    help: ArgumentHelp(
      "The codec, by its name or its four-character code: h264 or avc1, hevc or hvc1.", valueName: "codec"))
  var codec: Codec = .avc1

  @Option(
    help: ArgumentHelp(
      "Width and height of the picture as displayed, after any rotation and with square samples. (default: "
        + "the movie's own)", valueName: "w h"),
    transform: Dimensions.reading(or: Dimensions.advice))
  var dimensions: Dimensions?

  @Option(
    help: ArgumentHelp(
      "How a picture is fitted if its aspect ratio differs from that of --dimensions: with black bars, with "
        + "its edges cut off, or stretched.",
      valueName: "how"))
  var scaling: Scaling = .letterbox

  @Option(
    help: ArgumentHelp(
      "How interlaced pictures are deinterlaced: one picture for each frame, or one for each field, which "
        + "doubles the frame rate.",
      valueName: "how"))
  var deinterlace: Deinterlacing = .frame

  @Flag(help: "Do not deinterlace interlaced pictures.")
  var noDeinterlace = false

  @Option(help: ArgumentHelp("Encode only this many frames.", valueName: "n"))
  var frames: Int?

  @Option(
    help: ArgumentHelp(
      "Pixel format of the pictures given to the encoder; x420 has 10 bits. (default: y420, in conferencing "
        + "420v; x420 with --profile main10, and for 10-bit sources with HEVC, except in conferencing and "
        + "with --profile main)",
      valueName: "format"))
  var pixelFormat: PixelFormatChoice?

  @Option(
    help: ArgumentHelp(
      "The encoder, by its id; see vtencode encoders. (default: the one that suits the command best)",
      valueName: "id"))
  var encoder: String?

  @Option(
    help: ArgumentHelp(
      "A preset of the encoder's settings. (default: none)", valueName: "name"))
  var preset: Preset?

  @Option(
    help: ArgumentHelp(
      "The profile: with hvc1 main or main10, with avc1 any but main10. (default: the encoder's own)",
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

  @Flag(help: "Keep the bit rate constant, with filler data after frames that are too small.")
  var cbr = false

  @Option(
    help: ArgumentHelp(
      "The highest bit rate in bits a second at which a decoder's buffer fills, such as 4.5M: no part of the "
        + "stream needs more than this rate and the contents of the buffer.", valueName: "rate"))
  var maxRate: BitRate?

  @Option(
    help: ArgumentHelp(
      "The size of the decoder's buffer in seconds of --max-rate, or with --cbr of the bit rate. (default: "
        + "2.5, with --cbr 0.5)",
      valueName: "s"))
  var buffer: Double?

  @Flag(
    help: ArgumentHelp(
      "Describe the decoder's buffer in the stream, and when each frame is removed from it (HRD parameters, "
        + "buffering period and picture timing SEI messages). For streaming, --cbr or --max-rate."))
  var bufferTiming = false

  @OptionGroup var effort: EffortOption

  @Flag(help: "Spend less power, at some cost in size or quality.")
  var savePower = false

  static let threadCounts = 1...128
  /// File name extensions of elementary streams.
  private static let streamEndings: Set = ["264", "h264", "avc", "265", "h265", "hevc"]

  @Option(
    help: ArgumentHelp(
      "Threads of the encoder; the package's own uses 16 at most. (default: by the number of processors)",
      valueName: "n"))
  var threads: Int?

  @Option(
    name: [.customLong("frame-rate"), .customLong("fps")],
    help: ArgumentHelp(
      "The frame rate, in frames a second, of a raw stream or of a sequence of pictures, which have no time "
        + "stamps. (default: the stream's own, or 30)", valueName: "rate"))
  var framesPerSecond: Double?

  @Option(
    help: ArgumentHelp(
      "How sound is written: copied, encoded as aac, or left out (none). With auto it is copied if the "
        + "output's file type is known to play it, and encoded otherwise.", valueName: "how"))
  var audio: SoundChoice = .auto

  @Option(
    help: ArgumentHelp(
      "The bit rate of encoded sound in bits a second. (default: 64k for each channel)", valueName: "rate"))
  var audioBitrate: BitRate?

  @Flag(help: "Leave the sound out: --audio none.")
  var noAudio = false

  @Flag(help: "Leave subtitles out, but keep chapters.")
  var noSubtitles = false

  @OptionGroup var faststart: FaststartOption

  @OptionGroup var overwriting: OverwriteOption

  @OptionGroup var telling: ProgressOption

  @Flag(help: "Decode the result and print its PSNR against the source.")
  var psnr = false

  @OptionGroup var sandboxing: SandboxOptions

  @Flag(name: .shortAndLong, help: "Print the session's settings, and a line for each frame.")
  var verbose = false

  func validate() throws {
    try dimensions?.validate()
    if let bitrate, !BitRate.allowed.contains(bitrate.bitsPerSecond) {
      throw ValidationError("--bitrate goes from 1k to 1000M (bits a second); try --bitrate 1500k.")
    }
    if let quality {
      guard quality >= 0, quality <= 1 else {
        throw ValidationError("--quality goes from 0 to 1; try --quality 0.6.")
      }
    }
    let wishes = [bitrate != nil ? "--bitrate" : nil, quality != nil ? "--quality" : nil]
      .compactMap(\.self)
    guard wishes.count < 2 else {
      throw ValidationError("\(wishes.joined(separator: " and ")) exclude each other; give one of them.")
    }
    if cbr, bitrate == nil, !wishes.isEmpty {
      throw ValidationError("--cbr keeps a bit rate, so \(wishes[0]) cannot go with it; give --bitrate.")
    }
    try validateBuffer()
    if noAudio, audio == .copy || audio == .aac {
      throw ValidationError("--no-audio and --audio \(audio.rawValue) exclude each other; give one of them.")
    }
    if audioBitrate != nil, noAudio || audio == .none || audio == .copy {
      throw ValidationError(
        "--audio-bitrate is for sound that is encoded; leave it or \(noAudio ? "--no-audio" : "--audio \(audio.rawValue)") "
          + "out.")
    }
    if noDeinterlace, deinterlace != .frame {
      throw ValidationError("--no-deinterlace and --deinterlace exclude each other; give one of them.")
    }
    if dimensions == nil, scaling != .letterbox {
      throw ValidationError("--scaling is for --dimensions; give these too, or leave it out.")
    }
    if let out, out == "-" || Self.streamEndings.contains((out as NSString).pathExtension.lowercased()) {
      let what = out == "-" ? "a pipe" : "an elementary stream"
      if audio == .copy || audio == .aac {
        throw ValidationError("\(what) holds no sound; leave --audio out, or name --out .mov or .mp4.")
      }
      if audioBitrate != nil {
        throw ValidationError(
          "\(what) holds no sound; leave --audio-bitrate out, or name --out .mov or .mp4.")
      }
      if faststart.noFaststart {
        throw ValidationError("\(what) has no index; leave --no-faststart out, or name --out .mov or .mp4.")
      }
    }
    if let audioBitrate, !(8_000...1_024_000).contains(audioBitrate.bitsPerSecond) {
      throw ValidationError(
        "--audio-bitrate goes from 8k to 1024k (bits a second); try --audio-bitrate 128k.")
    }
    if verbose, telling.progress == .json {
      throw ValidationError(
        "--verbose prints text, and --progress json prints only JSON objects; give one of them.")
    }
    try check("--frames", frames, in: 1...Int(Int32.max))
    try check("--keyframe-interval", keyframeInterval, in: 1...Int(Int32.max))
    try check("--look-ahead-frames", lookAheadFrames, in: 0...250)
    try check("--threads", threads, in: Self.threadCounts)
    if let keyframeDuration, !(keyframeDuration > 0 && keyframeDuration <= 86_400) {
      throw ValidationError("--keyframe-duration must be more than 0 seconds and at most a day.")
    }
    if let framesPerSecond, !(framesPerSecond >= 0.1 && framesPerSecond <= 1000) {
      throw ValidationError("--frame-rate goes from 0.1 to 1000.")
    }
    if let profile, profile.level(for: codec) == nil {
      let choices = ProfileChoice.choices(for: codec).joined(separator: ", ")
      throw ValidationError(
        "\(codec.name) has no profile '\(profile.rawValue)': with --codec \(codec.rawValue) choose \(choices)."
      )
    }
  }

  private func validateBuffer() throws {
    if let maxRate {
      guard BitRate.allowed.contains(maxRate.bitsPerSecond) else {
        throw ValidationError("--max-rate goes from 1k to 1000M (bits a second); try --max-rate 4500k.")
      }
      if cbr { throw ValidationError("--cbr already limits the rate; leave --max-rate out.") }
      if let bitrate, bitrate.bitsPerSecond > maxRate.bitsPerSecond {
        throw ValidationError("--bitrate is above --max-rate; lower one or raise the other.")
      }
    }
    if let buffer {
      guard buffer >= 0.1, buffer <= 60 else {
        throw ValidationError("--buffer goes from 0.1 to 60 seconds.")
      }
      guard cbr || maxRate != nil else {
        throw ValidationError(
          "--buffer is the size of a decoder's buffer for --max-rate or --cbr; give one of them.")
      }
    }
  }

  private func check(_ name: String, _ value: Int?, in range: ClosedRange<Int>) throws {
    guard let value, !range.contains(value) else { return }
    throw ValidationError(
      "\(name) goes from \(range.lowerBound) to \(range.upperBound); \(value) is outside.")
  }
}
