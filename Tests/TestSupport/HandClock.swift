// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Synchronization

/// A clock whose time the test sets, instead of the host clock.
public final class HandClock: Sendable {
  private final class Hand: Sendable { let time = Mutex(CMTime.zero) }
  private let hand: Hand
  /// The clock as the source of a timebase.
  public let clock: CMClock

  public init() {
    let hand = Hand()
    self.hand = hand
    clock = CMClock { _ in hand.time.withLock { $0 } }
  }

  /// The time of the clock.
  public var time: CMTime {
    get { hand.time.withLock { $0 } }
    set { hand.time.withLock { $0 = newValue } }
  }
}
