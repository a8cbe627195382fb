// SPDX-License-Identifier: Apache-2.0
/// Notices that packets are missing before a later packet shows the gap: at the end of a frame,
/// because its packets come close together and the last one has the marker bit; and between frames,
/// because frames come at a regular rate. So a burst of losses is noticed as a silence while it
/// lasts. Times are in seconds.
struct SilenceDetector: Sendable {
  /// The shortest and the longest silence that is noticed.
  private static let minimum = 0.015
  private static let maximum = 0.1
  /// The longest frame interval at which a missing frame is noticed, and the fraction of it by
  /// which frames may be late.
  private static let longestInterval = 0.1
  private static let lateness = 0.4
  /// The number of requests during one silence: after that it counts as an outage, which ends when
  /// packets come.
  private static let maxRequestsPerSilence = 12
  /// The number of frame intervals that are remembered.
  private static let remembered = 8

  /// The newest packet.
  private var last: (timestamp: UInt32, number: UInt16, time: Double)?
  /// The time between two packets of a frame: a running value that rises faster than it falls.
  private var pause = 0.005
  /// When the newest frame's first packet arrived, and how many packets of it have arrived so far.
  private var first = 0.0
  private var count = 0
  /// The smoothed number of packets of a frame.
  private var size = 1.0
  /// The last frame intervals.
  private var intervals: [Double] = []
  /// The number of requests during the current silence.
  private var asked = 0
  /// The time by which packets arrive late on this path.
  var jitter = 0.0

  /// When the next packet counts as missing; infinite if none is expected.
  private(set) var due = Double.infinity

  /// The estimated number of packets that are missing then, from 1 to 16.
  var expected: Int { min(max(Int(size.rounded(.up)) - (isWhole ? 0 : count), 1), 16) }
  /// Whether the last packet of the newest frame has arrived.
  private var isWhole = true

  /// Records a packet that has arrived and was sent for the first time.
  mutating func add(_ packet: RTPPacket, at time: Double) {
    if let last {
      guard Int16(bitPattern: packet.sequenceNumber &- last.number) > 0 else { return }
      if packet.timestamp == last.timestamp {
        if packet.sequenceNumber == last.number &+ 1 {
          pause += (min(time - last.time, Self.maximum) - pause) * (time - last.time > pause ? 0.5 : 0.05)
        }
      } else {
        note(Double(packet.timestamp &- last.timestamp) / MediaClock.rtpRate)
        if isWhole { size += (Double(count) - size) * 0.25 }
        (first, count) = (time, 0)
      }
    }
    count += 1
    last = (packet.timestamp, packet.sequenceNumber, time)
    isWhole = packet.marker
    asked = 0
    due = packet.marker ? nextFrame(after: time) : nextPacket(after: time)
  }

  private mutating func note(_ interval: Double) {
    if intervals.count == Self.remembered { intervals.removeFirst() }
    intervals.append(interval)
  }

  private func nextPacket(after time: Double) -> Double {
    // On so slow a line the next frame shows the gap soon enough.
    let wait = 2.5 * pause
    return wait > Self.maximum ? .infinity : time + max(Self.minimum, wait) + jitter
  }

  private func nextFrame(after time: Double) -> Double {
    guard intervals.count == Self.remembered else { return .infinity }
    // The median, because some pictures may be skipped.
    let interval = intervals.sorted()[Self.remembered / 2]
    guard interval <= Self.longestInterval else { return .infinity }
    return max(first + interval, time) + max(interval * Self.lateness, Self.minimum, 2.5 * pause) + jitter
  }

  /// Whether no packet has arrived for longer than expected.
  func isSilent(at time: Double) -> Bool { isWhole ? asked > 0 || due <= time : asked > 1 }

  /// Records the arrival of another packet, a retransmission or a repair packet: the path is not
  /// silent.
  mutating func recordOtherPacket(at time: Double) {
    if due < .infinity { due = max(due, time + max(Self.minimum, 2.5 * pause)) }
  }

  /// Records that the missing packets were asked for.
  /// - Parameters:
  ///   - time: The current time.
  ///   - interval: The time after which to ask again if the silence continues.
  mutating func noteAsked(at time: Double, again interval: Double) {
    asked += 1
    due =
      asked < Self.maxRequestsPerSilence && intervals.count == Self.remembered ? time + interval : .infinity
  }
}
