// SPDX-License-Identifier: Apache-2.0

/// The answers to the peer's checks (RFC 8445, 7.3).
extension ICEAgent {
  /// Answers a check of the peer.
  mutating func answer(_ message: STUNMessage, from source: TransportAddress, at time: Double) {
    // No error is sent to a sender that is not the peer, so that the port is not disclosed.
    guard source.isUnicast, message.hasIntegrity, message.isAuthentic(password: credentials.password),
      let names = message.username?.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false),
      names.count == 2, names[0] == credentials.fragment, remote.map({ names[1] == $0.fragment }) ?? true
    else {
      refused += 1
      return
    }
    func reply(_ kind: STUNMessage.Class, _ change: (inout STUNMessage) -> Void) {
      var response = STUNMessage(kind, transaction: message.transaction)
      change(&response)
      if let bytes = response.bytes(password: credentials.password) { outgoing.append((bytes, source)) }
    }
    guard message.unknownAttributes.isEmpty else {
      return reply(.failure) {
        $0.errorCode = 420
        $0.unknownAttributes = message.unknownAttributes
      }
    }
    // Two ends of the same role: the one with the larger tie-breaker controls (RFC 8445, 7.3.1.1).
    if let other = isControlling ? message.controlling : message.controlled {
      let keepsRole = isControlling == (tieBreaker >= other)
      if keepsRole, !isLite { return reply(.failure) { $0.errorCode = 487 } }
      if !isLite { isControlling.toggle() }
    }
    guard let index = checks.add(source, priority: message.priority ?? 0, local: localCandidates) else {
      return
    }
    reply(.success) { $0.mappedAddress = source }
    if isLite {
      checks.set(.succeeded, at: index)
      if source == selected { noteConsent(at: time) }
      if message.nominates { select(source, consentedAt: time, at: time) }
      return
    }
    if message.nominates, !isControlling { checks.set(isNominatedByPeer: true, at: index) }
    switch checks.pairs[index].state {
    case .succeeded: if checks.pairs[index].isNominatedByPeer { selectNominated(index, at: time) }
    case .inProgress: break
    case .waiting, .failed: checks.trigger(source)
    }
  }

  /// Selects a pair whose check the peer has answered, and that it has nominated.
  private mutating func selectNominated(_ index: Int, at time: Double) {
    checks.set(isNominatedByPeer: false, at: index)
    let remote = checks.pairs[index].remote
    if selected != remote { select(remote, consentedAt: time, at: time) }
  }
}
