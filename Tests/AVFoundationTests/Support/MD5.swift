// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

/// The MD5 sum of RFC 1321 in hexadecimal digits, to compare with ffmpeg's sums.
func md5(_ data: Data) -> String {
  var sum = [UInt8](repeating: 0, count: 16)
  data.withUnsafeBytes { bytes in
    av_md5_sum(&sum, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
  }
  return sum.map { String(format: "%02x", $0) }.joined()
}
