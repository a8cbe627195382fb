// SPDX-License-Identifier: Apache-2.0
import Foundation

/// When pictures were shown, and how old they were.
struct ArrivalLog {
  /// A call of hours keeps what its last frames were.
  private static let most = 1 << 20
  /// Seconds from capture to decoding that can be: a session ends after ten without a word, and clocks are known to some
  /// milliseconds. The sender says when pictures were taken, and may say anything.
  static let plausibleDelays = -1.0...60

  private(set) var times: [Double] = []
  private(set) var delays: [Double] = []

  mutating func add(at time: Double, delay: Double?) {
    if times.count >= Self.most { times.removeFirst(Self.most / 2) }
    if delays.count >= Self.most { delays.removeFirst(Self.most / 2) }
    times.append(time)
    if let delay { delays.append(delay) }
  }

  /// The share of the time that the picture stood still for too long, and the longest stretch in seconds, as WebRTC's
  /// statistics count freezes: three frames and 150 ms longer than usual, whichever is more.
  /// - Parameter end: when the session was over: the last picture stood until then.
  func standstill(frameRate: Double, until end: Double) -> (share: Double, longest: Double) {
    guard let first = times.first, end > first else { return (0, 0) }
    let interval = 1 / max(frameRate, 1)
    let limit = max(3 * interval, interval + 0.15)
    let gaps = zip(times, times.dropFirst() + [end]).map { $1 - $0 }
    return (gaps.reduce(0) { $0 + ($1 > limit ? $1 : 0) } / (end - first), gaps.max() ?? 0)
  }

  func delay(_ share: Double) -> Double? { CallRecord.quantile(share, of: delays) }
}
