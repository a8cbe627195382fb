// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// How often a run goes over its source.
struct PassOptions: ParsableArguments {
  static let usual = 2
  /// A segment has less time to come right than a movie.
  static let usualOfSegments = 4
  static let allowed = 1...10

  @Option(
    help: ArgumentHelp(
      "Go over the movie more than once, to share the bits out by what its parts need: at most so many passes, 2 if no "
        + "number follows. A third and later ones are made where the rate is missed by more than 0.5 %, where that is enough over parts of the "
        + "movie alone if the encoder is this package's own. Frames and "
        + "statistics wait on disk beside the output.", valueName: "n"))
  var multiPass: Int?

  func validate(with options: EncodingOptions) throws {
    guard let multiPass else { return }
    guard Self.allowed.contains(multiPass) else {
      throw ValidationError(
        "--multi-pass goes from \(Self.allowed.lowerBound) to \(Self.allowed.upperBound); \(multiPass) is outside."
      )
    }
    guard multiPass > 1 else { return }
    if options.quality != nil {
      throw ValidationError(
        "--multi-pass shares out the bits of a rate, so --quality cannot go with it; give --bitrate.")
    }
    if options.cbr {
      throw ValidationError("--cbr leaves nothing to share out, so --multi-pass cannot go with it.")
    }
  }
}
