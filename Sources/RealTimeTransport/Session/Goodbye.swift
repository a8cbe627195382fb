// SPDX-License-Identifier: Apache-2.0
/// The end of a session as the side that asks for it says it: until the other one answers, since a burst of losses takes
/// all that is said at once (RFC 3550, 6.6, leaves it at one packet).
struct Goodbye {
  private static let interval = 0.04
  /// Seconds after which the other side is not waited for any more.
  private static let patience = 1.0
  /// How often an answer is said: who answers goes, and says it no more.
  static let answerCount = 3

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
