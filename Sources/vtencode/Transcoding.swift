// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

struct Transcoding: AsyncParsableCommand, EncodingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Encodes a movie as fast as the machine can, to keep or to publish.",
    discussion: """
      The picture is decoded, scaled if --dimensions asks for it, and encoded through VTCompressionSession; \
      audio is copied if the output's file type plays it, and encoded as AAC otherwise. The quality is \
      constant, and the bit rate is at most about the source's, unless asked to. At the end a summary tells what was \
      written.

      Examples:
        vtencode transcoding holiday.mov --out small.mp4
        vtencode transcoding *.mp4 --dimensions 1280 720 --out small/
        vtencode transcoding talk.mp4 --start 1:30 --duration 20 --out part.mp4
        vtencode transcoding clip.mp4 --target-size 25M --out mail.mp4
        vtencode transcoding clip.mp4 --start 5 --duration 3 --dimensions 320 180 --out clip.gif
        vtencode transcoding clip.mp4 --crop 640x360+100+50 --rotate 90 --fps 30 --out clip2.mp4
        vtencode transcoding film.mp4 --burn-subtitles film.srt --overlay logo.png --overlay-at -20,20 --out out.mp4
        vtencode transcoding film.mp4 --rendition 1920x1080,1280x720,640x360 --out www/film.m3u8
        vtencode transcoding one.mp4 two.mp4 --join --out both.mp4
        vtencode transcoding holiday.mov --codec hevc --preset highQuality
        vtencode transcoding lecture.mp4 --bitrate 800k --multi-pass --out small.mp4
        vtencode transcoding film.mov --bitrate 4M --max-rate 6M --buffer 2 --jobs 8 --out film.mp4
        vtencode transcoding https://example.org/film.m3u8 --allow-network --out film.mp4
        vtencode transcoding x11: --sound pulse: --duration 10 --out screen.mp4
        curl -s https://example.org/clip.mp4 | vtencode transcoding - --out clip.mp4

      --help shows the options that are used most; --help-all shows all of them.
      """,
    aliases: ["transcode"])

  @OptionGroup var options: EncodingOptions
  @OptionGroup(title: "Audio and text", visibility: .helpAll) var audioSource: AudioSourceOption

  @OptionGroup(title: "Several movies", visibility: .helpAll) var several: SeveralMovieOptions
  @OptionGroup(title: "Part of the movie", visibility: .helpAll) var range: RangeOptions
  @OptionGroup(title: "Changes of the movie", visibility: .helpAll) var changes: ChangeOptions
  @OptionGroup(title: "Bit rate", visibility: .helpAll) var sizeOptions: TargetSizeOption
  @OptionGroup(title: "Passes and processes", visibility: .helpAll) var passOptions: PassOptions
  @OptionGroup(title: "Passes and processes", visibility: .helpAll) var jobOptions: JobOptions

  @OptionGroup(title: "Segments", visibility: .helpAll) var segments: SegmentOptions

  func validate() throws {
    try changes.validate(with: options)
    try segments.validate(with: options, defaultKind: .vod)
    try several.validate(with: options)
    try audioSource.validate(with: options, changes)
    if audioSource.audio != nil, !LiveSource.isLive(options.movie) {
      throw ValidationError(
        "--sound records in real time: with transcoding from live pictures (x11:, v4l2: or test:) alone; "
          + "with a movie use vtencode streaming.")
    }
    try sizeOptions.validate(with: options)
    try passOptions.validate(with: options)
    try jobOptions.validate(with: options)
    if options.outs.count > 1, let name = jobOptions.jobs != nil ? "--jobs" : nil {
      throw ValidationError("\(name) writes one file; give --out once.")
    }
    if options.outs.count > 1, !several.further.isEmpty, !several.join {
      throw ValidationError("several movies go to one folder; give --out once.")
    }
    if jobOptions.jobs != nil,
      let name = range.givenName ?? changes.givenName ?? sizeOptions.givenName
        ?? (several.join ? "--join" : nil)
    {
      throw ValidationError(
        "--jobs divides one whole movie into segments, so it cannot be combined with \(name); omit one of them."
      )
    }
    if segments.rendition != nil {
      let name = (passOptions.multiPass ?? 1) > 1 ? "--multi-pass" : sizeOptions.givenName
      if let name {
        throw ValidationError(
          "--rendition encodes in one pass, so it cannot be combined with \(name); omit one of them.")
      }
    }
    let again =
      jobOptions.jobs != nil
      ? "--jobs" : (passOptions.multiPass ?? 1) > 1 ? "--multi-pass" : sizeOptions.givenName
    if LiveSource.isReadOnce(options.movie), let again {
      let reason = LiveSource.isLive(options.movie) ? "live" : "read once"
      throw ValidationError(
        "\(again) reads the source again, and '\(options.movie)' is \(reason); omit it.")
    }
  }

  var furtherMovies: [String] { several.join ? several.further : [] }
  var furtherInputs: [String] { [changes.overlay, segments.hlsKey].compactMap(\.self) }

  func run() async throws {
    guard !several.further.isEmpty, !several.join else {
      return try await encode(options, joining: several.further)
    }
    try await SeveralMovies(
      movies: [options.movie] + several.further, options: options, otherInputs: changes.files
    ).run { options in
      try await encode(options, joining: [])
    }
  }

  private func encode(_ options: EncodingOptions, joining others: [String]) async throws {
    var options = options
    if let out = options.out, several.isFolder(out) {
      try SeveralMovies.makeFolder(out)
      options.out = SeveralMovies.path(of: options.movie, in: out)
    }
    if let jobs = jobOptions.jobs {
      return try await JobsRun.perform(options, passes: passOptions.multiPass, jobs: jobs)
    }
    let request = EncodingRequest(
      options: options, purpose: .transcoding, passes: passOptions.multiPass, range: range.range,
      changes: changes, joined: others, targetSize: sizeOptions.targetSize?.bytes, audio: audioSource.audio,
      segments: try segments.plan(defaultKind: .vod), renditions: segments.rendition?.renditions ?? [])
    if let out = options.outs.first(where: { AnimationRun.format(of: $0) != nil }),
      let format = AnimationRun.format(of: out)
    {
      return try await AnimationRun(request, format: format, path: out).perform()
    }
    try await EncodingRun.perform(request)
  }
}

/// The option for the size of the file.
struct TargetSizeOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The largest size of the file, such as 25M: the bit rate follows from it and the duration, and the movie "
        + "is encoded again if the file became larger.", valueName: "bytes"),
    transform: ByteSize.reading(or: ByteSize.advice))
  var targetSize: ByteSize?

  var givenName: String? { targetSize == nil ? nil : "--target-size" }

  func validate(with options: EncodingOptions) throws {
    guard let targetSize else { return }
    guard targetSize.bytes >= 10_000 else {
      throw ValidationError("--target-size is at least 10k (bytes); try --target-size 25M.")
    }
    if let name = options.bitrate != nil ? "--bitrate" : options.quality != nil ? "--quality" : nil {
      throw ValidationError(
        "--target-size cannot be combined with \(name), because it determines the bit rate.")
    }
    if options.rate.cbr {
      throw ValidationError(
        "--target-size decides the rate, so it cannot be combined with --cbr; give --bitrate.")
    }
    if options.out == "-" || options.hasServer || options.hasPlaylist || options.outs.count > 1 {
      throw ValidationError(
        "--target-size checks the file, so --out has to name one file; omit the others.")
    }
  }
}
