// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport

/// The path to one WebRTC peer: ICE finds it, DTLS agrees on keys over it, and SRTP protects what
/// goes over it. All share one port (RFC 7983). It has no socket; times come with each call, in
/// seconds.
///
/// Nothing but checks is sent before the peer has answered one, and nothing at all from the moment
/// on when its consent has expired. DTLS and media count only from addresses whose checks have
/// succeeded.
public final class PeerTransport {
  public enum State: Equatable, Sendable {
    case connecting
    case connected
    /// The peer has closed the association.
    case closed
    case failed(Failure)
  }

  public enum Failure: Error, Equatable, Sendable {
    /// No address of the peer has answered.
    case unreachable
    /// The peer has not answered checks for ``ICEAgent/consentTime``.
    case silent
    case security(DTLSFailure)
  }

  /// The content of a datagram.
  public enum Incoming: Equatable, Sendable {
    case media([UInt8])
    case control([RTCPPacket])
  }

  /// The kind of a datagram by its first byte (RFC 7983, 7).
  public enum Kind: Equatable, Sendable {
    case stun, dtls, media, other

    public init(_ bytes: [UInt8]) {
      self =
        switch bytes.first.map({ Int($0) }) ?? -1 {
        case 0...3: .stun
        case 20...63: .dtls
        case 128...191: .media
        default: .other
        }
    }
  }

  public private(set) var ice: ICEAgent
  private let identity: DTLSIdentity
  /// Whether the peer begins the handshake; nil where its description decides.
  private let isServer: Bool?
  /// The association; nil before the peer's description is known.
  private var dtls: DTLSEndpoint?
  private var hasStarted = false
  private var wasConnected = false
  /// Where DTLS is answered before a pair is chosen.
  private var handshakeSource: TransportAddress?
  private var outgoing: [(bytes: [UInt8], to: TransportAddress)] = []
  public private(set) var state = State.connecting
  /// The number of datagrams from unknown senders or without authentication.
  public private(set) var refused = 0

  /// Creates the path.
  /// - Parameters:
  ///   - identity: This end's certificate.
  ///   - isServer: Whether the peer begins the handshake of DTLS; nil for an offer that lets the
  ///     answer decide.
  ///   - ice: How addresses are found.
  ///   - time: The current time.
  public init(_ identity: DTLSIdentity, isServer: Bool?, ice: ICEAgent.Configuration, at time: Double) {
    self.identity = identity
    self.isServer = isServer
    self.ice = ICEAgent(ice, at: time)
  }

  /// Takes what the peer's description says of the path.
  public func setRemote(_ description: PeerDescription) {
    guard dtls == nil else { return }
    dtls = DTLSEndpoint(
      identity, isServer: isServer ?? (description.setup == .active), fingerprints: description.fingerprints)
    ice.setRemote(description.credentials, isLite: description.isLite)
    for candidate in description.candidates { ice.add(candidate) }
  }

  /// Adds a candidate that came later (RFC 8838).
  public func add(_ candidate: ICECandidate) { ice.add(candidate) }

  /// The profile of SRTP that was agreed on; nil before the handshake is done.
  public var profile: String? { dtls?.protection?.profile }

  /// Whether media may be sent.
  public func canSend(at time: Double) -> Bool { state == .connected && ice.hasConsent(at: time) }

  /// The time when ``poll(at:)`` is due.
  /// - Parameter time: The current time: waits of DTLS are counted from it.
  public func deadline(at time: Double) -> Double {
    guard state == .connecting || state == .connected else { return .infinity }
    return min(ice.deadline, dtls?.timeLeft.map { time + $0 } ?? .infinity)
  }

  /// Removes and returns the datagrams to send, in order.
  public func takeOutgoing() -> [(bytes: [UInt8], to: TransportAddress)] {
    outgoing += ice.takeOutgoing()
    defer { outgoing.removeAll(keepingCapacity: true) }
    return outgoing
  }

  /// Does what is due: checks, consent, repeated flights.
  public func poll(at time: Double) {
    guard state == .connecting || state == .connected else { return }
    ice.poll(at: time)
    if ice.state == .connected, dtls != nil {
      if !hasStarted {
        hasStarted = true
        dtls?.startIfClient()
      }
      dtls?.handleTimeout()
    }
    flush()
    update()
  }

  /// Sends a packet to the peer, if it still consents.
  /// - Parameters:
  ///   - packet: An RTP packet, or a compound RTCP packet.
  ///   - isControl: Whether it is RTCP.
  ///   - time: The current time.
  public func send(_ packet: [UInt8], isControl: Bool, at time: Double) {
    guard canSend(at: time), let peer = ice.selected,
      let hidden = dtls?.protection?.protect(packet, isControl: isControl)
    else { return }
    outgoing.append((hidden, peer))
  }

  /// Processes a datagram.
  /// - Parameters:
  ///   - bytes: The datagram.
  ///   - source: Where it came from.
  ///   - time: When it came.
  /// - Returns: Its content for the media; nil if that is nothing.
  public func receive(_ bytes: [UInt8], from source: TransportAddress, at time: Double) -> Incoming? {
    guard state == .connecting || state == .connected else { return nil }
    switch Kind(bytes) {
    case .stun:
      ice.receive(bytes, from: source, at: time)
      if ice.state == .connected, !hasStarted { poll(at: time) }
      update()
    case .dtls:
      guard ice.knows(source) else {
        refused += 1
        return nil
      }
      handshakeSource = source
      dtls?.receive(bytes)
      flush()
      update()
    case .media:
      guard ice.knows(source), let protection = dtls?.protection, bytes.count >= 12 else {
        refused += 1
        return nil
      }
      // RTCP by its packet type (RFC 5761, 4).
      let isControl = (192...223).contains(bytes[1])
      guard let plain = protection.unprotect(bytes, isControl: isControl) else {
        refused += 1
        return nil
      }
      guard isControl else { return .media(plain) }
      return RTCPPacket.parse(plain).map { .control($0) }
    case .other: refused += 1
    }
    return nil
  }

  /// Ends the path, and tells the peer.
  public func close() {
    dtls?.close()
    flush()
    if state == .connecting || state == .connected { state = .closed }
  }

  private func flush() {
    guard let peer = ice.selected ?? handshakeSource else { return }
    for datagram in dtls?.takeOutgoing() ?? [] { outgoing.append((datagram, peer)) }
  }

  private func update() {
    if case .failed(let failure)? = dtls?.state {
      state = .failed(.security(failure))
    } else if ice.state == .failed {
      state = .failed(wasConnected ? .silent : .unreachable)
    } else if dtls?.state == .closed {
      state = .closed
    } else if dtls?.state == .connected, ice.state == .connected {
      state = .connected
      wasConnected = true
    }
  }
}
