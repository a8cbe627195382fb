// SPDX-License-Identifier: Apache-2.0

/// The pairs of candidates, and the order in which they are checked (RFC 8445, 6.1.2 and 6.1.4).
struct ICECheckList: Sendable {
  /// The largest number of pairs, and of checks that are triggered.
  static let capacity = 64

  private(set) var pairs: [ICEPair] = []
  /// Addresses whose checks come first, since the peer has checked them (RFC 8445, 7.3.1.4).
  private var triggered: [TransportAddress] = []

  /// Adds a pair.
  /// - Parameters:
  ///   - address: The remote address.
  ///   - priority: The remote candidate's priority.
  ///   - local: This end's candidates.
  /// - Returns: The pair's index; nil if it cannot be used, or there are too many.
  @discardableResult
  mutating func add(_ address: TransportAddress, priority: UInt32, local: [ICECandidate]) -> Int? {
    if let known = index(of: address) { return known }
    guard pairs.count < Self.capacity, address.isUnicast,
      local.contains(where: { $0.address.isIPv6 == address.isIPv6 })
    else { return nil }
    pairs.append(ICEPair(remote: address, remotePriority: priority))
    return pairs.count - 1
  }

  func index(of address: TransportAddress) -> Int? { pairs.firstIndex { $0.remote == address } }

  mutating func set(_ state: ICEPair.State, at index: Int) { pairs[index].state = state }
  mutating func set(isNominatedByPeer: Bool, at index: Int) {
    pairs[index].isNominatedByPeer = isNominatedByPeer
  }

  /// Whether the check of an address has succeeded.
  func hasSucceeded(_ address: TransportAddress) -> Bool {
    pairs.contains { $0.remote == address && $0.state == .succeeded }
  }

  /// Notes that the check of an address was not answered, or refused.
  mutating func noteFailure(of address: TransportAddress) {
    if let index = index(of: address), pairs[index].state == .inProgress { pairs[index].state = .failed }
  }

  /// Lets the check of a pair come first.
  mutating func trigger(_ address: TransportAddress) {
    if !triggered.contains(address), triggered.count < Self.capacity { triggered.append(address) }
    if let index = index(of: address) { pairs[index].state = .waiting }
  }

  mutating func removeTriggered() { triggered.removeAll() }

  /// Whether a check is to be made.
  var hasChecks: Bool { !triggered.isEmpty || pairs.contains { $0.state == .waiting } }

  /// Takes the next check: a triggered one, or that of the best pair that waits.
  /// - Parameter priority: The priority of a pair.
  /// - Returns: The address; nil if there is nothing to check.
  mutating func takeNext(by priority: (ICEPair) -> UInt64) -> TransportAddress? {
    if !triggered.isEmpty {
      let address = triggered.removeFirst()
      if let index = index(of: address) { pairs[index].state = .inProgress }
      return address
    }
    let waiting = pairs.indices.filter { pairs[$0].state == .waiting }
    guard let best = waiting.max(by: { priority(pairs[$0]) < priority(pairs[$1]) }) else { return nil }
    pairs[best].state = .inProgress
    return pairs[best].remote
  }

  /// The best pair that works, and whether a better one may still come; nil if none works.
  /// - Parameter priority: The priority of a pair.
  func best(by priority: (ICEPair) -> UInt64) -> (pair: ICEPair, isOpen: Bool)? {
    guard let best = pairs.filter({ $0.state == .succeeded }).max(by: { priority($0) < priority($1) }) else {
      return nil
    }
    let isOpen = pairs.contains {
      ($0.state == .waiting || $0.state == .inProgress) && priority($0) > priority(best)
    }
    return (best, isOpen)
  }
}
