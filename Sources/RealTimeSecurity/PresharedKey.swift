// SPDX-License-Identifier: Apache-2.0
import CSRTP
import RealTimeTransport

/// A key that both ends of a call have from somewhere else.
///
/// Of it come a key for greetings (HMAC with SHA-256) and, with the numbers of both ends that no session had before, keys
/// for SRTP of each direction (HKDF with SHA-256, RFC 5869): no two sessions have the same, and what was recorded of one
/// says nothing to another. Who gets the key later can read what was recorded; there is no forward secrecy.
public struct PresharedKey: SharedSecret {
  public enum Failure: Error, Equatable, Sendable {
    /// It is neither 64 hexadecimal digits nor 32 bytes in Base64.
    case malformed
    /// The secret is shorter than ``shortestSecret``.
    case tooShort
    /// The library refused; there is no memory for it, or it lacks an algorithm.
    case unavailable
  }

  public static let size = 32
  /// Characters that a secret has at least.
  public static let shortestSecret = 8
  /// scrypt's N: some 64 MB and a tenth of a second for each guess.
  private static let cost: UInt64 = 1 << 16
  private static let salt = Array("OpenVideoToolbox call secret 1".utf8)

  // Overwritten with the last copy of this.
  private let root: KeyBytes
  private let greetingKey: KeyBytes

  /// - Parameter bytes: 32, chosen at random. What is kept of them, and all keys that come of them, are overwritten when they
  ///   are not needed any more; the bytes that were passed are the caller's.
  public init(bytes: [UInt8]) throws {
    guard bytes.count == Self.size else { throw Failure.malformed }
    try self.init(KeyBytes(bytes))
  }

  private init(_ root: KeyBytes) throws {
    self.root = root
    greetingKey = try Self.derive(root, salt: [], info: "greeting", size: 32)
  }

  /// - Parameter text: 64 hexadecimal digits, or 32 bytes in Base64.
  public init(text: String) throws {
    guard var bytes = Self.hexadecimal(text) ?? Self.base64(text) else { throw Failure.malformed }
    defer { KeyBytes.wipe(&bytes) }
    try self.init(bytes: bytes)
  }

  /// A key from words that people can tell each other, through scrypt (RFC 7914).
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
    // Without a tag nothing is authentic.
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
