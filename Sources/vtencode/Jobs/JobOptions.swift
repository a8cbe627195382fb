// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The option for the number of processes.
struct JobOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Divide the movie into segments and encode this many at a time, each with one thread unless --threads "
        + "says otherwise; the bits are distributed by the complexity of the segments.", valueName: "n"))
  var jobs: Int?

  func validate(with options: EncodingOptions) throws {
    guard let jobs else { return }
    guard (1...1024).contains(jobs) else {
      throw ValidationError("--jobs must be from 1 to 1024, not \(jobs).")
    }
    for (name, isGiven) in [
      ("--psnr", options.reports.psnr), ("--sandbox", options.sandboxing.sandbox),
      ("--verbose", options.reports.verbose),
    ] where isGiven {
      throw ValidationError(
        "--jobs starts processes of its own, so it cannot be combined with \(name); omit one of them.")
    }
  }
}
