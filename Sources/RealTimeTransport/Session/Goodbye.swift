// SPDX-License-Identifier: Apache-2.0
/// The end of a session as the side that asks for it says it: until the other one answers, since a burst of losses takes
/// all that is said at once (RFC 3550, 6.6, leaves it at one packet).
struct Goodbye {
  fileprivate static let interval = 0.04
  /// Seconds after which the other side is not waited for any more.
  fileprivate static let patience = 1.0
  /// How often an answer is said at most: who answers goes, and says it no more.
  private static let answerCount = 3

  /// The datagrams that answer a good-bye. They are never longer than it is, so that nobody can have this program send more
  /// to an address than comes in its name.
  /// - Parameters:
  ///   - size: bytes of the datagram with the good-bye, without what protects it.
  ///   - source: of who answers.
  static func answers(toBytes size: Int, from source: UInt32) -> [[RTCPPacket]] {
    let answer: [RTCPPacket] = [.receiverReport(source: source, blocks: []), .bye(source: source)]
    return Array(repeating: answer, count: min(size / RTCPPacket.compound(answer).count, answerCount))
  }

  private(set) var next: Double
  private let end: Double

  init(at time: Double) {
    next = time
    end = time + Self.patience
  }

  enum Step { case wait, say, giveUp }

  mutating func step(at time: Double) -> Step {
    if time >= end { return .giveUp }
    guard time >= next else { return .wait }
    next = min(time + Self.interval, end)
    return .say
  }
}

/// The answers of a side that has gone, to the other one's good-byes: as often as that says them at most. Two that were
/// told so in each other's name, and that have asked for nothing themselves, would answer each other's answers for ever, and
/// three packets each time.
struct GoodbyeAnswers {
  private var next = -Double.infinity
  private var left = Int(Goodbye.patience / Goodbye.interval)

  /// - Returns: Whether one may be said now, which is counted then.
  mutating func take(at time: Double) -> Bool {
    guard left > 0, time >= next else { return false }
    left -= 1
    // Half of the time between two good-byes, since they come closer to each other than they were said.
    next = time + Goodbye.interval / 2
    return true
  }
}
