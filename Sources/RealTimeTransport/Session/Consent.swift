// SPDX-License-Identifier: Apache-2.0
/// Whether a receiver still consents to what is sent to its address (RFC 7675). Each greeting has a
/// random number of its own, and an answer with that number proves that the receiver got the
/// greeting, and when it was sent. An answer that is computed from earlier greetings, kept, or
/// repeated proves nothing. Times are in seconds.
struct Consent: Sendable {
  /// The time from a greeting until the consent of its answer ends. RFC 7675 requires at most 30 s.
  static let time = Greeting.longestRoundTrip
  /// The largest number of greetings without an answer; a sender sends five a second.
  private static let maxUnansweredGreetings = 64
  /// The time after which an exchange no longer tells the offset of the clocks, which drift apart.
  private static let span = 30.0

  /// The greetings without an answer yet.
  private var open: [(check: Greeting.Check, sent: Double)] = []
  /// When the newest answered greeting was sent.
  private(set) var last = -Double.infinity
  /// The answered greetings of the last `span` seconds: when, the round trip, and the clock offset.
  private var exchanges: [(time: Double, rtt: Double, offset: Double)] = []

  /// Makes the random number of a greeting that is sent now.
  mutating func newCheck(at time: Double) -> Greeting.Check {
    var random = SystemRandomNumberGenerator()
    let check = Greeting.Check.random(using: &random)
    open.removeAll { $0.sent < time - Self.time }
    if open.count >= Self.maxUnansweredGreetings { open.removeFirst() }
    open.append((check, time))
    return check
  }

  /// Processes an answer.
  /// - Parameters:
  ///   - check: The random number in the answer.
  ///   - clock: The receiver's clock when it answered, converted to the sender's time scale.
  ///   - time: When the answer arrived.
  /// - Returns: The round trip; nil if no greeting without an answer has this number.
  mutating func processAnswer(_ check: Greeting.Check, clock: Double, at time: Double) -> Double? {
    guard let index = open.firstIndex(where: { $0.check == check }) else { return nil }
    let sent = open.remove(at: index).sent
    let rtt = time - sent
    guard rtt >= 0, rtt <= Self.time else { return nil }
    last = max(last, sent)
    exchanges.removeAll { $0.time < time - Self.span }
    if exchanges.count >= Self.maxUnansweredGreetings { exchanges.removeFirst() }
    exchanges.append((time, rtt, clock - (time - rtt / 2)))
    return rtt
  }

  func isFresh(at time: Double) -> Bool { time - last <= Self.time }

  /// The shortest and the longest recent round trip; nil before the first.
  var minRTT: Double? { exchanges.lazy.map(\.rtt).min() }
  var maxRTT: Double? { exchanges.lazy.map(\.rtt).max() }

  /// The time by which the receiver's clock is ahead, from the exchange with the shortest round
  /// trip: the two directions take most nearly the same time when there is no queue in either.
  var clockOffset: Double? { exchanges.min { $0.rtt < $1.rtt }?.offset }
}
