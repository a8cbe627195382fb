// SPDX-License-Identifier: Apache-2.0
/// Notices that the end of a frame is missing before the next frame tells: its packets come close together, and the last one
/// has a marker.
struct FrameTail: Sendable {
  private static let least = 0.015
  private static let most = 0.1
  private var last: (timestamp: UInt32, number: UInt16, time: Double)?
  /// Seconds from one packet of a frame to the next, a little more than of late.
  private var pause = 0.005

  /// When the next packet counts as missing; infinite if none is expected.
  private(set) var due = Double.infinity

  /// Takes note of a packet that came as it was sent.
  mutating func add(_ packet: RTPPacket, at time: Double) {
    if let last {
      guard Int16(bitPattern: packet.sequenceNumber &- last.number) > 0 else { return }
      if packet.timestamp == last.timestamp, packet.sequenceNumber == last.number &+ 1 {
        pause += (min(time - last.time, Self.most) - pause) * (time - last.time > pause ? 0.5 : 0.05)
      }
    }
    last = (packet.timestamp, packet.sequenceNumber, time)
    // On a line that takes so long for a packet the next frame tells soon enough.
    let wait = 2.5 * pause
    due = packet.marker || wait > Self.most ? .infinity : time + max(Self.least, wait)
  }

  /// It was asked for.
  mutating func noteAsked() { due = .infinity }
}
