// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import VideoToolbox

extension EncodingPlan {
  /// The longest movie, in seconds, for which further passes are made by default. In a longer movie
  /// the rate control can compensate for prediction errors, and another pass takes long.
  private static let longestOnDemand = 120.0
  private static let maxPassesOnDemand = 4
  /// The duration in seconds below which an encoder without passes on demand makes two passes
  /// without being asked for.
  private static let shortClip = 5.0
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
    guard asked == nil, !hasFullChroma, quality == nil, !isConstantBitRate, !isPaced,
      destination.path != nil,
      let seconds = expectedDuration(of: source), seconds <= Self.longestOnDemand
    else { return }
    makesPassesOnDemand = encoderSupports(
      kOVTCompressionPropertyKey_MakesPassesOnDemand, codec.type, encoderID: encoderID)
    // Other encoders choose the QP of the first frames before they know one. In a clip of a few
    // seconds nothing that follows can make up for it.
    guard
      makesPassesOnDemand
        || seconds < Self.shortClip && encoderMakesPasses(codec.type, encoderID: encoderID)
    else { return }
    passes = Self.maxPassesOnDemand
    passesAreOptional = true
    passTolerance = Self.toleranceOnDemand
  }
}

/// The option for the number of passes.
struct PassOptions: ParsableArguments {
  static let defaultCount = 2
  /// A segment gives the rate control less time than a movie, so it may take more passes.
  static let defaultForSegments = 4
  static let allowed = 1...10

  @Option(
    help: ArgumentHelp(
      "Encode in at most this many passes, 2 if no number follows, to distribute the bits by the complexity "
        + "of the movie's parts. A third or later pass is made only if the rate is missed by more than 0.5 "
        + "%; with the package's own encoder it covers only parts of the movie if that suffices. Without "
        + "this option, a movie of up to two minutes is encoded again if one pass misses the rate or its "
        + "quality is uneven; 1 prevents that. Frames and statistics are stored next to the output.",
      valueName: "n"))
  var multiPass: Int?

  func validate(with options: EncodingOptions) throws {
    guard let multiPass else { return }
    guard Self.allowed.contains(multiPass) else {
      throw ValidationError(
        "--multi-pass must be from \(Self.allowed.lowerBound) to \(Self.allowed.upperBound), not \(multiPass)."
      )
    }
    guard multiPass > 1 else { return }
    if options.quality != nil {
      throw ValidationError(
        "--multi-pass cannot be combined with --quality, because it distributes the bits of a bit rate; use --bitrate."
      )
    }
    if options.rate.cbr {
      throw ValidationError(
        "--multi-pass cannot be combined with --cbr, because a constant rate leaves no bits to distribute.")
    }
  }
}
