// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The option of live commands that leaves the audio out.
struct NoAudioOption: ParsableArguments {
  @Flag(help: "Omit the audio.")
  var noAudio = false
}
