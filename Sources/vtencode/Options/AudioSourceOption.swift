// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The option that records audio with the pictures.
struct AudioSourceOption: ParsableArguments {
  @Option(
    name: .customLong("sound"),
    help: ArgumentHelp(
      "Record audio in place of the movie's: pulse:, the microphone of PulseAudio or PipeWire, or pulse:NAME "
        + "for another of its sources; alsa:NAME, a device of ALSA, such as alsa:default; test:, a tone.",
      valueName: "source"),
    transform: AudioSource.reading(or: AudioSource.advice))
  var audio: AudioSource?

  /// Checks that the option has an effect, and that no other one contradicts it.
  /// - Parameters:
  ///   - options: the run's options.
  ///   - changes: the changes of the movie.
  func validate(with options: EncodingOptions, _ changes: ChangeOptions) throws {
    guard audio != nil else { return }
    let refused = [
      ("--no-audio", options.audio.noAudio), ("--audio none", options.audio.audio == .none),
      ("--audio copy", options.audio.audio == .copy), ("--audio-track", changes.audioTrack != nil),
    ]
    if let (name, _) = refused.first(where: \.1) {
      throw ValidationError("--sound records audio, which \(name) does not write; omit one of them.")
    }
    if let what = options.streamDescription {
      throw ValidationError("\(what) cannot contain audio; omit --sound, or name --out .mov or .mp4.")
    }
    try Self.validate(isSandboxed: options.sandboxing.sandbox)
  }

  static func validate(isSandboxed: Bool) throws {
    if isSandboxed {
      throw ValidationError(
        "--sandbox is for movies; a microphone needs access to the system, so omit one of the two.")
    }
  }
}
