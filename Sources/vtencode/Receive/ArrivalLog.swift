// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Records when pictures were shown, and their delay since capture.
struct ArrivalLog {
  /// The number of entries; older ones are dropped in a call of hours.
  private static let maximum = 1 << 20
  /// The delays from capture to decoding that are accepted, in seconds. A session ends after ten
  /// seconds of silence, and clocks are synchronised to some milliseconds; the sender may state any
  /// capture time.
  static let plausibleDelays = -1.0...60

  private(set) var times: [Double] = []
  private(set) var delays: [Double] = []

  mutating func add(at time: Double, delay: Double?) {
    if times.count >= Self.maximum { times.removeFirst(Self.maximum / 2) }
    if delays.count >= Self.maximum { delays.removeFirst(Self.maximum / 2) }
    times.append(time)
    if let delay { delays.append(delay) }
  }

  /// Measures freezes as WebRTC's statistics define them: intervals between pictures longer than
  /// three frame intervals and than one frame interval plus 150 ms.
  /// - Parameters:
  ///   - frameRate: the frame rate in frames a second.
  ///   - end: when the session ended; the last picture was shown until then.
  /// - Returns: the fraction of the time that is frozen, and the longest interval between pictures
  ///   in seconds.
  func freezeStatistics(frameRate: Double, until end: Double) -> (share: Double, longest: Double) {
    guard let first = times.first, end > first else { return (0, 0) }
    let interval = 1 / max(frameRate, 1)
    let limit = max(3 * interval, interval + 0.15)
    let gaps = zip(times, times.dropFirst() + [end]).map { $1 - $0 }
    return (gaps.reduce(0) { $0 + ($1 > limit ? $1 : 0) } / (end - first), gaps.max() ?? 0)
  }

  func delay(_ share: Double) -> Double? { CallRecord.quantile(share, of: delays) }
}
