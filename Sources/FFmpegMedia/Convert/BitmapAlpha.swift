// SPDX-License-Identifier: Apache-2.0
import CFFmpeg

/// What the fourth byte of an uncompressed picture of an AVI file (a bitmap, BI_RGB) with 32 bits a pixel is.
///
/// By the definition of bitmaps it is not used, and most writers leave 0 there, which libavcodec gives out as alpha of a
/// picture that nobody sees. Some write alpha: from the first picture on in which any is not 0, it is.
struct BitmapAlpha {
  private let isBitmap: Bool
  private var isUsed = false

  init(_ context: UnsafePointer<AVCodecContext>, _ stored: StoredCodec?) {
    // No other container leaves the name of raw pictures out.
    isBitmap = context.pointee.codec_id == AV_CODEC_ID_RAWVIDEO && stored?.tag == 0
  }

  /// Tells Core Video's side of a decoder that a frame has no alpha.
  mutating func settle(_ frame: UnsafeMutablePointer<AVFrame>) {
    guard isBitmap, !isUsed, frame.pointee.format == AV_PIX_FMT_BGRA.rawValue else { return }
    isUsed = Self.hasAlpha(frame)
    if !isUsed { frame.pointee.format = AV_PIX_FMT_BGR0.rawValue }
  }

  private static func hasAlpha(_ frame: UnsafePointer<AVFrame>) -> Bool {
    guard let base = frame.pointee.data.0 else { return false }
    let width = Int(frame.pointee.width)
    for y in 0..<Int(frame.pointee.height) {
      // The rows of bitmaps begin at the bottom: the distance is negative.
      let row = UnsafeRawPointer(base + y * Int(frame.pointee.linesize.0))
      var any: UInt32 = 0
      for x in 0..<width { any |= row.loadUnaligned(fromByteOffset: 4 &* x, as: UInt32.self) }
      if UInt32(littleEndian: any) >> 24 != 0 { return true }
    }
    return false
  }
}
