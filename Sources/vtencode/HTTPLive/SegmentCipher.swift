// SPDX-License-Identifier: Apache-2.0
import Foundation
import RealTimeSecurity

/// Encrypts segments by AES-128 in CBC mode (RFC 8216bis, 4.4.4.4 and 5.2).
enum SegmentCipher {
  /// - Parameters:
  ///   - chunks: the segment's bytes.
  ///   - key: the key.
  ///   - number: the segment's number, which is its initialization vector.
  /// - Returns: the encrypted segment, padded to whole blocks (PKCS #7).
  /// - Throws: a `Failure` if the library cannot encrypt.
  static func encrypt(_ chunks: [Data], key: SegmentKey, number: Int) throws -> Data {
    var vector = [UInt8](repeating: 0, count: 16)
    for index in 0..<8 { vector[15 - index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
    let plain = chunks.reduce(into: [UInt8]()) { $0.append(contentsOf: $1) }
    guard let encrypted = AES128CBC.encrypt(plain, key: key.bytes, vector: vector) else {
      throw Failure("this machine's OpenSSL cannot encrypt segments")
    }
    return Data(encrypted)
  }
}
