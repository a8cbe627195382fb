// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FFmpegMedia

struct Streaming: AsyncParsableCommand, EncodingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Encodes a movie in real time, as a live stream would be.",
    discussion: """
      Frames are encoded in real time, at the times of their time stamps. There is a key frame at least every two \
      seconds, and no period of four seconds (in a short movie: half of its duration, but at least 1.75 s) has more \
      than one and a half times the bit rate. With --cbr the bit rate is constant; with --max-rate it is limited by \
      that rate and --buffer.

      Examples:
        vtencode streaming talk.mp4 --bitrate 2500k --out stream.mp4
        vtencode streaming game.mov --bitrate 6M --cbr --keyframe-duration 1
        vtencode streaming talk.mp4 --unpaced --out stream.mp4
        vtencode streaming talk.mp4 --out - | ffplay -
        vtencode streaming talk.mp4 --out rtmp://localhost/live/key --record talk-live.mkv
        vtencode streaming loop.mp4 --loop --out srt://localhost:9000 --out udp://localhost:5000
        vtencode streaming loop.mp4 --loop --out www/live.m3u8
        vtencode streaming talk.mp4 --rendition 1280x720:2500k,640x360:800k --out www/live.m3u8
        vtencode streaming talk.mp4 --out - --format mpegts | ffplay -
        vtencode streaming x11: --duration 10 --bitrate 4M --out screen.mp4
        vtencode streaming v4l2:/dev/video0 --sound pulse: --out camera.mp4
        vtencode streaming x11: --sound pulse: --out rtmp://localhost/live/key --record talk-live.mkv
        vtencode streaming rtmp://0.0.0.0:1935/live/key --allow-network --out www/live.m3u8
        vtencode streaming rtsp://camera/stream --allow-network --out camera.mp4

      --help shows the options that are used most; --help-all shows all of them.
      """,
    aliases: ["stream"])

  @OptionGroup var options: EncodingOptions

  @OptionGroup(title: "Audio and text", visibility: .helpAll) var audioSource: AudioSourceOption

  @OptionGroup(title: "Part of the movie", visibility: .helpAll) var range: RangeOptions
  @OptionGroup(title: "Changes of the movie", visibility: .helpAll) var changes: ChangeOptions

  @OptionGroup(title: "Segments", visibility: .helpAll) var segments: SegmentOptions

  @Flag(help: "Encode as fast as possible, and encode a short clip again if it misses its rate.")
  var unpaced = false

  @Option(
    help: ArgumentHelp(
      "A file that gets the same encoding as the server of --out.", valueName: "file"),
    completion: .file())
  var record: String?

  @Flag(help: "Begin the movie again when it has come to its end, until Ctrl-C or --frames.")
  var loop = false

  mutating func validate() throws {
    try changes.validate(with: options)
    try segments.validate(with: options, defaultKind: .window)
    try audioSource.validate(with: options, changes)
    if audioSource.audio != nil, unpaced, !LiveSource.isLive(options.movie) {
      throw ValidationError(
        "--sound cannot be combined with --unpaced, because audio is recorded in real time.")
    }
    if let record {
      guard options.hasServer || options.out == "-" else {
        throw ValidationError("--record requires a server or - as --out.")
      }
      guard record != "-", !StreamAddress.isAddress(record) else {
        throw ValidationError("--record requires a file name; use --out for servers and standard output.")
      }
      options.outs.append(record)
    }
    if loop, LiveSource.isReadOnce(options.movie) {
      let reason = LiveSource.isLive(options.movie) ? "live" : "read once"
      throw ValidationError("--loop repeats a movie, and '\(options.movie)' is \(reason); omit it.")
    }
    if loop, options.reports.psnr {
      throw ValidationError("--psnr reads the movie once, and --loop repeats it; omit one of them.")
    }
  }

  var furtherInputs: [String] { [changes.overlay, segments.hlsKey].compactMap { $0 } }

  func run() async throws {
    try await EncodingRun.perform(
      EncodingRequest(
        options: options, purpose: .streaming, isPaced: !unpaced, range: range.range, changes: changes,
        repeatsMovie: loop, audio: audioSource.audio, segments: try segments.plan(defaultKind: .window),
        renditions: segments.rendition?.renditions ?? []))
  }
}
