// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FFmpegMedia
import Foundation

/// The options that all subcommands for encoding a movie share. Those that are used most are shown
/// by `--help`, and the groups by `--help-all`.
struct EncodingOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "The movie to encode: anything that libavformat reads, including Y4M and raw H.264 or HEVC; or a "
        + "sequence of pictures, such as frame%04d.png, or a .m3u8 playlist with segments below its folder. "
        + "Standard input (-) and pipes are read to their end first. Live pictures, until --duration or "
        + "Ctrl-C: x11: or x11:DISPLAY+X,Y:WIDTHxHEIGHT@RATE, a "
        + "screen; v4l2:/dev/video0:WIDTHxHEIGHT@RATE, a camera; test:WIDTHxHEIGHT@RATE, a test picture. With "
        + "--allow-network also an address: rtmp://, rtmps://, srt://, udp://, tcp://, rtsp://, http:// or "
        + "https://, also of a .m3u8 playlist."),
    completion: .file())
  var movie: String

  @Option(
    name: [.customShort("o"), .customLong("out")], parsing: .singleValue,
    help: ArgumentHelp(
      "Where to write: a .mov, .mp4, .m4v, .mkv, .ts or .flv movie, a .264 or .265 elementary stream, a .m3u8 "
        + "playlist with segments for HTTP Live Streaming, with transcoding a .gif or animated .webp (at most "
        + "640 samples a side and 25 frames a second, unless --dimensions and --fps say otherwise), - for "
        + "standard output (--format says as what), or a "
        + "server: rtmp://, rtmps://, srt://, udp://, tcp:// or "
        + "rtsp://. Several of them, each after its own --out, get the same encoding. A file gets its name "
        + "when it is complete; the file of an interrupted run has -part in its name. (default: the movie's "
        + "name and the subcommand's, as .mov, in the current folder)", valueName: "file",
      visibility: .refused(by: "split")), completion: .file())
  var outs: [String] = []

  /// The first output; nil if the user named none.
  var out: String? {
    get { outs.first }
    set { outs = [newValue].compactMap(\.self) + outs.dropFirst() }
  }

  /// The container of outputs that are not files; nil for the default one.
  var format: StreamFormat? { formatOption.format }

  @Option(
    help: ArgumentHelp(
      "The target bit rate in bits a second, such as 1500000, 1500k or 1.5M. (default: for files none but a "
        + "constant quality; for calls and streams, and with --multi-pass, --cbr or --max-rate, by size, frame "
        + "rate and codec)",
      valueName: "rate"),
    transform: BitRate.reading(or: BitRate.advice))
  var bitrate: BitRate?

  @Option(
    help: ArgumentHelp(
      "The quality in place of a bit rate, from 0 (smallest file) to 1 (best picture): 0.4, 0.5, 0.6 and 0.7 are "
        + "about as CRF 26, 22, 19 and 16 of libx264. (default: for files 0.47, about as CRF 23, with a bit rate "
        + "that is at most the source's and four times what is usual for the size; 0.7 for a single picture)",
      valueName: "0...1"))
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

  @OptionGroup var overwriting: OverwriteOption

  @Flag(
    help: ArgumentHelp(
      "Read the movie from the network, where it is an address. With 0.0.0.0 as the host, or ?listen (of srt: "
        + "?mode=listener), wait there for a sender, such as OBS.", visibility: .helpAll))
  var allowNetwork = false

  @OptionGroup(title: "Pictures", visibility: .helpAll) var picture: PictureOptions

  @OptionGroup(title: "Bit rate", visibility: .helpAll) var rate: RateOptions

  @OptionGroup(title: "Encoder", visibility: .helpAll) var encoding: EncoderOptions

  @OptionGroup(title: "Audio and text", visibility: .helpAll) var audio: AudioOptions

  @OptionGroup(title: "Output and reports", visibility: .helpAll) var formatOption: StreamFormatOption

  @OptionGroup(title: "Output and reports", visibility: .helpAll) var faststart: FaststartOption

  @OptionGroup(title: "Output and reports", visibility: .helpAll) var progressOption: ProgressOption

  @OptionGroup(title: "Output and reports", visibility: .helpAll) var reports: ReportOptions

  @OptionGroup(title: "Sandbox", visibility: .helpAll) var sandboxing: SandboxOptions

  func validate() throws {
    try dimensions?.validate()
    try LiveSource.validate(movie)
    try NetworkMovie.validate(movie, isAllowed: allowNetwork, isSandboxed: sandboxing.sandbox)
    if LiveSource.isLive(movie), sandboxing.sandbox {
      throw ValidationError(
        "--sandbox cannot be combined with a screen or a camera, which require access to the system.")
    }
    if let bitrate, !BitRate.allowed.contains(bitrate.bitsPerSecond) {
      throw ValidationError("--bitrate must be from 1k to 1000M (bits a second); try --bitrate 1500k.")
    }
    if let quality {
      guard quality >= 0, quality <= 1 else {
        throw ValidationError("--quality must be from 0 to 1; try --quality 0.6.")
      }
    }
    let rateOptions = [bitrate != nil ? "--bitrate" : nil, quality != nil ? "--quality" : nil]
      .compactMap(\.self)
    guard rateOptions.count < 2 else {
      throw ValidationError("\(rateOptions.joined(separator: " and ")) exclude each other; give one of them.")
    }
    if rate.cbr, bitrate == nil, !rateOptions.isEmpty {
      throw ValidationError("--cbr cannot be combined with \(rateOptions[0]); use --bitrate.")
    }
    if let bitrate, let highest = rate.maxRate, bitrate.bitsPerSecond > highest.bitsPerSecond {
      throw ValidationError("--bitrate is above --max-rate; lower one or raise the other.")
    }
    if dimensions == nil, picture.scaling != .letterbox {
      throw ValidationError("--scaling requires --dimensions.")
    }
    try validateOutput()
    try validateServers()
    if reports.verbose, progressOption.progress == .json {
      throw ValidationError(
        "--verbose prints text, and --progress json prints only JSON objects; give one of them.")
    }
    if let profile = encoding.profile, profile.level(for: codec) == nil {
      let choices = ProfileChoice.choices(for: codec).joined(separator: ", ")
      throw ValidationError(
        "\(codec.name) has no profile '\(profile.rawValue)': with --codec \(codec.rawValue) choose \(choices)."
      )
    }
  }

  /// The outputs by what they are: a text if one holds pictures only, nil if it holds audio.
  private var streamDescriptions: [String?] {
    outs.map { out in
      if out == "-" { return format == nil ? "a pipe without --format" : nil }
      guard Codec(streamEnding: (out as NSString).pathExtension.lowercased()) != nil,
        !StreamAddress.isAddress(out)
      else { return nil }
      return "an elementary stream"
    }
  }

  /// A text if no output holds audio; nil if one does.
  var streamDescription: String? {
    let all = streamDescriptions
    return all.allSatisfy { $0 != nil } ? all.first ?? nil : nil
  }

  /// Whether an output is a server.
  var hasServer: Bool { outs.contains { StreamAddress.isAddress($0) } }

  /// Whether an output is a playlist with segments.
  var hasPlaylist: Bool { outs.contains(where: Destination.isPlaylist) }

  /// The container for an output; nil for the default one.
  func format(for out: String?) -> StreamFormat? {
    guard let out, out == "-" || StreamAddress.isAddress(out) else { return nil }
    return format
  }

  private func validateServers() throws {
    if format != nil, !outs.contains(where: { $0 == "-" || StreamAddress.isAddress($0) }) {
      throw ValidationError(
        "--format requires --out - or a server; the format of a file is determined by its name.")
    }
    if hasServer, sandboxing.sandbox {
      throw ValidationError(
        "--sandbox gives up access to the network, which a server as --out needs; omit one of the two.")
    }
  }

  private func validateOutput() throws {
    let movieEndings: Set = ["mov", "mp4", "m4v"]
    if faststart.noFaststart, streamDescription == nil, !outs.isEmpty,
      !outs.contains(where: { movieEndings.contains(($0 as NSString).pathExtension.lowercased()) })
    {
      throw ValidationError(
        "--no-faststart has an effect on .mov, .mp4 and .m4v files only; omit it.")
    }
    guard let what = streamDescription else { return }
    if audio.audio == .copy || audio.audio == .aac {
      throw ValidationError(
        "\(what) cannot contain audio; omit --audio, or use a .mov or .mp4 file for --out.")
    }
    if audio.audioBitrate != nil {
      throw ValidationError(
        "\(what) cannot contain audio; omit --audio-bitrate, or name --out .mov or .mp4.")
    }
    if faststart.noFaststart {
      throw ValidationError("\(what) has no index; omit --no-faststart, or name --out .mov or .mp4.")
    }
  }
}
