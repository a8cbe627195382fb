// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Synchronization

/// A clock that shows what the test sets, in place of the host's.
public final class HandClock: Sendable {
  private final class Hand: Sendable { let time = Mutex(CMTime.zero) }
  private let hand: Hand
  /// To be a timebase's source.
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
