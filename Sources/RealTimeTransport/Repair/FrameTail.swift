// SPDX-License-Identifier: Apache-2.0
/// Notices that packets are missing before a later one tells: the end of a frame, since its packets come close together and the
/// last one has a marker, and whole frames, since they come at their rate. A burst of losses is a silence as long as it lasts.
struct FrameTail: Sendable {
  private static let least = 0.015
  private static let most = 0.1
  /// Seconds from one frame to the next at which a silence says something, and shares of them that frames may come late.
  private static let longestInterval = 0.1
  private static let lateness = 0.4
  /// Times that a silence is asked into: an outage is over when packets come.
  private static let mostAsked = 12
  private static let remembered = 8

  private var last: (timestamp: UInt32, number: UInt16, time: Double)?
  /// Seconds from one packet of a frame to the next, a little more than of late.
  private var pause = 0.005
  /// When the first packet of the newest frame came, and how many packets it has so far.
  private var first = 0.0
  private var count = 0
  /// Packets of a frame, smoothed.
  private var size = 1.0
  /// Seconds from one frame to the next, the last few.
  private var intervals: [Double] = []
  private var asked = 0
  /// Seconds that packets come late on this path.
  var jitter = 0.0

  /// When the next packet counts as missing; infinite if none is expected.
  private(set) var due = Double.infinity

  /// How many packets are missing then, as far as one can guess.
  var expected: Int { min(max(Int(size.rounded(.up)) - (isWhole ? 0 : count), 1), 16) }
  private var isWhole = true

  /// Takes note of a packet that came as it was sent.
  mutating func add(_ packet: RTPPacket, at time: Double) {
    if let last {
      guard Int16(bitPattern: packet.sequenceNumber &- last.number) > 0 else { return }
      if packet.timestamp == last.timestamp {
        if packet.sequenceNumber == last.number &+ 1 {
          pause += (min(time - last.time, Self.most) - pause) * (time - last.time > pause ? 0.5 : 0.05)
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
    // On a line that takes so long for a packet the next frame tells soon enough.
    let wait = 2.5 * pause
    return wait > Self.most ? .infinity : time + max(Self.least, wait) + jitter
  }

  private func nextFrame(after time: Double) -> Double {
    guard intervals.count == Self.remembered else { return .infinity }
    // Where pictures are left out now and then, the usual interval counts.
    let interval = intervals.sorted()[Self.remembered / 2]
    guard interval <= Self.longestInterval else { return .infinity }
    return max(first + interval, time) + max(interval * Self.lateness, Self.least, 2.5 * pause) + jitter
  }

  /// Whether nothing has come for longer than it should take.
  func isSilent(at time: Double) -> Bool { isWhole ? asked > 0 || due <= time : asked > 1 }

  /// Takes note of another packet on the way: it is no silence.
  mutating func noteOther(at time: Double) {
    if due < .infinity { due = max(due, time + max(Self.least, 2.5 * pause)) }
  }

  /// It was asked for, and is asked for again after so many seconds if the silence goes on.
  mutating func noteAsked(at time: Double, again interval: Double) {
    asked += 1
    due = asked < Self.mostAsked && intervals.count == Self.remembered ? time + interval : .infinity
  }
}
