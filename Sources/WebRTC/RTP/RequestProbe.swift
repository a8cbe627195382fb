// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport

/// Has a peer ask again for what is lost, by two packets of each frame that go in reverse order.
///
/// Some peers ask for all missing packets when they find a new gap, and at no other time: a request
/// that is lost is repeated with the next loss only. Two packets that change places are such a gap,
/// which closes at once. It costs the peer one request for each frame, and this end nothing, as the
/// request for the packet that came late is not answered. Peers that repeat their requests by
/// themselves need none of this; their requests for such packets are not answered either. Times are
/// in seconds.
struct RequestProbe: Sendable {
  /// How long packets change places after the last loss.
  private static let span = 10.0
  /// By how much a request that a change of places has caused may exceed the round trip: less than
  /// the time to the next frame, whose request is about a packet that is lost.
  private static let allowance = 0.02
  /// The round trip before one was measured.
  private static let typicalRoundTrip = 0.2
  private static let capacity = 256

  private var end = -Double.infinity
  /// The packets that went too late, when, and whether a request for them has come.
  private var late: [(number: UInt16, sent: Double, isRequested: Bool)] = []

  /// Whether the packets of a frame change places.
  /// - Parameter time: The current time.
  func isActive(at time: Double) -> Bool { time < end }

  /// Notes that the peer has lost a packet.
  mutating func noteLoss(at time: Double) { end = time + Self.span }

  /// Notes that a packet goes after its successor.
  mutating func noteLate(_ number: UInt16, at time: Double) {
    if late.count >= Self.capacity { late.removeFirst(Self.capacity / 2) }
    late.append((number, time, false))
  }

  /// Whether a packet went after its successor. A request for it may then be due to that, even
  /// where it comes later than the round trip suggests, and shows no loss.
  func wasLate(_ number: UInt16) -> Bool { late.contains { $0.number == number } }

  /// Whether a request for a packet tells no more than that it went late. That is said of a packet
  /// once.
  mutating func explains(_ number: UInt16, roundTrip: Double?, at time: Double) -> Bool {
    guard let index = late.lastIndex(where: { $0.number == number }), !late[index].isRequested else {
      return false
    }
    late[index].isRequested = true
    return time - late[index].sent < (roundTrip ?? Self.typicalRoundTrip) + Self.allowance
  }
}
