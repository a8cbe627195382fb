// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import WebRTC

/// The beginning of a session with a server that is asked over HTTP: the path to it, and the offer.
struct PeerOffer {
  let transport: PeerTransport
  var description: PeerDescription

  /// - Parameters:
  ///   - socket: the socket, which is bound to all addresses.
  ///   - server: the server.
  ///   - stun: the STUN server's address; nil for none.
  ///   - media: what is offered, the pictures first.
  /// - Throws: a `Failure` if this machine has no address, or no OpenSSL that serves.
  init(
    _ socket: DatagramSocket, server: SignallingURL, stun: SocketAddress?, media: [PeerDescription.Media]
  ) throws {
    let candidates = PeerAddresses.candidates(socket, takesLoopback: server.isLocal)
    guard !candidates.isEmpty else { throw Failure("this machine has no address to offer") }
    let identity: DTLSIdentity
    do { identity = try DTLSIdentity() } catch {
      throw Failure("this machine's OpenSSL cannot make a certificate")
    }
    var configuration = ICEAgent.Configuration(isControlling: true, candidates: candidates)
    configuration.server = stun.flatMap { TransportAddress($0) }
    // The answer of a server decides; all known ones begin themselves or let this end begin. This
    // end is the server of DTLS where the answer is active.
    transport = PeerTransport(identity, isServer: nil, ice: configuration, at: SessionTime.now)
    var random = SystemRandomNumberGenerator()
    description = PeerDescription(
      identifier: random.next() >> 1, credentials: transport.ice.credentials,
      fingerprints: [identity.fingerprint], setup: .either)
    description.media = media
  }

  /// The offer's text, with the candidates that are known by now.
  mutating func text() -> String {
    description.candidates = transport.ice.localCandidates
    description.hasAllCandidates = transport.ice.isGatheringComplete
    return description.text
  }

  /// Reads an answer.
  /// - Throws: a `Failure`.
  static func read(_ text: String, from server: SignallingURL) throws -> PeerDescription {
    do { return try PeerDescription(text) } catch {
      throw Failure("\(server.place) has answered, but \(error.text)")
    }
  }
}
