// SPDX-License-Identifier: Apache-2.0

/// A Binding request that waits for its response, and when it is sent again (RFC 8489, 6.2.1; RFC
/// 8445, 14.3).
struct STUNTransaction: Sendable {
  /// The time in seconds before the first repetition; it doubles with each.
  static let firstWait = 0.5
  /// How often a request is sent, before the peer is assumed to be unreachable.
  static let attempts = 6

  let id: STUNMessage.Transaction
  let bytes: [UInt8]
  let target: TransportAddress
  let nominates: Bool
  /// When the request was sent for the first time.
  let began: Double
  private(set) var next: Double
  private var wait = firstWait
  private var left: Int

  init(
    id: STUNMessage.Transaction, bytes: [UInt8], target: TransportAddress, nominates: Bool, at time: Double,
    attempts: Int = attempts
  ) {
    left = attempts - 1
    self.id = id
    self.bytes = bytes
    self.target = target
    self.nominates = nominates
    began = time
    next = time + Self.firstWait
  }

  enum Step { case wait, repeatNow, giveUp }

  mutating func step(at time: Double) -> Step {
    guard time >= next else { return .wait }
    guard left > 0 else { return .giveUp }
    left -= 1
    wait *= 2
    next = time + min(wait, 2)
    return .repeatNow
  }
}

/// A pair of the check list (RFC 8445, 6.1.2). This end has one socket for each family of
/// addresses, whose candidates share a base, so that a pair is known by its remote address.
struct ICEPair: Sendable {
  enum State: Sendable { case waiting, inProgress, succeeded, failed }

  var remote: TransportAddress
  var remotePriority: UInt32
  var state = State.waiting
  /// Whether the peer wants this pair (it controls), while its check is not done yet.
  var isNominatedByPeer = false

  /// The priority of the pair (RFC 8445, 6.1.2.3).
  /// - Parameters:
  ///   - local: The priority of this end's candidate.
  ///   - isControlling: Whether this end controls.
  func priority(local: UInt32, isControlling: Bool) -> UInt64 {
    let controlling = UInt64(isControlling ? local : remotePriority)
    let controlled = UInt64(isControlling ? remotePriority : local)
    return min(controlling, controlled) << 32 + 2 * max(controlling, controlled)
      + (controlling > controlled ? 1 : 0)
  }
}
