// SPDX-License-Identifier: Apache-2.0
import CSRTP

/// The hash of a certificate, which a session description names, so that the signer of the
/// description vouches for the certificate (RFC 8122, 5).
public struct CertificateFingerprint: Hashable, Sendable {
  /// The hash functions that are accepted. SHA-1 and MD5 are not, since collisions can be made.
  public enum Function: String, Sendable {
    case sha256 = "sha-256"
    case sha384 = "sha-384"
    case sha512 = "sha-512"

    var size: Int {
      switch self {
      case .sha256: 32
      case .sha384: 48
      case .sha512: 64
      }
    }

    /// OpenSSL's name of the function.
    var name: String {
      switch self {
      case .sha256: "SHA256"
      case .sha384: "SHA384"
      case .sha512: "SHA512"
      }
    }
  }

  public let function: Function
  public let bytes: [UInt8]

  /// Reads the value of `a=fingerprint`, such as `sha-256 4A:AD:...`.
  /// - Parameter text: The value.
  /// - Returns: Nil if it is malformed or of another hash function.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: " ")
    guard parts.count == 2, let function = Function(rawValue: parts[0].lowercased()) else { return nil }
    let pairs = parts[1].split(separator: ":", omittingEmptySubsequences: false)
    guard pairs.count == function.size else { return nil }
    var bytes: [UInt8] = []
    for pair in pairs {
      guard pair.utf8.count == 2, let byte = UInt8(pair, radix: 16) else { return nil }
      bytes.append(byte)
    }
    self.function = function
    self.bytes = bytes
  }

  /// Computes the fingerprint of a certificate; nil if OpenSSL fails.
  init?(of certificate: OpaquePointer, _ function: Function) {
    var result = [UInt8](repeating: 0, count: 64)
    guard ovt_certificate_digest(certificate, function.name, &result) == function.size else { return nil }
    self.function = function
    bytes = Array(result.prefix(function.size))
  }

  /// The value of `a=fingerprint`.
  public var text: String {
    let digits = Array("0123456789ABCDEF")
    let pairs = bytes.map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }
    return "\(function.rawValue) \(pairs.joined(separator: ":"))"
  }
}

/// A key pair with a certificate that it has signed itself, for one or several sessions (RFC 8827,
/// 6.5). The key is on the curve P-256, and exists in this process's memory alone.
public final class DTLSIdentity: @unchecked Sendable {
  // Sendable: the context does not change after `init`, and OpenSSL counts references to it under a
  // lock of its own.
  let context: OpaquePointer
  public let fingerprint: CertificateFingerprint

  /// The profiles of SRTP that are offered, the best first (RFC 5764, 4.1.2; RFC 7714, 14.2).
  private static let profiles = "SRTP_AEAD_AES_128_GCM:SRTP_AES128_CM_SHA1_80"

  /// Makes a new key and a certificate.
  /// - Throws: ``DTLSFailure/unavailable`` if OpenSSL fails.
  public init() throws {
    guard let key = ovt_make_p256_key() else { throw DTLSFailure.unavailable }
    // The context keeps references of its own.
    defer { EVP_PKEY_free(key) }
    guard let certificate = ovt_make_certificate(key) else { throw DTLSFailure.unavailable }
    defer { X509_free(certificate) }
    guard let fingerprint = CertificateFingerprint(of: certificate, .sha256),
      let context = ovt_make_dtls_context(certificate, key, Self.profiles)
    else { throw DTLSFailure.unavailable }
    self.fingerprint = fingerprint
    self.context = context
  }

  deinit { SSL_CTX_free(context) }
}

/// Why a DTLS association does not come about, or has ended.
public enum DTLSFailure: Error, Equatable, Sendable {
  /// OpenSSL lacks memory or an algorithm.
  case unavailable
  /// The peer's certificate is not the one that its description names.
  case wrongFingerprint
  /// The peers have no protection profile of SRTP in common.
  case noProfile
  /// The handshake failed, with OpenSSL's reason.
  case handshake(String)
  /// The peer did not answer.
  case timeout
}
