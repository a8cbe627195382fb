// SPDX-License-Identifier: Apache-2.0
import CSRTP
import RealTimeTransport

/// A key that both ends of a call have exchanged beforehand.
///
/// A key for authenticating greetings (HMAC with SHA-256) is derived from it, and with the nonces
/// of both ends the SRTP keys of each direction (HKDF with SHA-256, RFC 5869). Since the nonces are
/// new in each session, no two sessions share SRTP keys. There is no forward secrecy: whoever
/// obtains the key later can decrypt recorded sessions.
public struct PresharedKey: SharedSecret {
  public enum Failure: Error, Equatable, Sendable {
    /// The text is neither 64 hexadecimal digits nor 32 bytes in Base64.
    case malformed
    /// The secret is shorter than ``shortestSecret``.
    case tooShort
    /// The cryptographic library failed, for lack of memory or of an algorithm.
    case unavailable
  }

  /// The size of the key in bytes.
  public static let size = 32
  /// The least length of a secret in bytes of UTF-8.
  public static let shortestSecret = 8
  /// scrypt's cost parameter N (RFC 7914): each guess takes about 64 MB and a tenth of a second.
  private static let cost: UInt64 = 1 << 16
  private static let salt = Array("OpenVideoToolbox call secret 1".utf8)

  // They are overwritten when the last copy of this value is released.
  private let root: KeyBytes
  private let greetingKey: KeyBytes

  /// Makes a key from random bytes. The copies that are kept, and all derived keys, are overwritten
  /// when they are no longer needed; the caller remains responsible for the passed bytes.
  /// - Parameter bytes: 32 bytes.
  /// - Throws: a ``Failure``.
  public init(bytes: [UInt8]) throws {
    guard bytes.count == Self.size else { throw Failure.malformed }
    try self.init(KeyBytes(bytes))
  }

  private init(_ root: KeyBytes) throws {
    self.root = root
    greetingKey = try Self.derive(root, salt: [], info: "greeting", size: 32)
  }

  /// - Parameter text: 64 hexadecimal digits, or 32 bytes in Base64.
  /// - Throws: a ``Failure``.
  public init(text: String) throws {
    guard var bytes = Self.hexadecimal(text) ?? Self.base64(text) else { throw Failure.malformed }
    defer { KeyBytes.wipe(&bytes) }
    try self.init(bytes: bytes)
  }

  /// Derives a key from a passphrase by scrypt (RFC 7914).
  /// - Parameter secret: the passphrase, of at least ``shortestSecret`` bytes in UTF-8.
  /// - Throws: a ``Failure``.
  public init(secret: String) throws {
    var letters = Array(secret.utf8)
    defer { KeyBytes.wipe(&letters) }
    guard letters.count >= Self.shortestSecret else { throw Failure.tooShort }
    let key = KeyBytes(count: Self.size) { result in
      letters.withUnsafeBytes { letters in
        ovt_scrypt(
          letters.bindMemory(to: CChar.self).baseAddress, letters.count, Self.salt, Self.salt.count,
          Self.cost, result, Self.size) == 1
      }
    }
    guard let key else { throw Failure.unavailable }
    try self.init(key)
  }

  public func authenticate(_ message: [UInt8]) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: 32)
    // An empty tag never authenticates a message.
    let isMade = greetingKey.withBytes {
      ovt_hmac_sha256($0, greetingKey.count, message, message.count, &result) == 1
    }
    guard isMade == true else { return [] }
    return result
  }

  public func protection(
    sender: Greeting.Nonce, receiver: Greeting.Nonce, isSender: Bool
  ) throws -> any PacketProtection {
    let salt = sender.bytes + receiver.bytes
    let forth = try Self.derive(root, salt: salt, info: "from sender", size: SRTPProtection.keySize)
    let back = try Self.derive(root, salt: salt, info: "from receiver", size: SRTPProtection.keySize)
    return try SRTPProtection(outbound: isSender ? forth : back, inbound: isSender ? back : forth)
  }

  private static func derive(_ key: KeyBytes, salt: [UInt8], info: String, size: Int) throws -> KeyBytes {
    let info = Array("OpenVideoToolbox \(info)".utf8)
    let result = KeyBytes(count: size) { result in
      key.withBytes {
        ovt_hkdf_sha256($0, key.count, salt, salt.count, info, info.count, result, size) == 1
      } == true
    }
    guard let result else { throw Failure.unavailable }
    return result
  }

  private static func hexadecimal(_ text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count == 2 * size else { return nil }
    var result: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = nibble(digits[index]), let low = nibble(digits[index + 1]) else { return nil }
      result.append(high << 4 | low)
    }
    return result
  }

  private static func nibble(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 48...57: digit - 48
    case 65...70: digit - 55
    case 97...102: digit - 87
    default: nil
    }
  }

  private static func base64(_ text: String) -> [UInt8]? {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var digits = Array(text.utf8)
    if digits.last == 61 { digits.removeLast() }
    guard digits.count == 43 else { return nil }
    var (bits, count): (UInt32, Int) = (0, 0)
    var result: [UInt8] = []
    for digit in digits {
      guard let value = alphabet.firstIndex(of: digit) else { return nil }
      bits = bits << 6 | UInt32(value)
      count += 6
      if count >= 8 {
        count -= 8
        result.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    return result.count == size ? result : nil
  }
}
