// SPDX-License-Identifier: Apache-2.0

/// The framing of DTLS 1.2 (RFC 6347, 4.1): records of a header of 13 bytes and a body.
public enum DTLSRecord {
  static let headerSize = 13

  /// The records that bytes consist of. What is truncated at the end is left out.
  /// - Parameter bytes: A datagram, or several.
  public static func split(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    var result: [ArraySlice<UInt8>] = []
    var rest = bytes
    while rest.count >= headerSize {
      let length = Int(rest[rest.startIndex + 11]) << 8 | Int(rest[rest.startIndex + 12])
      guard rest.count >= headerSize + length else { break }
      result.append(rest.prefix(headerSize + length))
      rest = rest.dropFirst(headerSize + length)
    }
    return result
  }

  /// Packs records into datagrams. A record larger than the limit has a datagram of its own.
  /// - Parameters:
  ///   - bytes: The records.
  ///   - mtu: The largest size of a datagram in bytes.
  public static func datagrams(_ bytes: ArraySlice<UInt8>, mtu: Int) -> [[UInt8]] {
    var result: [[UInt8]] = []
    for record in split(bytes) {
      if let last = result.last, last.count + record.count <= mtu {
        result[result.count - 1] += record
      } else {
        result.append(Array(record))
      }
    }
    return result
  }
}
