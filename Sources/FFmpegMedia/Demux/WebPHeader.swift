// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The beginning of a WebP file (RFC 9649, 2.7).
enum WebPHeader {
  /// Whether the file has several pictures, which libavcodec does not decode: it finds a picture without a size.
  static func isAnimated(_ reader: any MediaByteReader) -> Bool {
    guard let head = ByteWindow(reader).read(0, 21) else { return false }
    // A chunk "VP8X" comes first, whose flags say so.
    return head[0..<4].elementsEqual("RIFF".utf8) && head[8..<16].elementsEqual("WEBPVP8X".utf8)
      && head[20] & 0x02 != 0
  }
}
