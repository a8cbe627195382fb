// SPDX-License-Identifier: Apache-2.0

/// 4:4:4 (`--profile high444`), which the encoder codes picture by picture: there is no look-ahead,
/// and so no decoder's buffer, no further pass and no segment that is encoded by itself.
extension EncodingPlan {
  /// Whether pictures are 4:4:4.
  var hasFullChroma: Bool { profile == .high444 }

  /// Checks that nothing was asked for that takes a look-ahead, or pictures of 4:2:0.
  ///
  /// - Parameters:
  ///   - options: the options of the run.
  ///   - source: the movie, with what is done to it.
  /// - Throws: `Failure` that names the option to leave out.
  func checkFullChroma(_ options: EncodingOptions, source: MovieSource) throws {
    guard hasFullChroma else { return }
    let excluded = [
      ("--multi-pass", passes > 1), ("--cbr", options.rate.cbr), ("--max-rate", options.rate.maxRate != nil),
      ("--buffer-timing", options.rate.bufferTiming),
      ("--look-ahead-frames", (options.encoding.lookAheadFrames ?? 0) > 0),
    ]
    if let option = excluded.first(where: { $0.1 })?.0 {
      throw Failure(
        "\(option) requires a look-ahead, which --profile high444 does not support; omit one of them",
        status: 64)
    }
    if let format = options.picture.pixelFormat, [.planar420, .video420v, .video10Bit].contains(format) {
      throw Failure(
        "--pixel-format \(format.rawValue) is 4:2:0, and --profile high444 requires 4:4:4; omit one of them",
        status: 64)
    }
    if source.noiseStrength != nil {
      throw Failure("--denoise filters pictures of 4:2:0; omit it or --profile high444", status: 64)
    }
  }

  /// Checks that a movie can be encoded in segments.
  /// - Throws: `Failure` if its pictures are 4:4:4.
  func checkSegments() throws {
    guard hasFullChroma else { return }
    throw Failure(
      "segments are encoded with a look-ahead, and --profile high444 is coded picture by picture; omit the "
        + "profile, or run transcoding without --jobs", status: 64)
  }
}
