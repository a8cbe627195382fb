// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The option `--effort`, which has the same scale in all subcommands that encode.
struct EffortOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How hard the encoder works, from 0 (fastest) to 9 (best). (default: by the preset, 5 for a file without one, 3 in "
        + "call; in real time as this machine can)",
      valueName: "0...9"))
  var effort: Int?

  /// `--speed`, the former name of `--effort`.
  @Option(name: .customLong("speed"), help: .hidden)
  var speed: Int?

  /// The effort that was asked for, 0 to 9; nil if none was.
  var value: Int? { effort ?? speed }

  func validate() throws {
    if effort != nil, speed != nil {
      throw ValidationError("--speed is the former name of --effort; give one of them.")
    }
    if let value, !(0...9).contains(value) {
      throw ValidationError("--effort goes from 0 (fastest) to 9 (best); \(value) is outside.")
    }
  }
}
