// SPDX-License-Identifier: Apache-2.0

/// Asks a STUN server for this end's address behind a translator (RFC 8445, 5.1.1.2).
struct ICEGathering: Sendable {
  private var transaction: STUNTransaction?

  /// Begins to ask.
  /// - Parameters:
  ///   - server: The server; nil if none is asked.
  ///   - time: The current time.
  init(_ server: TransportAddress?, at time: Double) {
    let request = STUNMessage(.request)
    guard let server, let bytes = request.bytes(password: nil) else { return }
    transaction = STUNTransaction(
      id: request.transaction, bytes: bytes, target: server, nominates: false, at: time)
  }

  /// Whether no answer is waited for.
  var isComplete: Bool { transaction == nil }
  var deadline: Double { transaction?.next ?? .infinity }
  /// The first request; nil if none is made.
  var first: (bytes: [UInt8], to: TransportAddress)? { transaction.map { ($0.bytes, $0.target) } }

  /// Does what is due.
  /// - Parameter time: The current time.
  /// - Returns: A request to send again; nil for none.
  mutating func poll(at time: Double) -> (bytes: [UInt8], to: TransportAddress)? {
    switch transaction?.step(at: time) {
    case .wait, nil: return nil
    case .repeatNow: return first
    case .giveUp:
      transaction = nil
      return nil
    }
  }

  /// Takes the server's answer.
  /// - Parameters:
  ///   - message: A response.
  ///   - source: Where it came from.
  ///   - local: The candidates that are known.
  /// - Returns: Nil if the message is not an answer to this request; otherwise the candidates that
  ///   it adds, one at most.
  mutating func take(
    _ message: STUNMessage, from source: TransportAddress, local: [ICECandidate]
  ) -> [ICECandidate]? {
    guard let asking = transaction, asking.id == message.transaction, source == asking.target else {
      return nil
    }
    transaction = nil
    guard message.kind == .success, let address = message.mappedAddress, address.isUnicast,
      !local.contains(where: { $0.address == address }),
      let base = local.first(where: { $0.address.isIPv6 == address.isIPv6 })
    else { return [] }
    return [ICECandidate(.serverReflexive, address, related: base.address)]
  }
}
