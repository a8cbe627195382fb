// SPDX-License-Identifier: Apache-2.0
/// What a sender makes of the losses in a receiver's reports. Those come with each request too, some milliseconds apart,
/// and the fraction in one is that of the packets since the one before: here it is that of some seconds.
struct ReportedLosses: Sendable {
  /// Seconds.
  private static let span = 2.0
  private var reports: [(time: Double, highest: UInt32, lost: Int32)]

  /// - Parameter firstSequence: of the first packet that was sent.
  init(firstSequence: UInt16) { reports = [(-.infinity, UInt32(firstSequence) &- 1, 0)] }

  mutating func take(_ block: RTCPPacket.ReportBlock, at time: Double) {
    guard let last = reports.last, block.highestSequence &- last.highest < 1 << 31 else { return }
    // One of each moment is enough.
    if reports.count > 2, time - reports[reports.count - 2].time < 0.05 { reports.removeLast() }
    reports.append((time, block.highestSequence, block.cumulativeLost))
    while reports.count > 2, reports[1].time <= time - Self.span { reports.removeFirst() }
  }

  /// From 0 to 1.
  var share: Double {
    guard let first = reports.first, let last = reports.last, last.highest != first.highest else { return 0 }
    return min(max(Double(last.lost - first.lost) / Double(last.highest &- first.highest), 0), 1)
  }
}
