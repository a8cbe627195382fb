// SPDX-License-Identifier: Apache-2.0
import CSRTP
import RealTimeSecurity
import RealTimeTransport

/// One end of a DTLS 1.2 association that agrees on the keys of SRTP (RFC 6347, RFC 5764). The
/// implementation is OpenSSL. It has no socket: datagrams are passed to it, and those to send are
/// returned by ``takeOutgoing()``. Data of the association itself is not used, and is dropped.
///
/// OpenSSL's clock tells when a flight is sent again; all else happens within the calls.
public final class DTLSEndpoint {
  public enum State: Equatable, Sendable {
    case handshaking
    case connected
    /// The peer has closed the association.
    case closed
    case failed(DTLSFailure)
  }

  /// The largest datagram that is sent, in bytes: what passes through every path of the Internet
  /// with room for the headers of a tunnel.
  private static let mtu = 1200
  /// The largest number of datagrams that may come before the handshake is done. A handshake takes
  /// some ten, and a flood must not cost more than this.
  private static let maxDatagrams = 512

  private let identity: DTLSIdentity
  private let isServer: Bool
  /// The peer's fingerprints, of which one has to fit.
  private let fingerprints: [CertificateFingerprint]
  /// OpenSSL's object; nil if it could not be made.
  private var ssl: OpaquePointer?
  private var hasFinished = false
  private var received = 0
  private var outgoing: [[UInt8]] = []
  public private(set) var state = State.handshaking
  /// How media is protected; nil before the handshake is done.
  public private(set) var protection: SRTPTransport?

  /// Creates an end. A client begins with ``startIfClient()``.
  /// - Parameters:
  ///   - identity: This end's certificate.
  ///   - isServer: Whether it waits for the other end's first flight (`a=setup:passive`).
  ///   - fingerprints: What the peer's certificate is compared with: one of them has to fit.
  public init(_ identity: DTLSIdentity, isServer: Bool, fingerprints: [CertificateFingerprint]) {
    self.identity = identity
    self.isServer = isServer
    self.fingerprints = fingerprints
    ssl = ovt_make_dtls(identity.context, isServer ? 1 : 0, Self.mtu)
    if ssl == nil { state = .failed(.unavailable) }
  }

  deinit { if let ssl { SSL_free(ssl) } }

  /// Sends the first flight of a client; a server waits for it.
  public func startIfClient() { if !isServer { advance() } }

  /// Removes and returns the datagrams to send, in order.
  public func takeOutgoing() -> [[UInt8]] {
    defer { outgoing.removeAll(keepingCapacity: true) }
    return outgoing
  }

  /// The time in seconds until ``handleTimeout()`` has something to do; nil if nothing waits.
  public var timeLeft: Double? {
    guard let ssl, state == .handshaking else { return nil }
    let left = ovt_dtls_timeout(ssl)
    return left < 0 ? nil : left
  }

  /// Sends the last flight again, if its answer is overdue.
  public func handleTimeout() {
    guard let ssl, state == .handshaking else { return }
    if ovt_dtls_handle_timeout(ssl) < 0 { fail(.timeout) }
    collect()
  }

  /// Processes a datagram of the association.
  /// - Parameter bytes: The datagram.
  public func receive(_ bytes: [UInt8]) {
    guard let ssl, let input = SSL_get_rbio(ssl), bytes.count >= 13, bytes.count <= 16_384 else { return }
    switch state {
    case .handshaking:
      received += 1
      guard received <= Self.maxDatagrams else { return fail(.handshake("too many datagrams")) }
    // The peer's last flight may come again, and alerts may still come.
    case .connected: break
    case .closed, .failed: return
    }
    guard bytes.withUnsafeBytes({ BIO_write(input, $0.baseAddress, Int32($0.count)) }) == bytes.count else {
      return
    }
    advance()
    // The remainder of the datagram in OpenSSL must not join with the next one.
    ovt_bio_reset(input)
  }

  /// Tells the peer that the association ends.
  public func close() {
    guard let ssl, state == .connected else { return }
    _ = SSL_shutdown(ssl)
    collect()
    state = .closed
  }

  /// Lets OpenSSL go on with what has come.
  private func advance() {
    guard let ssl else { return }
    defer { collect() }
    ERR_clear_error()
    if !hasFinished {
      let result = SSL_do_handshake(ssl)
      guard result == 1 else {
        if SSL_get_error(ssl, result) != SSL_ERROR_WANT_READ { fail(.handshake(Self.reason)) }
        return
      }
      hasFinished = true
      finish()
    }
    guard hasFinished, state == .connected || state == .handshaking else { return }
    var scratch = [UInt8](repeating: 0, count: 2048)
    // A datagram holds a bounded number of records.
    for _ in 0..<64 {
      let count = SSL_read(ssl, &scratch, Int32(scratch.count))
      guard count <= 0 else { continue }
      switch SSL_get_error(ssl, count) {
      case SSL_ERROR_WANT_READ: break
      case SSL_ERROR_ZERO_RETURN: state = .closed
      default: fail(.handshake(Self.reason))
      }
      break
    }
  }

  private static var reason: String { ovt_ssl_error().map { String(cString: $0) } ?? "no reason was given" }

  private func fail(_ failure: DTLSFailure) {
    if case .failed = state { return }
    state = .failed(failure)
    protection = nil
  }

  /// Compares the certificate and takes the keys, once the handshake is done.
  private func finish() {
    guard let ssl, state == .handshaking else { return }
    guard let certificate = ovt_dtls_peer_certificate(ssl) else { return fail(.wrongFingerprint) }
    defer { X509_free(certificate) }
    guard fingerprints.contains(where: { CertificateFingerprint(of: certificate, $0.function) == $0 }) else {
      return fail(.wrongFingerprint)
    }
    let profile: SRTPProtection.Profile
    switch Int32(truncatingIfNeeded: ovt_dtls_srtp_profile(ssl)) {
    case SRTP_AEAD_AES_128_GCM: profile = .aes128GCM
    case SRTP_AES128_CM_SHA1_80: profile = .aes128CounterSHA1
    default: return fail(.noProfile)
    }
    guard let protection = Self.protection(ssl, profile, isServer: isServer) else {
      return fail(.unavailable)
    }
    self.protection = protection
    state = .connected
  }

  /// Exports the keys: those of client and server, and then the salts of both (RFC 5764, 4.2).
  private static func protection(
    _ ssl: OpaquePointer, _ profile: SRTPProtection.Profile, isServer: Bool
  ) -> SRTPTransport? {
    let (key, salt) = (profile.keySize, profile.saltSize)
    guard let all = KeyBytes(count: 2 * (key + salt), { ovt_dtls_export(ssl, $0, 2 * (key + salt)) == 1 })
    else { return nil }
    func part(_ index: Int) -> KeyBytes? {
      KeyBytes(count: key + salt) { target in
        all.withBytes { source -> Bool in
          target.update(from: source + index * key, count: key)
          (target + key).update(from: source + 2 * key + index * salt, count: salt)
          return true
        } == true
      }
    }
    guard let client = part(0), let server = part(1),
      let protection = try? SRTPProtection(
        outbound: isServer ? server : client, inbound: isServer ? client : server, profile: profile,
        repeats: true)
    else { return nil }
    return SRTPTransport(protection, profile)
  }

  /// Splits what OpenSSL wants to send into records, and packs them into datagrams (RFC 6347,
  /// 4.1.1).
  private func collect() {
    guard let ssl, let output = SSL_get_wbio(ssl) else { return }
    let size = ovt_bio_pending(output)
    guard size > 0 else { return }
    var bytes = [UInt8](repeating: 0, count: size)
    let count = bytes.withUnsafeMutableBytes { BIO_read(output, $0.baseAddress, Int32(clamping: $0.count)) }
    guard count > 0 else { return }
    outgoing += DTLSRecord.datagrams(bytes.prefix(Int(count)), mtu: Self.mtu)
  }
}

/// The protection of media that an association has agreed on.
public struct SRTPTransport {
  let protection: SRTPProtection
  /// The name of the profile, as the IANA registers it.
  public let profile: String

  init(_ protection: SRTPProtection, _ profile: SRTPProtection.Profile) {
    self.protection = protection
    self.profile = profile == .aes128GCM ? "SRTP_AEAD_AES_128_GCM" : "SRTP_AES128_CM_HMAC_SHA1_80"
  }

  /// Encrypts a packet; nil if it cannot be sent.
  func protect(_ packet: [UInt8], isControl: Bool) -> [UInt8]? {
    protection.protect(packet, isControl: isControl)
  }

  /// Decrypts a packet; nil if it is not authentic, or a replay.
  func unprotect(_ packet: [UInt8], isControl: Bool) -> [UInt8]? {
    protection.unprotect(packet, isControl: isControl)
  }
}
