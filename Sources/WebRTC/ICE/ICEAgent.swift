// SPDX-License-Identifier: Apache-2.0

/// Finds an address at which the other end can be reached and wants to be (RFC 8445), and watches
/// that it still does (RFC 7675). It has no socket and no clock: times come with each call, in
/// seconds, and datagrams are returned by ``takeOutgoing()``.
///
/// It is a full agent, or a lite one that answers checks and makes none (RFC 8445, 2.5). The whole
/// session is one component, since everything is bundled, and RTP and RTCP share a port. There is
/// one port for each family of addresses, bound to all of the machine's, so that the system's
/// routes choose the local address of a pair. Candidates that come later are added as they come
/// (RFC 8838).
public struct ICEAgent: Sendable {
  public struct Configuration: Sendable {
    /// Whether this end answers checks and makes none, as servers do whose address is known.
    public var isLite = false
    /// Whether this end chooses the pair; the offerer does, or, if one agent is lite, the other
    /// one.
    public var isControlling: Bool
    public var credentials = ICECredentials.random()
    /// This end's host candidates.
    public var candidates: [ICECandidate]
    /// A STUN server that tells this end's address behind a translator; nil for none.
    public var server: TransportAddress?

    public init(isControlling: Bool, candidates: [ICECandidate]) {
      self.isControlling = isControlling
      self.candidates = candidates
    }
  }

  public enum State: Equatable, Sendable {
    /// No pair works yet.
    case checking
    /// A pair was chosen, and the peer still wants to be sent to.
    case connected
    /// No pair has worked in time, or the peer has not consented any more.
    case failed
  }

  /// The largest numbers of remote candidates, and of requests that wait for an answer.
  static let maxCandidates = ICECheckList.capacity
  static let maxTransactions = 128
  /// The time between two new checks (Ta; RFC 8445, 14.2).
  static let pacing = 0.05
  /// How long a pair is looked for, and how long a better one than the first that works.
  static let patience = 30.0
  static let nominationWait = 0.2
  /// The time between two requests for consent, which is varied by a fifth, and the time for which
  /// consent lasts (RFC 7675, 5.1).
  static let consentInterval = 5.0
  public static let consentTime = 30.0

  private let configuration: Configuration
  public internal(set) var isControlling: Bool
  let tieBreaker: UInt64
  private(set) var remote: ICECredentials?
  var checks = ICECheckList()
  /// The requests that wait for a response.
  var transactions: [STUNMessage.Transaction: STUNTransaction] = [:]
  var outgoing: [(bytes: [UInt8], to: TransportAddress)] = []
  private var random = SystemRandomNumberGenerator()
  private let began: Double
  var nextCheck: Double
  /// When the first check succeeded.
  var firstValid: Double?
  private var gathering: ICEGathering
  public private(set) var state = State.checking
  /// The peer's address of the chosen pair; nil before there is one.
  public private(set) var selected: TransportAddress?
  /// The candidates of this end, with the reflexive one as soon as the server has reported it.
  public private(set) var localCandidates: [ICECandidate]
  /// When the newest request was sent that the peer has answered; for a lite agent, when the newest
  /// authentic request came.
  private(set) var consented = -Double.infinity
  private var nextConsent = Double.infinity
  /// The round trip of the newest check, in seconds.
  public internal(set) var roundTrip: Double?
  /// The number of messages that were malformed or not authentic.
  public internal(set) var refused = 0

  /// Creates an agent, which begins to ask the STUN server at once.
  /// - Parameters:
  ///   - configuration: The configuration.
  ///   - time: The current time.
  public init(_ configuration: Configuration, at time: Double) {
    self.configuration = configuration
    isControlling = configuration.isControlling && !configuration.isLite
    localCandidates = configuration.candidates
    tieBreaker = random.next()
    began = time
    nextCheck = time
    gathering = ICEGathering(configuration.isLite ? nil : configuration.server, at: time)
    if let first = gathering.first { outgoing.append(first) }
  }

  public var credentials: ICECredentials { configuration.credentials }
  public var isLite: Bool { configuration.isLite }
  /// Whether all candidates of this end are known.
  public var isGatheringComplete: Bool { gathering.isComplete }

  /// Whether datagrams may be sent to ``selected``.
  /// - Parameter time: The current time.
  public func hasConsent(at time: Double) -> Bool {
    state == .connected && time - consented <= Self.consentTime
  }

  /// Whether a datagram from an address may be of the peer: one whose check has succeeded, or that
  /// has sent an authentic one.
  /// - Parameter address: Where the datagram came from.
  public func knows(_ address: TransportAddress) -> Bool {
    address == selected || checks.hasSucceeded(address)
  }

  /// Sets what the peer's description says. Checks begin with it.
  /// - Parameters:
  ///   - credentials: The peer's credentials.
  ///   - isLite: Whether the peer is a lite agent, which never controls a full one.
  public mutating func setRemote(_ credentials: ICECredentials, isLite: Bool) {
    remote = credentials
    if isLite, !configuration.isLite { isControlling = true }
  }

  /// Adds a candidate of the peer. One of a family of which this end has no candidate is left out,
  /// and so are those beyond ``maxCandidates``.
  /// - Parameter candidate: The candidate.
  public mutating func add(_ candidate: ICECandidate) {
    guard !configuration.isLite else { return }
    checks.add(candidate.address, priority: candidate.priority, local: localCandidates)
  }

  /// Removes and returns the datagrams to send, in order.
  public mutating func takeOutgoing() -> [(bytes: [UInt8], to: TransportAddress)] {
    defer { outgoing.removeAll(keepingCapacity: true) }
    return outgoing
  }

  // MARK: - Time

  /// The time when ``poll(at:)`` is due.
  public var deadline: Double {
    guard state != .failed else { return .infinity }
    var due = min(transactions.values.lazy.map(\.next).min() ?? .infinity, gathering.deadline)
    if state == .checking {
      due = min(due, began + Self.patience)
      if remote != nil, hasChecksToMake { due = min(due, nextCheck) }
      if let firstValid, isControlling, !transactions.values.contains(where: \.nominates) {
        due = min(due, firstValid + Self.nominationWait)
      }
    } else {
      due = min(due, configuration.isLite ? .infinity : nextConsent, consented + Self.consentTime)
    }
    return due
  }

  var hasChecksToMake: Bool {
    !configuration.isLite && checks.hasChecks
  }

  /// Does what is due: checks, repetitions, requests for consent.
  /// - Parameter time: The current time.
  public mutating func poll(at time: Double) {
    guard state != .failed else { return }
    if let again = gathering.poll(at: time) { outgoing.append(again) }
    for (id, transaction) in transactions {
      var transaction = transaction
      switch transaction.step(at: time) {
      case .wait: break
      case .repeatNow:
        outgoing.append((transaction.bytes, transaction.target))
        transactions[id] = transaction
      case .giveUp:
        transactions[id] = nil
        checks.noteFailure(of: transaction.target)
      }
    }
    switch state {
    case .checking:
      if time - began >= Self.patience {
        state = .failed
        return
      }
      check(at: time)
      nominate(at: time)
    case .connected:
      if time - consented > Self.consentTime {
        state = .failed
        transactions.removeAll()
        return
      }
      // A lite agent makes no requests: those of its peer, which are authentic, are the consent.
      if time >= nextConsent, !configuration.isLite, let selected {
        nextConsent = time + Self.consentInterval * Double.random(in: 0.8...1.2, using: &random)
        // Not repeated: the next one has a number of its own (RFC 7675, 5.1).
        request(selected, nominates: false, at: time, attempts: 1)
      }
    case .failed: break
    }
  }

  // MARK: - What comes

  /// Processes a STUN message.
  /// - Parameters:
  ///   - bytes: The datagram.
  ///   - source: Where it came from.
  ///   - time: When it came.
  public mutating func receive(_ bytes: [UInt8], from source: TransportAddress, at time: Double) {
    guard state != .failed else { return }
    guard let message = STUNMessage(bytes) else {
      refused += 1
      return
    }
    switch message.kind {
    case .request: answer(message, from: source, at: time)
    case .success, .failure:
      if let found = gathering.take(message, from: source, local: localCandidates) {
        localCandidates += found
      } else {
        receiveResponse(message, from: source, at: time)
      }
    case .indication: break
    }
  }

  /// Chooses a pair (RFC 8445, 8.1.2).
  /// - Parameters:
  ///   - address: The peer's address.
  ///   - consentedAt: When the peer has consented.
  ///   - time: The current time.
  mutating func select(_ address: TransportAddress, consentedAt: Double, at time: Double) {
    selected = address
    consented = max(consented, consentedAt)
    guard state == .checking else { return }
    state = .connected
    nextConsent = time + Self.consentInterval
    checks.removeTriggered()
    transactions.removeAll()
  }

  /// Notes that the peer of the chosen pair consents (RFC 7675, 5.1).
  /// - Parameter time: When it did, at the earliest.
  mutating func noteConsent(at time: Double) { consented = max(consented, time) }
}
