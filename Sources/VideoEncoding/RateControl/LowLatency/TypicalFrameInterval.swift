// SPDX-License-Identifier: Apache-2.0
/// The typical time between recent frames, which neither a pause nor jitter changes at once.
struct TypicalFrameInterval {
  /// The typical interval at the present frame, in seconds.
  private(set) var seconds: Double
  /// The moving mean of the intervals, in seconds.
  private var mean: Double
  /// The intervals before the last three frames, in seconds; nil before the first frame.
  private var recent: (Double, Double, Double)?

  /// The weight of an interval in the moving mean.
  private static let weight = 0.2
  /// The longest interval that counts, as a multiple of the mean: a pause does not lower the frame
  /// rate.
  private static let longest = 2.0
  /// The highest ratio of `seconds` to the present interval: a burst of frames after a slow stream
  /// does not get the bits of slow frames.
  private static let maximum = 4.0

  /// Begins with the interval of the configured frame rate.
  init(seconds: Double) {
    self.seconds = seconds
    mean = seconds
  }

  /// Adds the interval before the present frame, in seconds.
  mutating func take(_ latest: Double) {
    let counted = min(latest, TypicalFrameInterval.longest * mean)
    mean += (counted - mean) * TypicalFrameInterval.weight
    // Before the first frame there was none: its interval may be anything.
    let (a, b, c) = recent.map { ($0.1, $0.2, latest) } ?? (counted, counted, counted)
    recent = (a, b, c)
    // An interval that three frames have in common is the typical one, whatever was before.
    mean = min(max(mean, min(a, b, c)), max(a, b, c))
    seconds = min(mean, TypicalFrameInterval.maximum * latest)
  }
}
