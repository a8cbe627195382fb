// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// A part of a movie that is analysed beside others: the analysis would keep one processor busy where the segments that come
/// of it keep many.
///
/// Spans follow from the movie alone: with the package's own encoder a plan is the same wherever it is made.
struct AnalysisSpan: Sendable, Equatable {
  /// Pictures that are encoded; nil for all.
  var range: CMTimeRange?
  /// The first picture that counts: those before are encoded so that it is no key frame without need.
  var start: CMTime

  /// About how long one is, in seconds.
  private static let length = 20.0
  /// Shorter ones decode and encode too much twice, in seconds.
  private static let least = 8.0
  /// What is encoded before the pictures that count, in seconds.
  private static let lead = CMTime(value: 1, timescale: 2)
  /// Before every picture.
  private static let beginning = CMTime(value: -1_000_000, timescale: 1)

  static let whole = AnalysisSpan(range: nil, start: beginning)

  static func spans(of source: MovieSource, plan: EncodingPlan) -> [AnalysisSpan] {
    // A stream without times of its own is read from its beginning; a deinterlacer looks at the pictures around.
    guard plan.frameLimit == nil, plan.range == nil, plan.deinterlacing == nil, source.streamFrameRate == nil,
      source.duration.isNumeric
    else { return [whole] }
    return spans(seconds: source.duration.seconds)
  }

  /// - Parameter seconds: how long the movie is; it may be longer than it says.
  static func spans(seconds: Double) -> [AnalysisSpan] {
    guard seconds.isFinite, seconds >= 2 * least, seconds < 1e6 else { return [whole] }
    let count = max(Int((seconds / length).rounded()), 2)
    let cuts = (1..<count).map {
      CMTime(nearest: seconds * Double($0) / Double(count), preferredTimescale: 90_000)
    }
    return zip([beginning] + cuts, cuts + [.positiveInfinity]).map { start, end in
      AnalysisSpan(
        range: CMTimeRange(start: start == beginning ? start : start - lead, end: end), start: start)
    }
  }
}
