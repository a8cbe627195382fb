// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

struct Transcoding: AsyncParsableCommand, EncodingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Encodes a movie as fast as the machine can, to keep or to publish.",
    discussion: """
      The picture is decoded, scaled if --dimensions asks for it, and encoded through VTCompressionSession; \
      sound is copied if the output's file type plays it, and encoded as AAC otherwise. The bit rate follows \
      the picture's size, and never exceeds the source's unless asked to. At the end a summary tells what was \
      written.

      Examples:
        vtencode transcoding holiday.mov --out small.mp4
        vtencode transcoding holiday.mov --codec hvc1 --preset highQuality
        vtencode transcoding clip.y4m --dimensions 640 360 --bitrate 800k --psnr
        vtencode transcoding clip.mkv --quality 0.6 --audio aac --out clip.mp4 --overwrite
        vtencode transcoding lecture.mp4 --bitrate 800k --multi-pass --out small.mp4
        vtencode transcoding film.mov --bitrate 4M --jobs 8 --out film.mp4
        vtencode transcoding film.mov --bitrate 4M --max-rate 6M --buffer 2 --out film.mp4
        vtencode transcoding film.mov --bitrate 4M --cbr --buffer-timing --jobs 8 --out film.mp4
        vtencode transcoding clip.mp4 --frames 100 --out - | ffplay -
        curl -s https://example.org/clip.mp4 | vtencode transcoding - --out clip.mp4
      """,
    aliases: ["transcode"])

  @OptionGroup var options: EncodingOptions
  @OptionGroup var passOptions: PassOptions
  @OptionGroup var jobOptions: JobOptions

  func validate() throws {
    try passOptions.validate(with: options)
    try jobOptions.validate(with: options)
  }

  func run() async throws {
    if let jobs = jobOptions.jobs {
      return try await JobsRun.perform(options, passes: passOptions.multiPass, jobs: jobs)
    }
    try await EncodingRun.perform(
      options, purpose: .transcoding, isPaced: false, passes: passOptions.multiPass)
  }
}
