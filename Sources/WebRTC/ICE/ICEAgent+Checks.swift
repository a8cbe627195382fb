// SPDX-License-Identifier: Apache-2.0

/// The checks of a full agent, their responses, and the nomination of a pair (RFC 8445, 7.2 and 8).
extension ICEAgent {
  private func priority(_ pair: ICEPair) -> UInt64 {
    let local =
      localCandidates.lazy.filter { $0.address.isIPv6 == pair.remote.isIPv6 }.map(\.priority).max() ?? 0
    return pair.priority(local: local, isControlling: isControlling)
  }

  /// Makes the next check, if it is time for one (RFC 8445, 6.1.4.2).
  mutating func check(at time: Double) {
    guard remote != nil, time >= nextCheck, hasChecksToMake else { return }
    nextCheck = time + Self.pacing
    guard let address = checks.takeNext(by: { [self] in priority($0) }) else { return }
    request(address, nominates: false, at: time)
  }

  /// Nominates the best pair that works, once no better one may still come (RFC 8445, 8.1.1).
  mutating func nominate(at time: Double) {
    guard isControlling, let firstValid, !transactions.values.contains(where: \.nominates),
      let (best, isOpen) = checks.best(by: { priority($0) }),
      !isOpen || time - firstValid >= Self.nominationWait
    else { return }
    request(best.remote, nominates: true, at: time)
  }

  /// Sends a Binding request to an address.
  mutating func request(
    _ address: TransportAddress, nominates: Bool, at time: Double, attempts: Int = STUNTransaction.attempts
  ) {
    guard let remote, transactions.count < Self.maxTransactions else { return }
    var message = STUNMessage(.request)
    message.username = "\(remote.fragment):\(credentials.fragment)"
    message.priority = ICECandidate.priority(.peerReflexive, localPreference: 65_535)
    message.nominates = nominates
    if isControlling { message.controlling = tieBreaker } else { message.controlled = tieBreaker }
    guard let bytes = message.bytes(password: remote.password) else { return }
    transactions[message.transaction] = STUNTransaction(
      id: message.transaction, bytes: bytes, target: address, nominates: nominates, at: time,
      attempts: attempts)
    outgoing.append((bytes, address))
  }

  /// Processes the response to a check, or to a request for consent (RFC 8445, 7.2.5).
  mutating func receiveResponse(
    _ message: STUNMessage, from source: TransportAddress, at time: Double
  ) {
    // The response must come from where the request went (RFC 8445, 7.2.5.2.1), be authentic, and
    // has the random number of a request that was not answered yet.
    guard let transaction = transactions[message.transaction], transaction.target == source, let remote,
      message.hasIntegrity, message.isAuthentic(password: remote.password)
    else {
      refused += 1
      return
    }
    transactions[message.transaction] = nil
    guard message.kind == .success else {
      if message.errorCode == 487 {
        // The peer insists on its role: this end takes the other one and checks again (7.2.5.1).
        isControlling = !isControlling
        checks.trigger(source)
      } else {
        checks.noteFailure(of: source)
      }
      return
    }
    roundTrip = time - transaction.began
    if state == .connected {
      if source == selected { noteConsent(at: transaction.began) }
      return
    }
    guard let index = checks.add(source, priority: 0, local: localCandidates) else { return }
    checks.set(.succeeded, at: index)
    firstValid = firstValid ?? time
    if transaction.nominates || checks.pairs[index].isNominatedByPeer {
      select(source, consentedAt: transaction.began, at: time)
    } else {
      nominate(at: time)
    }
  }
}
