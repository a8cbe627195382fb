// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

// Options about the output that several subcommands share.

struct FaststartOption: ParsableArguments {
  @Flag(help: "Do not move the index to the front of the file, where players on the web want it.")
  var noFaststart = false
}

struct OverwriteOption: ParsableArguments {
  @Flag(
    help: "Replace an existing output without asking. Otherwise a user is asked, and a script gets an error."
  )
  var overwrite = false
}

struct ProgressOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How progress is reported: auto, json (one object per line on standard error) or none (notices only).",
      valueName: "how"))
  var progress: ProgressStyle = .auto
}
