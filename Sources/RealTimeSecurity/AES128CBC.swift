// SPDX-License-Identifier: Apache-2.0
import CSRTP

/// AES-128 in CBC mode with padding (NIST SP 800-38A, 6.2, and RFC 5652, 6.3).
public enum AES128CBC {
  /// Encrypts a message.
  /// - Parameters:
  ///   - message: the bytes.
  ///   - key: 16 bytes.
  ///   - vector: the initialization vector, 16 bytes.
  /// - Returns: the encrypted message, whose size is the next multiple of 16 bytes; nil if a size
  ///   is wrong or OpenSSL does not offer the cipher.
  public static func encrypt(_ message: [UInt8], key: [UInt8], vector: [UInt8]) -> [UInt8]? {
    guard key.count == 16, vector.count == 16, message.count <= Int(Int32.max) - 16 else { return nil }
    var result = [UInt8](repeating: 0, count: message.count + 16)
    let size = ovt_aes128_cbc(key, vector, message, Int32(message.count), &result)
    guard size > 0 else { return nil }
    return Array(result.prefix(Int(size)))
  }
}
