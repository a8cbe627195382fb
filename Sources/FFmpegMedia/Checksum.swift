// SPDX-License-Identifier: Apache-2.0
import CFFmpeg

/// CRC-32 as of IEEE 802.3, for what is kept in files and read again.
package enum Checksum {
  /// - Parameter before: The checksum of the bytes that these follow.
  package static func crc32(_ bytes: UnsafeRawBufferPointer, after before: UInt32 = 0) -> UInt32 {
    guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return before }
    return ~av_crc(av_crc_get_table(AV_CRC_32_IEEE_LE), ~before, base, bytes.count)
  }
}
