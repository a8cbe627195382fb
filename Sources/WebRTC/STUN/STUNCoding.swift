// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

extension STUNMessage {
  /// Reads a message.
  ///
  /// Nothing in it is authentic before ``isAuthentic(password:)`` says so. A fingerprint that is
  /// there must be right (RFC 8489, 14.7). Attributes after MESSAGE-INTEGRITY are left out, but
  /// for the fingerprint (14.5), and so are those of which there is one already (14).
  /// - Parameter bytes: The datagram.
  /// - Returns: Nil if it is not a Binding message, or is damaged.
  public init?(_ bytes: [UInt8]) {
    guard Self.isMessage(bytes), bytes.count <= Self.maxBytes, bytes.count % 4 == 0 else { return nil }
    var reader = ByteReader(bytes[...])
    guard let type = try? reader.uint16(), let kind = Class(rawValue: type),
      let length = try? reader.uint16(), Int(length) == bytes.count - 20, (try? reader.uint32()) != nil,
      let transaction = try? reader.bytes(12)
    else { return nil }
    self.init(kind, transaction: Transaction(bytes: Array(transaction)))
    var seen: Set<UInt16> = []
    while reader.remaining > 0 {
      let offset = bytes.count - reader.remaining
      guard let type = try? reader.uint16(), let size = try? reader.uint16(),
        let value = try? reader.bytes(Int(size)), (try? reader.bytes(-Int(size) & 3)) != nil,
        seen.count < Self.maxAttributes
      else { return nil }
      guard seen.insert(type).inserted, !hasIntegrity || type == STUNAttribute.fingerprint else { continue }
      if type == STUNAttribute.fingerprint {
        var field = ByteReader(value)
        guard reader.remaining == 0, size == 4, let fingerprint = try? field.uint32(),
          fingerprint == CRC32.of(bytes[..<offset]) ^ Self.fingerprintMask
        else { return nil }
        continue
      }
      if type == STUNAttribute.integrity {
        guard size == 20 else { return nil }
        hasIntegrity = true
        // The length covers the message up to this attribute's end (14.5).
        var head = Array(bytes[..<offset])
        let covered = UInt16(offset + 24 - 20)
        head[2] = UInt8(covered >> 8)
        head[3] = UInt8(truncatingIfNeeded: covered)
        signed = (head, Array(value))
        continue
      }
      guard read(type, value) else { return nil }
    }
  }

  /// Reads an attribute; returns false if it is malformed.
  private mutating func read(_ type: UInt16, _ value: ArraySlice<UInt8>) -> Bool {
    var reader = ByteReader(value)
    switch type {
    case STUNAttribute.username:
      guard value.count <= 513, let text = String(validating: value, as: UTF8.self) else { return false }
      username = text
    case STUNAttribute.xorMappedAddress, STUNAttribute.mappedAddress:
      let isHidden = type == STUNAttribute.xorMappedAddress
      guard let address = Self.readAddress(&reader, isHidden: isHidden, transaction) else { return false }
      // The plain one is of old servers, and counts only without the other.
      if isHidden || mappedAddress == nil { mappedAddress = address }
    case STUNAttribute.priority:
      guard value.count == 4, let number = try? reader.uint32() else { return false }
      priority = number
    case STUNAttribute.useCandidate:
      guard value.isEmpty else { return false }
      nominates = true
    case STUNAttribute.controlling, STUNAttribute.controlled:
      guard value.count == 8, let number = try? reader.uint64() else { return false }
      if type == STUNAttribute.controlling { controlling = number } else { controlled = number }
    case STUNAttribute.errorCode:
      guard (try? reader.uint16()) != nil, let hundreds = try? reader.uint8(), let rest = try? reader.uint8(),
        (3...6).contains(hundreds & 7), rest < 100
      else { return false }
      errorCode = Int(hundreds & 7) * 100 + Int(rest)
    case STUNAttribute.unknown, STUNAttribute.integritySHA256: break
    default: if type < 0x8000 { unknownAttributes.append(type) }
    }
    return true
  }

  private static func readAddress(
    _ reader: inout ByteReader<ArraySlice<UInt8>>, isHidden: Bool, _ transaction: Transaction
  ) -> TransportAddress? {
    guard (try? reader.uint8()) != nil, let family = try? reader.uint8(), family == 1 || family == 2,
      let port = try? reader.uint16(), let bytes = try? reader.bytes(family == 1 ? 4 : 16),
      reader.remaining == 0
    else { return nil }
    guard isHidden else { return TransportAddress(bytes: Array(bytes), port: port) }
    return TransportAddress(
      bytes: zip(bytes, mask(transaction)).map { $0 ^ $1 }, port: port ^ UInt16(cookie >> 16))
  }

  /// The mask that hides addresses, so that no router on the way rewrites them (RFC 8489, 14.2).
  private static func mask(_ transaction: Transaction) -> [UInt8] {
    var result: [UInt8] = []
    result.append(bigEndian: cookie)
    return result + transaction.bytes
  }

  /// Writes the message.
  /// - Parameter password: The password to authenticate it with; nil for a message to a STUN
  ///   server, which has none.
  /// - Returns: The bytes, with a fingerprint; nil if OpenSSL cannot authenticate them.
  public func bytes(password: String?) -> [UInt8]? {
    var body: [UInt8] = []
    func add(_ type: UInt16, _ value: [UInt8]) {
      body.append(bigEndian: type)
      body.append(bigEndian: UInt16(value.count))
      body += value
      while body.count % 4 != 0 { body.append(0) }
    }
    if let errorCode {
      add(STUNAttribute.errorCode, [0, 0, UInt8(clamping: errorCode / 100), UInt8(errorCode % 100)])
    }
    if !unknownAttributes.isEmpty {
      var numbers: [UInt8] = []
      for number in unknownAttributes.prefix(8) { numbers.append(bigEndian: number) }
      add(STUNAttribute.unknown, numbers)
    }
    if let username { add(STUNAttribute.username, Array(username.utf8)) }
    if let mappedAddress {
      var value: [UInt8] = [0, mappedAddress.isIPv6 ? 2 : 1]
      value.append(bigEndian: mappedAddress.port ^ UInt16(Self.cookie >> 16))
      add(
        STUNAttribute.xorMappedAddress,
        value + zip(mappedAddress.bytes, Self.mask(transaction)).map { $0 ^ $1 })
    }
    func number(_ value: some FixedWidthInteger & UnsignedInteger) -> [UInt8] {
      var bytes: [UInt8] = []
      bytes.append(bigEndian: value)
      return bytes
    }
    if let priority { add(STUNAttribute.priority, number(priority)) }
    if nominates { add(STUNAttribute.useCandidate, []) }
    if let controlled { add(STUNAttribute.controlled, number(controlled)) }
    if let controlling { add(STUNAttribute.controlling, number(controlling)) }
    if let password {
      guard let mac = Self.mac(of: head(body.count + 24) + body, password: password) else { return nil }
      add(STUNAttribute.integrity, mac)
    }
    add(STUNAttribute.fingerprint, number(CRC32.of(head(body.count + 8) + body) ^ Self.fingerprintMask))
    return head(body.count) + body
  }

  private func head(_ length: Int) -> [UInt8] {
    var result: [UInt8] = []
    result.append(bigEndian: kind.rawValue)
    result.append(bigEndian: UInt16(length))
    result.append(bigEndian: Self.cookie)
    return result + transaction.bytes
  }
}

/// The checksum of ITU-T V.42, 8.1.1.6.2, which FINGERPRINT uses (RFC 8489, 14.7).
enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
  }

  static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
    ~bytes.reduce(UInt32.max) { $0 >> 8 ^ table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] }
  }
}
