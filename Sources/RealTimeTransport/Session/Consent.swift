// SPDX-License-Identifier: Apache-2.0
/// Whether a receiver still wants what is sent to its address (RFC 7675): each greeting has a random number of its own, and
/// an answer that brings it back proves that the receiver had the greeting, and when it was sent. What a receiver computes from
/// earlier greetings, keeps, or says twice proves nothing.
struct Consent: Sendable {
  /// Seconds from a greeting to the end of what its answer allows. RFC 7675 wants 30 at most.
  static let time = Greeting.longestRoundTrip
  /// Greetings that wait for their answers at most; a sender sends five a second.
  private static let mostOpen = 64
  /// Seconds after which an exchange says nothing of the clocks any more: they drift apart.
  private static let span = 30.0

  private var open: [(check: Greeting.Check, sent: Double)] = []
  /// When the newest greeting was sent that was answered.
  private(set) var last = -Double.infinity
  /// Exchanges of the last ``span`` seconds.
  private var exchanges: [(time: Double, trip: Double, offset: Double)] = []

  /// The number for a greeting that is sent now.
  mutating func newCheck(at time: Double) -> Greeting.Check {
    var random = SystemRandomNumberGenerator()
    let check = Greeting.Check.random(using: &random)
    open.removeAll { $0.sent < time - Self.time }
    if open.count >= Self.mostOpen { open.removeFirst() }
    open.append((check, time))
    return check
  }

  /// Takes an answer.
  /// - Parameters:
  ///   - check: the number that it brought back.
  ///   - clock: the receiver's clock when it answered, in seconds on the scale of the sender's.
  ///   - time: when it came.
  /// - Returns: The round trip in seconds; nil if no greeting that still waits has this number.
  mutating func take(_ check: Greeting.Check, clock: Double, at time: Double) -> Double? {
    guard let index = open.firstIndex(where: { $0.check == check }) else { return nil }
    let sent = open.remove(at: index).sent
    let trip = time - sent
    guard trip >= 0, trip <= Self.time else { return nil }
    last = max(last, sent)
    exchanges.removeAll { $0.time < time - Self.span }
    if exchanges.count >= Self.mostOpen { exchanges.removeFirst() }
    exchanges.append((time, trip, clock - (time - trip / 2)))
    return trip
  }

  func isFresh(at time: Double) -> Bool { time - last <= Self.time }

  /// Seconds of the shortest exchange of late; nil before the first.
  var shortestTrip: Double? { exchanges.lazy.map(\.trip).min() }
  var longestTrip: Double? { exchanges.lazy.map(\.trip).max() }

  /// Seconds that the receiver's clock is ahead. The two ways take the same time most nearly when nothing waited on either.
  var clockOffset: Double? { exchanges.min { $0.trip < $1.trip }?.offset }
}
