// SPDX-License-Identifier: Apache-2.0

/// Finds an address at which the other end can be reached and wants to be (RFC 8445), and watches
/// that it still does (RFC 7675). It has no socket and no clock: times come with each call, in
/// seconds, and datagrams are returned by ``takeOutgoing()``.
///
/// It is a full agent, or a lite one that answers checks and makes none (RFC 8445, 2.5). The whole
/// session is one component, since everything is bundled, and RTP and RTCP share a port. There is
/// one socket for each family of addresses, bound to all of the machine's, so that the system's
/// routes choose the local address of a pair. Candidates that come later are added as they come
/// (RFC 8838).
public struct ICEAgent: Sendable {
  public struct Configuration: Sendable {
    /// Whether this end answers checks and makes none, as servers do whose address is known.
    public var isLite = false
    /// Whether this end chooses the pair; the offerer does, or the full one beside a lite one.
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
  static let maxCandidates = 64
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
  public private(set) var isControlling: Bool
  private var tieBreaker: UInt64
  private var remote: ICECredentials?
  private var isRemoteLite = false
  private var pairs: [ICEPair] = []
  /// Addresses whose checks come first, since the peer has checked them (RFC 8445, 7.3.1.4).
  private var triggered: [TransportAddress] = []
  private var transactions: [STUNMessage.Transaction: STUNTransaction] = [:]
  private var outgoing: [(bytes: [UInt8], to: TransportAddress)] = []
  private var random = SystemRandomNumberGenerator()
  private let began: Double
  private var nextCheck: Double
  private var firstValid: Double?
  private var gathering: STUNTransaction?
  public private(set) var state = State.checking
  /// The peer's address of the chosen pair; nil before there is one.
  public private(set) var selected: TransportAddress?
  /// The candidates of this end, with the reflexive one as soon as the server has told it.
  public private(set) var localCandidates: [ICECandidate]
  /// When the newest request was sent that the peer has answered; for a lite agent, when the newest
  /// authentic request came.
  private var consented = -Double.infinity
  private var nextConsent = Double.infinity
  /// The round trip of the newest check, in seconds.
  public private(set) var roundTrip: Double?
  /// The number of messages that were malformed or not authentic.
  public private(set) var refused = 0

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
    guard let server = configuration.server, !configuration.isLite else { return }
    let request = STUNMessage(.request)
    guard let bytes = request.bytes(password: nil) else { return }
    gathering = STUNTransaction(
      id: request.transaction, bytes: bytes, target: server, nominates: false, at: time)
    outgoing.append((bytes, server))
  }

  public var credentials: ICECredentials { configuration.credentials }
  public var isLite: Bool { configuration.isLite }
  /// Whether all candidates of this end are known.
  public var isGatheringComplete: Bool { gathering == nil }

  /// Whether datagrams may be sent to ``selected``.
  /// - Parameter time: The current time.
  public func hasConsent(at time: Double) -> Bool {
    state == .connected && time - consented <= Self.consentTime
  }

  /// Whether a datagram from an address may be of the peer: one whose check has succeeded, or that
  /// has sent an authentic one.
  /// - Parameter address: Where the datagram came from.
  public func knows(_ address: TransportAddress) -> Bool {
    address == selected || pairs.contains { $0.remote == address && $0.state == .succeeded }
  }

  /// Sets what the peer's description says. Checks begin with it.
  /// - Parameters:
  ///   - credentials: The peer's credentials.
  ///   - isLite: Whether the peer is a lite agent, which never controls a full one.
  public mutating func setRemote(_ credentials: ICECredentials, isLite: Bool) {
    remote = credentials
    isRemoteLite = isLite
    if isLite, !configuration.isLite { isControlling = true }
  }

  /// Adds a candidate of the peer. One of a family of which this end has no candidate is left out,
  /// and so are those beyond ``maxCandidates``.
  /// - Parameter candidate: The candidate.
  public mutating func add(_ candidate: ICECandidate) {
    guard !configuration.isLite else { return }
    addPair(candidate.address, priority: candidate.priority)
  }

  @discardableResult
  private mutating func addPair(_ address: TransportAddress, priority: UInt32) -> Int? {
    if let known = pairs.firstIndex(where: { $0.remote == address }) { return known }
    guard pairs.count < Self.maxCandidates, address.isUnicast,
      localCandidates.contains(where: { $0.address.isIPv6 == address.isIPv6 })
    else { return nil }
    pairs.append(ICEPair(remote: address, remotePriority: priority))
    return pairs.count - 1
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
    var due = min(transactions.values.lazy.map(\.next).min() ?? .infinity, gathering?.next ?? .infinity)
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

  private var hasChecksToMake: Bool {
    !configuration.isLite && (!triggered.isEmpty || pairs.contains { $0.state == .waiting })
  }

  /// Does what is due: checks, repetitions, requests for consent.
  /// - Parameter time: The current time.
  public mutating func poll(at time: Double) {
    guard state != .failed else { return }
    if var asking = gathering {
      switch asking.step(at: time) {
      case .wait: break
      case .repeatNow:
        outgoing.append((asking.bytes, asking.target))
        gathering = asking
      case .giveUp: gathering = nil
      }
    }
    for (id, transaction) in transactions {
      var transaction = transaction
      switch transaction.step(at: time) {
      case .wait: break
      case .repeatNow:
        outgoing.append((transaction.bytes, transaction.target))
        transactions[id] = transaction
      case .giveUp:
        transactions[id] = nil
        noteFailure(of: transaction.target)
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

  private mutating func noteFailure(of address: TransportAddress) {
    guard let index = pairs.firstIndex(where: { $0.remote == address }), pairs[index].state == .inProgress
    else { return }
    pairs[index].state = .failed
  }

  private func priority(_ pair: ICEPair) -> UInt64 {
    let local =
      localCandidates.lazy.filter { $0.address.isIPv6 == pair.remote.isIPv6 }.map(\.priority).max() ?? 0
    return pair.priority(local: local, isControlling: isControlling)
  }

  /// Makes the next check, if it is time for one.
  private mutating func check(at time: Double) {
    guard remote != nil, time >= nextCheck, hasChecksToMake else { return }
    nextCheck = time + Self.pacing
    if !triggered.isEmpty {
      let address = triggered.removeFirst()
      setState(.inProgress, of: address)
      request(address, nominates: false, at: time)
      return
    }
    let waiting = pairs.indices.filter { pairs[$0].state == .waiting }
    guard let best = waiting.max(by: { priority(pairs[$0]) < priority(pairs[$1]) }) else { return }
    pairs[best].state = .inProgress
    request(pairs[best].remote, nominates: false, at: time)
  }

  private mutating func setState(_ state: ICEPair.State, of address: TransportAddress) {
    if let index = pairs.firstIndex(where: { $0.remote == address }) { pairs[index].state = state }
  }

  /// Nominates the best pair that works, once no better one may still come (RFC 8445, 8.1.1).
  private mutating func nominate(at time: Double) {
    guard isControlling, let firstValid,
      !transactions.values.contains(where: \.nominates),
      let best = pairs.filter({ $0.state == .succeeded }).max(by: { priority($0) < priority($1) })
    else { return }
    let isOpen = pairs.contains {
      ($0.state == .waiting || $0.state == .inProgress) && priority($0) > priority(best)
    }
    guard !isOpen || time - firstValid >= Self.nominationWait else { return }
    request(best.remote, nominates: true, at: time)
  }

  /// Sends a Binding request to an address.
  private mutating func request(
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
    case .success, .failure: receiveResponse(message, from: source, at: time)
    case .indication: break
    }
  }

  private mutating func answer(_ message: STUNMessage, from source: TransportAddress, at time: Double) {
    // No error is sent to who is not the peer, so that nobody learns that somebody listens here.
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
      if keepsRole, !configuration.isLite { return reply(.failure) { $0.errorCode = 487 } }
      if !configuration.isLite { isControlling.toggle() }
    }
    guard let index = addPair(source, priority: message.priority ?? 0) else { return }
    reply(.success) { $0.mappedAddress = source }
    if configuration.isLite {
      pairs[index].state = .succeeded
      if source == selected { consented = time }
      if message.nominates { select(source, consentedAt: time, at: time) }
      return
    }
    if message.nominates, !isControlling { pairs[index].isNominatedByPeer = true }
    switch pairs[index].state {
    case .succeeded: if pairs[index].isNominatedByPeer { selectNominated(index, at: time) }
    case .inProgress: break
    case .waiting, .failed:
      if !triggered.contains(source), triggered.count < Self.maxCandidates { triggered.append(source) }
      pairs[index].state = .waiting
    }
  }

  /// Selects a pair whose check the peer has answered, and that it has nominated.
  private mutating func selectNominated(_ index: Int, at time: Double) {
    pairs[index].isNominatedByPeer = false
    guard selected != pairs[index].remote else { return }
    select(pairs[index].remote, consentedAt: time, at: time)
  }

  private mutating func select(_ address: TransportAddress, consentedAt: Double, at time: Double) {
    selected = address
    consented = max(consented, consentedAt)
    guard state == .checking else { return }
    state = .connected
    nextConsent = time + Self.consentInterval
    triggered.removeAll()
    transactions.removeAll()
  }

  private mutating func receiveResponse(
    _ message: STUNMessage, from source: TransportAddress, at time: Double
  ) {
    if let asking = gathering, asking.id == message.transaction, source == asking.target {
      gathering = nil
      guard message.kind == .success, let address = message.mappedAddress, address.isUnicast else { return }
      guard !localCandidates.contains(where: { $0.address == address }),
        let base = localCandidates.first(where: { $0.address.isIPv6 == address.isIPv6 })
      else { return }
      localCandidates.append(ICECandidate(.serverReflexive, address, related: base.address))
      return
    }
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
        if !triggered.contains(source) { triggered.append(source) }
        setState(.waiting, of: source)
      } else {
        noteFailure(of: source)
      }
      return
    }
    roundTrip = time - transaction.began
    if state == .connected {
      if source == selected { consented = max(consented, transaction.began) }
      return
    }
    guard let index = addPair(source, priority: 0) else { return }
    pairs[index].state = .succeeded
    firstValid = firstValid ?? time
    if transaction.nominates || pairs[index].isNominatedByPeer {
      select(source, consentedAt: transaction.began, at: time)
    } else {
      nominate(at: time)
    }
  }
}
