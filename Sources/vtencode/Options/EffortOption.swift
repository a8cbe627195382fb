// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The option `--effort`, which has the same scale in all subcommands that encode.
struct EffortOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The encoder's effort, from 0 (fastest) to 9 (best). (default: the preset's, or 5; in call 3; in real "
        + "time adapted to the speed of this machine)",
      valueName: "0...9"))
  var effort: Int?

  /// `--speed`, the former name of `--effort`.
  @Option(name: .customLong("speed"), help: .private)
  var speed: Int?

  /// The effort that was asked for, 0 to 9; nil if none was.
  var value: Int? { effort ?? speed }

  func validate() throws {
    if effort != nil, speed != nil {
      throw ValidationError("--speed is the former name of --effort; give one of them.")
    }
    if let value, !(0...9).contains(value) {
      throw ValidationError("--effort must be from 0 (fastest) to 9 (best), not \(value).")
    }
  }
}
