// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CodecInterface

/// The libavutil format of a Core Video pixel format.
struct PixelFormatInfo: Sendable {
  let code: UInt32
  let format: AVPixelFormat
  /// Whether luma and chroma use the full range. RGB always does.
  let isFullRange: Bool
  let isRGB: Bool
  /// The arrangement of the samples where libavutil has no format for it; `format` has the same
  /// samples then. nil: it is that of `format`.
  let packing: PackedSamples?

  private init(_ code: StaticString, _ format: AVPixelFormat, full: Bool = false) {
    self.code = fourCharacterCode(code)
    self.format = format
    isRGB = Self.isRGB(format)
    isFullRange = full || isRGB
    packing = nil
  }

  private init(_ code: StaticString, _ packing: PackedSamples) {
    self.code = fourCharacterCode(code)
    self.packing = packing
    format = packing.format
    isRGB = Self.isRGB(format)
    isFullRange = isRGB
  }

  private init(number: UInt32, _ format: AVPixelFormat) {
    code = number
    self.format = format
    isRGB = Self.isRGB(format)
    isFullRange = true
    packing = nil
  }

  static func isRGB(_ format: AVPixelFormat) -> Bool {
    guard let descriptor = av_pix_fmt_desc_get(format) else { return false }
    return descriptor.pointee.flags & UInt64(AV_PIX_FMT_FLAG_RGB) != 0
  }

  /// The formats that can be converted. Samples of 10-bit biplanar formats are in the upper bits of
  /// 16-bit words.
  static let all: [PixelFormatInfo] = [
    PixelFormatInfo("420v", AV_PIX_FMT_NV12),
    PixelFormatInfo("420f", AV_PIX_FMT_NV12, full: true),
    PixelFormatInfo("422v", AV_PIX_FMT_NV16),
    PixelFormatInfo("422f", AV_PIX_FMT_NV16, full: true),
    PixelFormatInfo("444v", AV_PIX_FMT_NV24),
    PixelFormatInfo("444f", AV_PIX_FMT_NV24, full: true),
    PixelFormatInfo("x420", AV_PIX_FMT_P010LE),
    PixelFormatInfo("xf20", AV_PIX_FMT_P010LE, full: true),
    PixelFormatInfo("x422", AV_PIX_FMT_P210LE),
    PixelFormatInfo("xf22", AV_PIX_FMT_P210LE, full: true),
    PixelFormatInfo("x444", AV_PIX_FMT_P410LE),
    PixelFormatInfo("xf44", AV_PIX_FMT_P410LE, full: true),
    PixelFormatInfo("sv22", AV_PIX_FMT_P216LE),
    PixelFormatInfo("sv44", AV_PIX_FMT_P416LE),
    PixelFormatInfo("y420", AV_PIX_FMT_YUV420P),
    PixelFormatInfo("f420", AV_PIX_FMT_YUV420P, full: true),
    PixelFormatInfo("2vuy", AV_PIX_FMT_UYVY422),
    PixelFormatInfo("yuvs", AV_PIX_FMT_YUYV422),
    PixelFormatInfo("yuvf", AV_PIX_FMT_YUYV422, full: true),
    PixelFormatInfo("y416", AV_PIX_FMT_AYUV64LE),
    PixelFormatInfo("L008", AV_PIX_FMT_GRAY8, full: true),
    PixelFormatInfo("L016", AV_PIX_FMT_GRAY16LE, full: true),
    PixelFormatInfo("b16g", AV_PIX_FMT_GRAY16BE, full: true),
    PixelFormatInfo("BGRA", AV_PIX_FMT_BGRA),
    PixelFormatInfo("RGBA", AV_PIX_FMT_RGBA),
    PixelFormatInfo("ABGR", AV_PIX_FMT_ABGR),
    PixelFormatInfo(number: 32, AV_PIX_FMT_ARGB),
    PixelFormatInfo(number: 24, AV_PIX_FMT_RGB24),
    PixelFormatInfo("24BG", AV_PIX_FMT_BGR24),
    PixelFormatInfo(number: 16, AV_PIX_FMT_RGB555BE),
    PixelFormatInfo("L555", AV_PIX_FMT_RGB555LE),
    PixelFormatInfo("B565", AV_PIX_FMT_RGB565BE),
    PixelFormatInfo("L565", AV_PIX_FMT_RGB565LE),
    PixelFormatInfo("l64r", AV_PIX_FMT_RGBA64LE),
    PixelFormatInfo("b48r", AV_PIX_FMT_RGB48BE),
    PixelFormatInfo("l10r", AV_PIX_FMT_X2RGB10LE),
    PixelFormatInfo("v216", .v216),
    PixelFormatInfo("v210", .v210),
    PixelFormatInfo("v410", .v410),
    PixelFormatInfo("v308", .v308),
    PixelFormatInfo("v408", .v408),
    PixelFormatInfo("y408", .y408),
    PixelFormatInfo("b64a", .b64a),
  ]

  private static let byCode = Dictionary(uniqueKeysWithValues: all.map { ($0.code, $0) })

  static func of(_ code: UInt32) -> PixelFormatInfo? { byCode[code] }

  /// The pixel format with the same samples as a decoder's format, or with its chroma interleaved;
  /// nil if there is none.
  static func native(for format: AVPixelFormat, fullRange: Bool) -> PixelFormatInfo? {
    let target = SemiPlanarPair(planar: format)?.semiPlanar ?? format
    let same = all.filter { $0.format == target && $0.packing == nil }
    return same.first { $0.isRGB || $0.isFullRange == fullRange } ?? same.first
  }
}

/// The value of a four-character code such as "420v".
func fourCharacterCode(_ text: StaticString) -> UInt32 {
  text.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
}
