// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// A stretch of a movie that the analysis encodes, in parallel with other stretches, so that it
/// uses all processors.
///
/// The division into spans depends only on the movie, so that a plan made with the package's own
/// encoder is the same on every machine.
struct AnalysisSpan: Sendable, Equatable {
  /// The pictures to encode; nil for all.
  var range: CMTimeRange?
  /// The time of the first picture whose result is used. The pictures before it are encoded so that
  /// it is not a key frame merely because it is the first.
  var start: CMTime

  /// The approximate length of a span in seconds.
  private static let length = 20.0
  /// The least length in seconds: shorter spans would decode and encode too many pictures twice.
  private static let minimum = 8.0
  /// How long before `start` the encoding begins, in seconds.
  private static let preroll = CMTime(value: 1, timescale: 2)
  /// A time before all pictures.
  private static let beginning = CMTime(value: -1_000_000, timescale: 1)

  static let whole = AnalysisSpan(range: nil, start: beginning)

  static func spans(of source: MovieSource, plan: EncodingPlan) -> [AnalysisSpan] {
    // A stream without time stamps has to be read from its beginning, and a deinterlacer needs the
    // neighbouring pictures.
    guard plan.frameLimit == nil, plan.range == nil, plan.deinterlacing == nil, source.streamFrameRate == nil,
      source.duration.isNumeric
    else { return [whole] }
    return spans(seconds: source.duration.seconds)
  }

  /// Divides a movie into spans of about 20 seconds.
  /// - Parameter seconds: the stated duration; the last span has no end, since the movie may be
  ///   longer.
  static func spans(seconds: Double) -> [AnalysisSpan] {
    guard seconds.isFinite, seconds >= 2 * minimum, seconds < 1e6 else { return [whole] }
    let count = max(Int((seconds / length).rounded()), 2)
    let cuts = (1..<count).map {
      CMTime(nearest: seconds * Double($0) / Double(count), preferredTimescale: 90_000)
    }
    return zip([beginning] + cuts, cuts + [.positiveInfinity]).map { start, end in
      AnalysisSpan(
        range: CMTimeRange(start: start == beginning ? start : start - preroll, end: end), start: start)
    }
  }
}
