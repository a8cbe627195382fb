// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The options for audio, subtitles and chapters.
struct AudioOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How audio is written: copied, encoded as aac, or left out (none). With auto it is copied if the "
        + "output's file type is known to play it, and encoded otherwise.", valueName: "how"))
  var audio: AudioChoice = .auto

  @Option(
    help: ArgumentHelp(
      "The bit rate of encoded audio in bits a second. (default: 64k for each channel)", valueName: "rate"),
    transform: BitRate.reading(or: BitRate.advice))
  var audioBitrate: BitRate?

  @Flag(help: "Omit the audio: --audio none.")
  var noAudio = false

  @Flag(help: "Omit subtitles, but keep chapters.")
  var noSubtitles = false

  func validate() throws {
    if noAudio, audio == .copy || audio == .aac {
      throw ValidationError("--no-audio and --audio \(audio.rawValue) exclude each other; give one of them.")
    }
    if audioBitrate != nil, noAudio || audio == .none || audio == .copy {
      throw ValidationError(
        "--audio-bitrate requires audio that is encoded; omit it or "
          + "\(noAudio ? "--no-audio" : "--audio \(audio.rawValue)").")
    }
    if let audioBitrate, !(8_000...1_024_000).contains(audioBitrate.bitsPerSecond) {
      throw ValidationError(
        "--audio-bitrate must be from 8k to 1024k (bits a second); try --audio-bitrate 128k.")
    }
  }
}
