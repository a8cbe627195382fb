// SPDX-License-Identifier: Apache-2.0
import CSRTP
import VideoBitstream

/// A STUN message (RFC 8489, 5) with the attributes that ICE uses (RFC 8445, 7.1).
public struct STUNMessage: Equatable, Sendable {
  /// The class of a message (RFC 8489, 5), of the method Binding, the only one that ICE needs.
  public enum Class: UInt16, Sendable {
    case request = 0x0001
    case indication = 0x0011
    case success = 0x0101
    case failure = 0x0111
  }

  /// The 96 random bits that a response repeats.
  public struct Transaction: Hashable, Sendable {
    public let bytes: [UInt8]

    /// Draws a new identifier. It is unpredictable, so that only a receiver of the request can
    /// answer it (RFC 8489, 5; RFC 7675, 5.1).
    public static func random() -> Transaction {
      var generator = SystemRandomNumberGenerator()
      return Transaction(bytes: (0..<12).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    init(bytes: [UInt8]) { self.bytes = bytes }
  }

  /// The largest message that is read, in bytes: longer ones are not of ICE.
  public static let maxBytes = 1024
  /// The largest number of attributes that is read.
  static let maxAttributes = 32
  static let cookie: UInt32 = 0x2112_A442
  static let fingerprintMask: UInt32 = 0x5354_554E

  public var kind: Class
  public var transaction: Transaction
  /// The two user fragments, the receiver's first, with a colon between them (RFC 8445, 7.1.1).
  public var username: String?
  /// The sender's address as the receiver of a request saw it.
  public var mappedAddress: TransportAddress?
  public var priority: UInt32?
  public var nominates = false
  /// The tie-breakers of the two roles.
  public var controlling: UInt64?
  public var controlled: UInt64?
  /// The code of a failure, from 300 to 699; 487 is a conflict of roles.
  public var errorCode: Int?
  /// Attributes from 0 to 0x7FFF that the reader does not know, for which a request is refused
  /// (RFC 8489, 6.3.1).
  public internal(set) var unknownAttributes: [UInt16] = []
  /// Whether the message has an attribute MESSAGE-INTEGRITY, valid or not.
  public internal(set) var hasIntegrity = false
  /// The authenticated bytes and their authentication, for ``isAuthentic(password:)``.
  var signed: (bytes: [UInt8], mac: [UInt8])?

  public init(_ kind: Class, transaction: Transaction = .random()) {
    self.kind = kind
    self.transaction = transaction
  }

  public static func == (one: STUNMessage, other: STUNMessage) -> Bool {
    one.kind == other.kind && one.transaction == other.transaction && one.username == other.username
      && one.mappedAddress == other.mappedAddress && one.priority == other.priority
      && one.nominates == other.nominates && one.controlling == other.controlling
      && one.controlled == other.controlled && one.errorCode == other.errorCode
  }

  /// Whether a datagram is STUN, by its first byte and the cookie (RFC 7983, 7; RFC 8489, 6.3).
  /// - Parameter bytes: The datagram.
  public static func isMessage(_ bytes: [UInt8]) -> Bool {
    bytes.count >= 20 && bytes[0] < 4 && bytes[4...7].elementsEqual([0x21, 0x12, 0xA4, 0x42])
  }

  /// Whether the sender of the message has the password (RFC 8489, 9.1.3).
  /// - Parameter password: The password of the short-term credential.
  public func isAuthentic(password: String) -> Bool {
    guard let signed, let expected = Self.mac(of: signed.bytes, password: password) else { return false }
    var difference: UInt8 = 0
    for (one, other) in zip(expected, signed.mac) { difference |= one ^ other }
    return difference == 0 && signed.mac.count == expected.count
  }

  /// HMAC-SHA-1 with a password, which is ASCII and so its own OpaqueString form (RFC 8489, 9.1.1).
  static func mac(of message: [UInt8], password: String) -> [UInt8]? {
    var result = [UInt8](repeating: 0, count: 20)
    let key = Array(password.utf8)
    return ovt_hmac_sha1(key, key.count, message, message.count, &result) == 1 ? result : nil
  }
}

/// The numbers of attributes (RFC 8489, 14; RFC 8445, 16.1).
enum STUNAttribute {
  static let mappedAddress: UInt16 = 0x0001
  static let username: UInt16 = 0x0006
  static let integrity: UInt16 = 0x0008
  static let errorCode: UInt16 = 0x0009
  static let unknown: UInt16 = 0x000A
  static let integritySHA256: UInt16 = 0x001C
  static let xorMappedAddress: UInt16 = 0x0020
  static let priority: UInt16 = 0x0024
  static let useCandidate: UInt16 = 0x0025
  static let fingerprint: UInt16 = 0x8028
  static let controlled: UInt16 = 0x8029
  static let controlling: UInt16 = 0x802A
}
