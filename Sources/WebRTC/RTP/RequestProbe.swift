// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport

/// Has a peer ask again for what is lost, by two packets of each frame that go in reverse order.
///
/// Some peers ask for all missing packets when they find a new gap, and at no other time: a request
/// that is lost is repeated with the next loss only. Two packets that change places are such a gap,
/// which closes at once. It costs the peer one request for each frame, and this end nothing, as the
/// request for the packet that came late is not answered. A peer that repeats its requests by
/// itself waits for packets that are out of order (RFC 3550 allows them), so that it is not
/// disturbed. Times are in seconds.
struct RequestProbe: Sendable {
  /// How long packets change places after the last loss.
  private static let span = 10.0
  /// By how much a request that a change of places has caused may exceed the round trip: less than
  /// the time to the next frame, whose request is about a packet that is lost.
  private static let allowance = 0.02
  /// The round trip before one was measured.
  private static let usualRoundTrip = 0.2
  private static let capacity = 256

  private var end = -Double.infinity
  /// The packets that went too late, and when.
  private var late: [(number: UInt16, sent: Double)] = []

  /// Whether the packets of a frame change places.
  /// - Parameter time: The current time.
  func isActive(at time: Double) -> Bool { time < end }

  /// Notes that the peer has lost a packet.
  mutating func noteLoss(at time: Double) { end = time + Self.span }

  /// Notes that a packet goes after its successor.
  mutating func noteLate(_ number: UInt16, at time: Double) {
    if late.count >= Self.capacity { late.removeFirst(Self.capacity / 2) }
    late.append((number, time))
  }

  /// Whether a request for a packet tells no more than that it went late. That is said of a packet
  /// once.
  mutating func explains(_ number: UInt16, roundTrip: Double?, at time: Double) -> Bool {
    guard let index = late.lastIndex(where: { $0.number == number }) else { return false }
    let sent = late.remove(at: index).sent
    return time - sent < (roundTrip ?? Self.usualRoundTrip) + Self.allowance
  }
}
