// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

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
      """,
    aliases: ["stream"])

  @OptionGroup var options: EncodingOptions

  @Flag(help: "Encode as fast as possible, and encode a short clip again if it misses its rate.")
  var unpaced = false

  func run() async throws {
    try await EncodingRun.perform(options, purpose: .streaming, isPaced: !unpaced)
  }
}
