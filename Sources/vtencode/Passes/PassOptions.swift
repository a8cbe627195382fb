// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

extension EncodingPlan {
  /// The longest movie, in seconds, for which further passes are made without being asked for. A
  /// longer movie gives the rate control time to compensate for surprises, and takes long to encode
  /// again.
  private static let longestOnDemand = 120.0
  private static let mostOnDemand = 4
  /// The relative deviation from the bit rate above which such a pass is made.
  private static let toleranceOnDemand = 0.02

  /// Sets the number of passes.
  /// - Parameters:
  ///   - asked: the number that the user asked for; nil makes as many as necessary.
  ///   - source: the movie.
  ///   - destination: the output, which must be a file if passes are made on demand.
  mutating func setPasses(_ asked: Int?, source: MovieSource, destination: Destination) {
    // Passes distribute the bits of a bit rate, so there is one pass for a constant quality.
    passes = quality == nil ? asked ?? 1 : 1
    mayEncodeAgain = asked == nil || purpose != .transcoding
    guard asked == nil, quality == nil, !isConstantBitRate, !isPaced, destination.path != nil,
      let seconds = expectedDuration(of: source), seconds <= Self.longestOnDemand
    else { return }
    passes = Self.mostOnDemand
    makesPassesOnDemand = true
    passTolerance = Self.toleranceOnDemand
  }
}

/// The option for the number of passes.
struct PassOptions: ParsableArguments {
  static let usual = 2
  /// A segment gives the rate control less time than a movie, so it may take more passes.
  static let usualOfSegments = 4
  static let allowed = 1...10

  @Option(
    help: ArgumentHelp(
      "Go over the movie more than once (by itself a movie of up to two minutes is, where one pass misses the rate or comes "
        + "out uneven; 1 keeps it to one), to share the bits out by what its parts need: at most so many passes, 2 if no "
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
