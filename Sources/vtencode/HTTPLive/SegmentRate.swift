// SPDX-License-Identifier: Apache-2.0

/// Measures the bit rates that a multivariant playlist states (RFC 8216bis, 4.4.6.2).
struct SegmentRate: Sendable {
  private let targetDuration: Double
  /// The newest segments, as far back as one and a half target durations.
  private var recent: [(bytes: Int, seconds: Double)] = []
  private var totalBytes = 0
  private var totalSeconds = 0.0
  /// The peak of runs of segments between 0.5 and 1.5 target durations, and that of any one
  /// segment, for a stream that has no such run.
  private var peakOfRuns = 0.0
  private var peakOfSegments = 0.0

  /// - Parameter targetDuration: seconds.
  init(targetDuration: Int) { self.targetDuration = Double(targetDuration) }

  /// Adds the next segment.
  mutating func add(bytes: Int, seconds: Double) {
    guard seconds > 0 else { return }
    totalBytes += bytes
    totalSeconds += seconds
    peakOfSegments = max(peakOfSegments, Double(bytes) * 8 / seconds)
    recent.append((bytes, seconds))
    var (sum, span) = (0, 0.0)
    var used = 0
    for segment in recent.reversed() {
      sum += segment.bytes
      span += segment.seconds
      guard span <= 1.5 * targetDuration else { break }
      used += 1
      if span >= 0.5 * targetDuration { peakOfRuns = max(peakOfRuns, Double(sum) * 8 / span) }
    }
    // The next run begins at the earliest with the first segment of this one.
    recent.removeFirst(recent.count - max(used, 1))
  }

  /// The peak segment bit rate: the largest bit rate of a run of segments that lasts between 0.5
  /// and 1.5 target durations, in bits a second.
  var peak: Double { peakOfRuns > 0 ? peakOfRuns : peakOfSegments }
  /// The average segment bit rate, in bits a second.
  var average: Double { totalSeconds > 0 ? Double(totalBytes) * 8 / totalSeconds : 0 }
}
