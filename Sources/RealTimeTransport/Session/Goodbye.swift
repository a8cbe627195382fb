// SPDX-License-Identifier: Apache-2.0
/// The goodbye of the end that leaves first. It is repeated until the other end answers, because a
/// burst of losses may take all packets of one moment (RFC 3550, 6.6, sends one). Times are in
/// seconds.
struct Goodbye {
  fileprivate static let interval = 0.04
  /// The time after which the other end is no longer waited for.
  fileprivate static let timeout = 1.0
  /// The largest number of answers to one goodbye: the end that answers leaves, and does not repeat
  /// them.
  private static let answerCount = 3

  /// Returns the datagrams that answer a goodbye. Together they are never longer than the goodbye,
  /// so that an attacker who forges the source address cannot use the program for amplification.
  /// - Parameters:
  ///   - size: The size of the datagram with the goodbye, in bytes, without encryption.
  ///   - source: The synchronisation source of the end that answers.
  static func answers(toBytes size: Int, from source: UInt32) -> [[RTCPPacket]] {
    let answer: [RTCPPacket] = [.receiverReport(source: source, blocks: []), .bye(source: source)]
    return Array(repeating: answer, count: min(size / RTCPPacket.compound(answer).count, answerCount))
  }

  /// When to send the next goodbye.
  private(set) var next: Double
  private let end: Double

  init(at time: Double) {
    next = time
    end = time + Self.timeout
  }

  enum Step { case wait, send, giveUp }

  mutating func step(at time: Double) -> Step {
    if time >= end { return .giveUp }
    guard time >= next else { return .wait }
    next = min(time + Self.interval, end)
    return .send
  }
}

/// Limits the answers of an end that has left to the other end's goodbyes: to the number of
/// goodbyes that an end sends. Otherwise two ends that received forged goodbyes in each other's
/// name would answer each other's answers forever, with three packets each time.
struct GoodbyeAnswers {
  private var next = -Double.infinity
  private var left = Int(Goodbye.timeout / Goodbye.interval)

  /// Counts an answer.
  /// - Returns: Whether it may be sent now.
  mutating func allowAnswer(at time: Double) -> Bool {
    guard left > 0, time >= next else { return false }
    left -= 1
    // Half of the time between two goodbyes, because they may arrive closer together than they were
    // sent.
    next = time + Goodbye.interval / 2
    return true
  }
}
