// SPDX-License-Identifier: Apache-2.0
/// The usual time between frames of late, which neither a pause nor jitter changes at once.
struct TypicalFrameInterval {
  /// Seconds that the frame at hand goes by.
  private(set) var seconds: Double
  private var mean: Double
  /// Seconds before each of the last three frames; nil: none has come yet.
  private var recent: (Double, Double, Double)?

  private static let weight = 0.2
  /// A pause is no frame rate: what counts of one, in intervals.
  private static let longest = 2.0
  /// After a slow stream a burst is not to be paid for as if it were as slow: the most in its own intervals.
  private static let most = 4.0

  init(seconds: Double) {
    self.seconds = seconds
    mean = seconds
  }

  mutating func take(_ latest: Double) {
    let counted = min(latest, TypicalFrameInterval.longest * mean)
    mean += (counted - mean) * TypicalFrameInterval.weight
    // Before the first frame there was none: its time may be anything.
    let (a, b, c) = recent.map { ($0.1, $0.2, latest) } ?? (counted, counted, counted)
    recent = (a, b, c)
    // A rate that three frames have in common is one, whatever was before.
    mean = min(max(mean, min(a, b, c)), max(a, b, c))
    seconds = min(mean, TypicalFrameInterval.most * latest)
  }
}
