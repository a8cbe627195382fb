// SPDX-License-Identifier: Apache-2.0
import CFFmpeg

/// Finds out whether the fourth byte of a pixel of an uncompressed 32-bit picture in an AVI file (a
/// bitmap with BI_RGB compression) is alpha.
///
/// The definition of bitmaps leaves it unused, and most writers set it to 0, so that libavcodec's
/// pictures, with that byte as alpha, would be invisible. Some writers store alpha: the byte counts
/// as alpha from the first picture on in which it is not 0 everywhere.
struct BitmapAlpha {
  private let isBitmap: Bool
  private var isUsed = false

  init(_ context: UnsafePointer<AVCodecContext>, _ stored: StoredCodec?) {
    // Only AVI stores raw pictures without a four-character code.
    isBitmap = context.pointee.codec_id == AV_CODEC_ID_RAWVIDEO && stored?.tag == 0
  }

  /// Sets the frame's pixel format to one without alpha, as long as all alpha bytes were 0.
  mutating func removeUnusedAlpha(_ frame: UnsafeMutablePointer<AVFrame>) {
    guard isBitmap, !isUsed, frame.pointee.format == AV_PIX_FMT_BGRA.rawValue else { return }
    isUsed = Self.hasAlpha(frame)
    if !isUsed { frame.pointee.format = AV_PIX_FMT_BGR0.rawValue }
  }

  private static func hasAlpha(_ frame: UnsafePointer<AVFrame>) -> Bool {
    guard let base = frame.pointee.data.0 else { return false }
    let width = Int(frame.pointee.width)
    for y in 0..<Int(frame.pointee.height) {
      // Bitmaps store the bottom row first, so that the stride is negative.
      let row = UnsafeRawPointer(base + y * Int(frame.pointee.linesize.0))
      var any: UInt32 = 0
      for x in 0..<width { any |= row.loadUnaligned(fromByteOffset: 4 &* x, as: UInt32.self) }
      if UInt32(littleEndian: any) >> 24 != 0 { return true }
    }
    return false
  }
}
