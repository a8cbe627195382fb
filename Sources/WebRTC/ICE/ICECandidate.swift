// SPDX-License-Identifier: Apache-2.0

/// An address at which an end of a session may be reached (RFC 8445, 5.1). Only UDP and one
/// component exist here: RTP and RTCP share a port (RFC 5761).
public struct ICECandidate: Hashable, Sendable {
  public enum Kind: String, Sendable {
    case host
    case serverReflexive = "srflx"
    case peerReflexive = "prflx"
    case relayed = "relay"

    /// The recommended preference (RFC 8445, 5.1.2.2).
    var preference: UInt32 {
      switch self {
      case .host: 126
      case .peerReflexive: 110
      case .serverReflexive: 100
      case .relayed: 0
      }
    }
  }

  public var kind: Kind
  public var address: TransportAddress
  public var priority: UInt32
  /// Up to 32 letters and digits, equal for candidates that are frozen together (RFC 8445,
  /// 5.1.1.3).
  public var foundation: String
  /// The address that a reflexive or relayed candidate stands for; only for diagnosis.
  public var related: TransportAddress?

  /// Creates a candidate of this end, with its recommended priority (RFC 8445, 5.1.2.1).
  /// - Parameters:
  ///   - kind: How the address was found.
  ///   - address: The address.
  ///   - localPreference: Which address is preferred among those of a kind, the highest first.
  ///   - related: The address that a reflexive candidate stands for.
  public init(
    _ kind: Kind, _ address: TransportAddress, localPreference: UInt16 = 65_535,
    related: TransportAddress? = nil
  ) {
    self.kind = kind
    self.address = address
    self.related = related
    priority = Self.priority(kind, localPreference: localPreference)
    let hash = CRC32.of(Array(kind.rawValue.utf8) + (related ?? address).bytes)
    foundation = String(hash, radix: 10)
  }

  static func priority(_ kind: Kind, localPreference: UInt16) -> UInt32 {
    kind.preference << 24 | UInt32(localPreference) << 8 | 255
  }

  /// Reads a candidate line (RFC 8839, 5.1).
  /// - Parameter line: What follows `a=`, or the whole of a browser's `candidate`: it begins with
  ///   `candidate:`.
  /// - Returns: Nil for what cannot be used here (TCP, a second component, a name in place of an
  ///   address), and for what is malformed.
  public init?(_ line: some StringProtocol) {
    guard line.hasPrefix("candidate:"), line.utf8.count <= 512 else { return nil }
    let words = line.dropFirst("candidate:".count).split(separator: " ")
    guard words.count >= 8, (1...32).contains(words[0].utf8.count), words[1] == "1",
      words[2].lowercased() == "udp", let priority = UInt32(words[3]), priority > 0,
      let port = UInt16(words[5]), let address = TransportAddress(String(words[4]), port: port),
      address.isUnicast, words[6] == "typ", let kind = Kind(rawValue: String(words[7]))
    else { return nil }
    self.kind = kind
    self.address = address
    self.priority = priority
    foundation = String(words[0])
  }

  /// The candidate as a line of a session description, without `a=`.
  public var line: String {
    var text =
      "candidate:\(foundation) 1 udp \(priority) \(address.host) \(address.port) typ \(kind.rawValue)"
    if kind != .host {
      // A hidden address is written as 0.0.0.0 (RFC 8839, 5.1).
      text += " raddr \(related?.host ?? "0.0.0.0") rport \(related?.port ?? 0)"
    }
    return text
  }
}

/// The short-term credential of one end (RFC 8445, 5.3).
public struct ICECredentials: Hashable, Sendable {
  /// The user fragment, of 4 to 256 ice-chars.
  public let fragment: String
  /// The password, of 22 to 256 ice-chars.
  public let password: String

  /// Draws credentials with 48 and 144 random bits.
  public static func random() -> ICECredentials {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var generator = SystemRandomNumberGenerator()
    func text(_ count: Int) -> String {
      let drawn = (0..<count).map { _ in letters[Int.random(in: 0..<64, using: &generator)] }
      return String(decoding: drawn, as: UTF8.self)
    }
    return ICECredentials(unchecked: text(8), text(24))
  }

  private init(unchecked fragment: String, _ password: String) {
    self.fragment = fragment
    self.password = password
  }

  /// Takes credentials of a session description; nil if they are not as RFC 8839, 5.4, wants them.
  /// - Parameters:
  ///   - fragment: The value of `a=ice-ufrag`.
  ///   - password: The value of `a=ice-pwd`.
  public init?(fragment: String, password: String) {
    func isGood(_ text: String, _ range: ClosedRange<Int>) -> Bool {
      range.contains(text.utf8.count)
        && text.utf8.allSatisfy { byte in
          switch byte {
          case 48...57, 65...90, 97...122, 43, 47: true
          default: false
          }
        }
    }
    guard isGood(fragment, 4...256), isGood(password, 22...256) else { return nil }
    self.init(unchecked: fragment, password)
  }
}
