// SPDX-License-Identifier: Apache-2.0

/// The content of a session description for a WebRTC peer (RFC 8829): one transport that everything
/// is bundled on (RFC 8843), and the media that go over it.
public struct PeerDescription: Equatable, Sendable {
  public enum Direction: String, Sendable {
    case sendAndReceive = "sendrecv"
    case sendOnly = "sendonly"
    case receiveOnly = "recvonly"
    case inactive
  }

  /// The end that begins the handshake of DTLS (RFC 8842, 5.1).
  public enum Setup: String, Sendable {
    /// The answer decides; only of an offer.
    case either = "actpass"
    case active
    case passive
  }

  /// One media description.
  public struct Media: Equatable, Sendable {
    /// `audio`, `video`, `application`, or what else the other end has.
    public var kind: String
    public var mid: String
    public var direction = Direction.sendAndReceive
    /// Whether it is refused: its port is 0.
    public var isRejected = false
    public var formats: [MediaFormat] = []
    /// The identifiers of header extensions by their URI, from 1 to 14.
    public var extensions: [String: UInt8] = [:]
    /// The synchronisation sources of its streams, retransmissions excepted.
    public var sources: [UInt32] = []
    /// The retransmissions' source of a media source (RFC 5576, 4.2).
    public var repairSources: [UInt32: UInt32] = [:]
    /// The protocol and the formats as they were written, which an answer repeats.
    public var proto = "UDP/TLS/RTP/SAVPF"
    public var writtenFormats: [String] = []

    public init(kind: String, mid: String) {
      self.kind = kind
      self.mid = mid
    }

    /// The format that sends another one's packets again; nil if there is none.
    public func retransmission(of payloadType: UInt8) -> MediaFormat? {
      formats.first { $0.associated == payloadType }
    }
  }

  public enum Failure: Error, Equatable, Sendable {
    case syntax(SDPDocument.Failure)
    /// There is no usable transport: what is missing or wrong is said in words.
    case unusable(String)
  }

  public var identifier: UInt64
  public var credentials: ICECredentials
  public var isLite = false
  public var candidates: [ICECandidate] = []
  /// Whether no further candidates come (RFC 8840).
  public var hasAllCandidates = false
  public var fingerprints: [CertificateFingerprint]
  public var setup: Setup
  public var media: [Media] = []

  public init(
    identifier: UInt64, credentials: ICECredentials, fingerprints: [CertificateFingerprint], setup: Setup
  ) {
    self.identifier = identifier
    self.credentials = credentials
    self.fingerprints = fingerprints
    self.setup = setup
  }
}
