// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The options for what a run reports in addition to its summary.
struct ReportOptions: ParsableArguments {
  @Flag(help: "Decode the result and print its PSNR against the source.")
  var psnr = false

  @Flag(name: .shortAndLong, help: "Print the session's settings, and a line for each frame.")
  var verbose = false
}
