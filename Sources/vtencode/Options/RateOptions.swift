// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The options about the bit rate, other than the rate itself.
struct RateOptions: ParsableArguments {
  @Flag(help: "Keep the bit rate constant, with filler data after frames that are too small.")
  var cbr = false

  @Option(
    help: ArgumentHelp(
      "The highest bit rate in bits a second at which a decoder's buffer fills, such as 4.5M: no part of the "
        + "stream needs more than this rate and the contents of the buffer.", valueName: "rate"),
    transform: BitRate.reading(or: BitRate.advice))
  var maxRate: BitRate?

  @Option(
    help: ArgumentHelp(
      "The size of the decoder's buffer in seconds of --max-rate, or with --cbr of the bit rate. (default: "
        + "2.5, with --cbr 0.5)",
      valueName: "s"))
  var buffer: Double?

  @Flag(
    help: ArgumentHelp(
      "Describe the decoder's buffer in the stream, and when each frame is removed from it (HRD parameters, "
        + "buffering period and picture timing SEI messages). For streaming, --cbr or --max-rate."))
  var bufferTiming = false

  func validate() throws {
    if let maxRate {
      guard BitRate.allowed.contains(maxRate.bitsPerSecond) else {
        throw ValidationError("--max-rate must be from 1k to 1000M (bits a second); try --max-rate 4500k.")
      }
      if cbr { throw ValidationError("--cbr already limits the rate; omit --max-rate.") }
    }
    if let buffer {
      guard buffer >= 0.1, buffer <= 60 else {
        throw ValidationError("--buffer must be from 0.1 to 60 seconds.")
      }
      guard cbr || maxRate != nil else {
        throw ValidationError(
          "--buffer is the size of a decoder's buffer for --max-rate or --cbr; give one of them.")
      }
    }
  }
}
