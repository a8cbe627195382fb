// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

struct Streaming: AsyncParsableCommand, EncodingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Encodes a movie at its own pace, as a live stream would be.",
    discussion: """
      Frames come when a clock says that they are due, and the session encodes in real time: a key frame at \
      least every two seconds, and no four seconds (of a short movie: half of it, but at least 1.75 s) with more \
      than one and a half times the bit rate (with --cbr: always the bit rate; with --max-rate: no more than that \
      and what --buffer holds).

      Examples:
        vtencode streaming talk.mp4 --bitrate 2500k --out stream.mp4
        vtencode streaming game.mov --bitrate 6M --cbr --keyframe-duration 1
        vtencode streaming talk.mp4 --unpaced --out stream.mp4
        vtencode streaming talk.mp4 --out - | ffplay -
      """,
    aliases: ["stream"])

  @OptionGroup var options: EncodingOptions

  @Flag(help: "Do not wait for the frames' times, and encode a short clip again if it misses its rate.")
  var unpaced = false

  func run() async throws {
    try await EncodingRun.perform(options, purpose: .streaming, isPaced: !unpaced)
  }
}
