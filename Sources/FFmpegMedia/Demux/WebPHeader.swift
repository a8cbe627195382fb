// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The header of a WebP file (RFC 9649, 2.7).
enum WebPHeader {
  /// Whether the file is an animation. libavcodec does not decode those: it reports a picture
  /// without a size.
  static func isAnimated(_ reader: any MediaByteReader) -> Bool {
    guard let head = ByteWindow(reader).read(0, 21) else { return false }
    // The first chunk of an extended file is "VP8X"; its flags have a bit for animation.
    return head[0..<4].elementsEqual("RIFF".utf8) && head[8..<16].elementsEqual("WEBPVP8X".utf8)
      && head[20] & 0x02 != 0
  }
}
