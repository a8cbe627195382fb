// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The option for the container of outputs that are not files.
struct StreamFormatOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "With --out -, tcp://, udp:// or srt://: the container, with audio: mpegts, mp4 (in fragments), "
        + "matroska or flv. (default: an elementary stream of the pictures on standard output, mpegts to a "
        + "server)", valueName: "container"))
  var format: StreamFormat?
}
