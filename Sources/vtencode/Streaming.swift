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
        vtencode streaming x11: --duration 10 --bitrate 4M --out screen.mp4
        vtencode streaming v4l2:/dev/video0 --out camera.mp4

      --help shows the options that are used most; --help-all shows all of them.
      """,
    aliases: ["stream"])

  @OptionGroup var options: EncodingOptions

  @OptionGroup(title: "Part of the movie", visibility: .helpAll) var range: RangeOptions
  @OptionGroup(title: "Changes of the movie", visibility: .helpAll) var changes: ChangeOptions

  @Flag(help: "Encode as fast as possible, and encode a short clip again if it misses its rate.")
  var unpaced = false

  func validate() throws { try changes.validate(with: options) }

  var furtherInputs: [String] { [changes.overlay].compactMap { $0 } }

  func run() async throws {
    try await EncodingRun.perform(
      EncodingRequest(
        options: options, purpose: .streaming, isPaced: !unpaced, range: range.range, changes: changes))
  }
}
