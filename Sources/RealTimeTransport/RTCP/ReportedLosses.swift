// SPDX-License-Identifier: Apache-2.0
/// Computes the fraction of lost packets over some seconds from a receiver's reports. The fraction
/// in a report itself covers only the packets since the report before, which may be some
/// milliseconds: a report accompanies every request.
struct ReportedLosses: Sendable {
  /// The time over which the fraction is computed, in seconds.
  private static let span = 2.0
  private var reports: [(time: Double, highest: UInt32, lost: Int32)]

  /// Creates statistics without losses.
  /// - Parameter firstSequence: The sequence number of the first packet that was sent.
  init(firstSequence: UInt16) { reports = [(-.infinity, UInt32(firstSequence) &- 1, 0)] }

  mutating func update(_ block: RTCPPacket.ReportBlock, at time: Double) {
    guard let last = reports.last, block.highestSequence &- last.highest < 1 << 31 else { return }
    // One report in 50 ms is enough.
    if reports.count > 2, time - reports[reports.count - 2].time < 0.05 { reports.removeLast() }
    reports.append((time, block.highestSequence, block.cumulativeLost))
    while reports.count > 2, reports[1].time <= time - Self.span { reports.removeFirst() }
  }

  /// The fraction of packets that were lost, from 0 to 1.
  var share: Double {
    guard let first = reports.first, let last = reports.last, last.highest != first.highest else { return 0 }
    return min(max(Double(last.lost - first.lost) / Double(last.highest &- first.highest), 0), 1)
  }
}
