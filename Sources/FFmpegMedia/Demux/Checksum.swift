// SPDX-License-Identifier: Apache-2.0
import CFFmpeg

/// CRC-32 of IEEE 802.3, for data that is stored in files and read again.
package enum Checksum {
  /// Computes the checksum of some bytes.
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - before: The checksum of the bytes that precede these; 0 for the first ones.
  package static func crc32(_ bytes: UnsafeRawBufferPointer, after before: UInt32 = 0) -> UInt32 {
    guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return before }
    return ~av_crc(av_crc_get_table(AV_CRC_32_IEEE_LE), ~before, base, bytes.count)
  }
}

/// MD5 (RFC 1321), to tell files apart. It is not protection against forgery.
package struct MD5Digest {
  private var state: [UInt8]

  /// Begins a digest of no bytes.
  package init() {
    state = Array(repeating: 0, count: Int(av_md5_size))
    state.withUnsafeMutableBytes { av_md5_init(Self.context($0)) }
  }

  /// Adds bytes to the digest.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
    state.withUnsafeMutableBytes { av_md5_update(Self.context($0), base, bytes.count) }
  }

  /// The digest of all bytes that were added, in hexadecimal digits. The value must not be used
  /// afterwards.
  package mutating func finish() -> String {
    var digest = [UInt8](repeating: 0, count: 16)
    state.withUnsafeMutableBytes { av_md5_final(Self.context($0), &digest) }
    let digits = Array("0123456789abcdef")
    return String(digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }

  private static func context(_ state: UnsafeMutableRawBufferPointer) -> OpaquePointer? {
    state.baseAddress.map { OpaquePointer($0) }
  }
}
