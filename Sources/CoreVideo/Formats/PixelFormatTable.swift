// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

extension PixelFormat {
  /// All built-in formats: packed pixels first, then packed YCbCr, then planar formats, then single
  /// components and sensor data.
  static let table: [PixelFormat] =
    indexed + packedRGB + packedYCbCr + planar + biPlanar + components + sensor

  private static func packed(_ bits: Int, _ black: [UInt8] = []) -> [Plane] {
    [Plane(bitsPerBlock: bits, black: black)]
  }

  private static let indexed: [PixelFormat] = [
    (kCVPixelFormatType_1Monochrome, 1, UInt8(0)), (kCVPixelFormatType_2Indexed, 2, 0),
    (kCVPixelFormatType_4Indexed, 4, 0), (kCVPixelFormatType_8Indexed, 8, 0),
    (kCVPixelFormatType_1IndexedGray_WhiteIsZero, 1, 0xFF),
    (kCVPixelFormatType_2IndexedGray_WhiteIsZero, 2, 0xFF),
    (kCVPixelFormatType_4IndexedGray_WhiteIsZero, 4, 0xFF),
    (kCVPixelFormatType_8IndexedGray_WhiteIsZero, 8, 0xFF),
  ].map { code, bits, black in
    let gray = code > 8 || code == kCVPixelFormatType_1Monochrome
    return PixelFormat(
      code, gray ? "\(bits)-bit grey" : "\(bits)-bit indexed colour",
      [Plane(blockWidth: 8 / bits, bitsPerBlock: 8, black: [black])], gray ? .grayscale : .rgb, nil,
      bits: bits)
  }

  private static let packedRGB: [PixelFormat] = [
    .init(kCVPixelFormatType_16BE555, "RGB 555, big endian", packed(16), .rgb, .full, bits: 5),
    .init(kCVPixelFormatType_16LE555, "RGB 555, little endian", packed(16), .rgb, .full, bits: 5),
    .init(
      kCVPixelFormatType_16LE5551, "RGBA 5551, little endian", packed(16, [1, 0]), [.rgb, .alpha], .full,
      bits: 5),
    .init(kCVPixelFormatType_16BE565, "RGB 565, big endian", packed(16), .rgb, .full, bits: 5),
    .init(kCVPixelFormatType_16LE565, "RGB 565, little endian", packed(16), .rgb, .full, bits: 5),
    .init(kCVPixelFormatType_24RGB, "RGB, 8 bits", packed(24), .rgb, .full, bits: 8),
    .init(kCVPixelFormatType_24BGR, "BGR, 8 bits", packed(24), .rgb, .full, bits: 8),
    .init(
      kCVPixelFormatType_32ARGB, "ARGB, 8 bits", packed(32, [255, 0, 0, 0]), [.rgb, .alpha], .full, bits: 8),
    .init(
      kCVPixelFormatType_32BGRA, "BGRA, 8 bits", packed(32, [0, 0, 0, 255]), [.rgb, .alpha], .full, bits: 8),
    .init(
      kCVPixelFormatType_32ABGR, "ABGR, 8 bits", packed(32, [255, 0, 0, 0]), [.rgb, .alpha], .full, bits: 8),
    .init(
      kCVPixelFormatType_32RGBA, "RGBA, 8 bits", packed(32, [0, 0, 0, 255]), [.rgb, .alpha], .full, bits: 8),
    .init(
      kCVPixelFormatType_64ARGB, "ARGB, 16 bits, big endian", packed(64, [255, 255, 0, 0, 0, 0, 0, 0]),
      [.rgb, .alpha], .full, bits: 16),
    .init(
      kCVPixelFormatType_64RGBALE, "RGBA, 16 bits, little endian", packed(64, [0, 0, 0, 0, 0, 0, 255, 255]),
      [.rgb, .alpha], .full, bits: 16),
    .init(kCVPixelFormatType_48RGB, "RGB, 16 bits, big endian", packed(48), .rgb, .full, bits: 16),
    .init(
      kCVPixelFormatType_30RGB, "RGB, 10 bits, in the high bits of a big-endian word", packed(32), .rgb,
      .full,
      bits: 10),
    .init(
      kCVPixelFormatType_30RGB_r210, "RGB, 10 bits, in the low bits of a big-endian word",
      [Plane(bitsPerBlock: 32, blockHorizontalAlignment: 64, black: [0x04, 0x01, 0x00, 0x40])], .rgb, .video,
      bits: 10),
    .init(
      kCVPixelFormatType_30RGBLEPackedWideGamut, "RGB, 10 bits, wide gamut, little endian",
      packed(32, [0x80, 0x01, 0x06, 0x18]), .rgb, .wide, bits: 10),
    .init(
      kCVPixelFormatType_ARGB2101010LEPacked, "ARGB, 2 and 10 bits, little endian",
      packed(32, [0, 0, 0, 0xC0]),
      [.rgb, .alpha], .full, bits: 10),
    .init(
      kCVPixelFormatType_64RGBAHalf, "RGBA, 16-bit float", packed(64, [0, 0, 0, 0, 0, 0, 0x00, 0x3C]),
      [.rgb, .alpha], .full, bits: 16),
    .init(
      kCVPixelFormatType_128RGBAFloat, "RGBA, 32-bit float",
      packed(128, [UInt8](repeating: 0, count: 12) + [0, 0, 0x80, 0x3F]), [.rgb, .alpha], .full, bits: 32),
    .init(
      kCVPixelFormatType_64RGBA_DownscaledProResRAW, "RGBA, 16 bits, little endian, from ProRes RAW",
      packed(64, [0, 0, 0, 0, 0, 0, 255, 255]), [.rgb, .alpha], .full, bits: 16),
  ]

  private static let packedYCbCr: [PixelFormat] = [
    .init(
      kCVPixelFormatType_422YpCbCr8, "Cb Y Cr Y, 8 bits",
      [Plane(blockWidth: 2, bitsPerBlock: 32, black: [128, 16, 128, 16])], .yCbCr, .video, bits: 8),
    .init(
      kCVPixelFormatType_422YpCbCr8_yuvs, "Y Cb Y Cr, 8 bits",
      [Plane(blockWidth: 2, bitsPerBlock: 32, black: [16, 128, 16, 128])], .yCbCr, .video, bits: 8),
    .init(
      kCVPixelFormatType_422YpCbCr8FullRange, "Y Cb Y Cr, 8 bits, full range",
      [Plane(blockWidth: 2, bitsPerBlock: 32, black: [0, 128, 0, 128])], .yCbCr, .full, bits: 8),
    .init(
      kCVPixelFormatType_4444YpCbCrA8, "Cb Y Cr A, 8 bits", packed(32, [128, 16, 128, 255]),
      [.yCbCr, .alpha],
      .video, bits: 8),
    .init(
      kCVPixelFormatType_4444YpCbCrA8R, "A Y Cb Cr, 8 bits, luma from zero", packed(32, [255, 0, 128, 128]),
      [.yCbCr, .alpha], .full, bits: 8),
    .init(
      kCVPixelFormatType_4444AYpCbCr8, "A Y Cb Cr, 8 bits", packed(32, [255, 16, 128, 128]),
      [.yCbCr, .alpha],
      .video, bits: 8),
    .init(
      kCVPixelFormatType_4444AYpCbCr16, "A Y Cb Cr, 16 bits, little endian",
      packed(64, [255, 255, 0, 16, 0, 128, 0, 128]), [.yCbCr, .alpha], .video, bits: 16),
    .init(
      kCVPixelFormatType_4444AYpCbCrFloat, "A Y Cb Cr, 32-bit float",
      packed(128, [0, 0, 0x80, 0x3F] + [UInt8](repeating: 0, count: 12)), [.yCbCr, .alpha], .full, bits: 32),
    .init(
      kCVPixelFormatType_444YpCbCr8, "Cr Y Cb, 8 bits", packed(24, [128, 16, 128]), .yCbCr, .video, bits: 8),
    .init(
      kCVPixelFormatType_422YpCbCr16, "Cb Y Cr Y, 10 to 16 bits, little endian",
      [Plane(blockWidth: 2, bitsPerBlock: 64, black: [0, 128, 0, 16, 0, 128, 0, 16])], .yCbCr, .video,
      bits: 16),
    .init(
      kCVPixelFormatType_422YpCbCr10, "4:2:2, 10 bits, six pixels in four words",
      [
        Plane(
          blockWidth: 6, bitsPerBlock: 128, blockHorizontalAlignment: 8,
          black: [0, 2, 1, 0x20, 0x40, 0, 8, 4, 0, 2, 1, 0x20, 0x40, 0, 8, 4])
      ], .yCbCr, .video, bits: 10),
    .init(
      kCVPixelFormatType_444YpCbCr10, "Cb Y Cr, 10 bits, in the high bits of a little-endian word",
      packed(32, [0x00, 0x08, 0x04, 0x80]), .yCbCr, .video, bits: 10),
  ]

  private static let planar: [PixelFormat] =
    [
      (kCVPixelFormatType_420YpCbCr8Planar, Range.video, UInt8(16)),
      (kCVPixelFormatType_420YpCbCr8PlanarFullRange, .full, 0),
    ].map { code, range, black in
      let chroma = Plane(bitsPerBlock: 8, horizontalSubsampling: 2, verticalSubsampling: 2, black: [128])
      return PixelFormat(
        code, "4:2:0 in three planes, 8 bits\(range == .full ? ", full range" : "")",
        [Plane(bitsPerBlock: 8, black: [black]), chroma, chroma], .yCbCr, range, bits: 8)
    }

  private static let biPlanar: [PixelFormat] =
    [
      luma8(kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, "4:2:0", 2, 2, .video),
      luma8(kCVPixelFormatType_420YpCbCr8BiPlanarFullRange, "4:2:0", 2, 2, .full),
      luma8(kCVPixelFormatType_422YpCbCr8BiPlanarVideoRange, "4:2:2", 2, 1, .video),
      luma8(kCVPixelFormatType_422YpCbCr8BiPlanarFullRange, "4:2:2", 2, 1, .full),
      luma8(kCVPixelFormatType_444YpCbCr8BiPlanarVideoRange, "4:4:4", 1, 1, .video),
      luma8(kCVPixelFormatType_444YpCbCr8BiPlanarFullRange, "4:4:4", 1, 1, .full),
      luma16(kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange, "4:2:0", 2, 2, .video, 10),
      luma16(kCVPixelFormatType_420YpCbCr10BiPlanarFullRange, "4:2:0", 2, 2, .full, 10),
      luma16(kCVPixelFormatType_422YpCbCr10BiPlanarVideoRange, "4:2:2", 2, 1, .video, 10),
      luma16(kCVPixelFormatType_422YpCbCr10BiPlanarFullRange, "4:2:2", 2, 1, .full, 10),
      luma16(kCVPixelFormatType_444YpCbCr10BiPlanarVideoRange, "4:4:4", 1, 1, .video, 10),
      luma16(kCVPixelFormatType_444YpCbCr10BiPlanarFullRange, "4:4:4", 1, 1, .full, 10),
      luma16(kCVPixelFormatType_422YpCbCr16BiPlanarVideoRange, "4:2:2", 2, 1, .video, 16),
      luma16(kCVPixelFormatType_444YpCbCr16BiPlanarVideoRange, "4:4:4", 1, 1, .video, 16),
      {
        var format = luma16(
          kCVPixelFormatType_444YpCbCr16VideoRange_16A_TriPlanar, "4:4:4 with alpha", 1, 1, .video, 16)
        format.planes.append(Plane(bitsPerBlock: 16, black: [255, 255]))
        format.contents.insert(.alpha)
        return format
      }(),
      {
        var format = luma8(
          kCVPixelFormatType_420YpCbCr8VideoRange_8A_TriPlanar, "4:2:0 with alpha", 2, 2, .video)
        format.planes.append(Plane(bitsPerBlock: 8, black: [255]))
        format.contents.insert(.alpha)
        return format
      }(),
      .init(
        kCVPixelFormatType_422YpCbCr_4A_8BiPlanar, "Cb Y Cr Y, and alpha in a plane, 8 bits",
        [
          Plane(blockWidth: 2, bitsPerBlock: 32, black: [128, 16, 128, 16]),
          Plane(bitsPerBlock: 8, black: [255]),
        ], [.yCbCr, .alpha], .video, bits: 8),
    ]

  /// Luma and interleaved chroma, 8 bits.
  private static func luma8(_ code: OSType, _ name: String, _ h: Int, _ v: Int, _ range: Range) -> PixelFormat
  {
    .init(
      code, "\(name), luma and interleaved chroma, 8 bits\(range == .full ? ", full range" : "")",
      [
        Plane(bitsPerBlock: 8, black: [range == .full ? 0 : 16]),
        Plane(bitsPerBlock: 16, horizontalSubsampling: h, verticalSubsampling: v, black: [128, 128]),
      ], .yCbCr, range, bits: 8)
  }

  /// Luma and interleaved chroma, in the high bits of little-endian 16-bit words.
  private static func luma16(
    _ code: OSType, _ name: String, _ h: Int, _ v: Int, _ range: Range, _ bits: Int
  ) -> PixelFormat {
    .init(
      code, "\(name), luma and interleaved chroma, \(bits) bits\(range == .full ? ", full range" : "")",
      [
        Plane(bitsPerBlock: 16, black: [0, range == .full ? 0 : 16]),
        Plane(bitsPerBlock: 32, horizontalSubsampling: h, verticalSubsampling: v, black: [0, 128, 0, 128]),
      ], .yCbCr, range, bits: bits)
  }

  private static let components: [PixelFormat] = [
    .init(kCVPixelFormatType_16Gray, "grey, 16 bits, big endian", packed(16), .grayscale, .full, bits: 16),
    .init(
      kCVPixelFormatType_32AlphaGray, "alpha and grey, 16 bits, big endian", packed(32, [255, 255, 0, 0]),
      [.grayscale, .alpha], .full, bits: 16),
    .init(kCVPixelFormatType_OneComponent8, "one component, 8 bits", packed(8), .grayscale, .full, bits: 8),
    .init(kCVPixelFormatType_TwoComponent8, "two components, 8 bits", packed(16), [], .full, bits: 8),
    .init(
      kCVPixelFormatType_OneComponent10, "one component, 10 bits, in the high bits of 16", packed(16),
      .grayscale,
      .full, bits: 10),
    .init(
      kCVPixelFormatType_OneComponent12, "one component, 12 bits, in the high bits of 16", packed(16),
      .grayscale,
      .full, bits: 12),
    .init(
      kCVPixelFormatType_OneComponent16, "one component, 16 bits", packed(16), .grayscale, .full, bits: 16),
    .init(kCVPixelFormatType_TwoComponent16, "two components, 16 bits", packed(32), [], .full, bits: 16),
    .init(
      kCVPixelFormatType_OneComponent16Half, "one component, 16-bit float", packed(16), .grayscale, .full,
      bits: 16),
    .init(
      kCVPixelFormatType_OneComponent32Float, "one component, 32-bit float", packed(32), .grayscale, .full,
      bits: 32),
    .init(
      kCVPixelFormatType_TwoComponent16Half, "two components, 16-bit float", packed(32), [], .full, bits: 16),
    .init(
      kCVPixelFormatType_TwoComponent32Float, "two components, 32-bit float", packed(64), [], .full, bits: 32),
    .init(kCVPixelFormatType_DisparityFloat16, "disparity, 16-bit float", packed(16), [], nil, bits: 16),
    .init(kCVPixelFormatType_DisparityFloat32, "disparity, 32-bit float", packed(32), [], nil, bits: 32),
    .init(kCVPixelFormatType_DepthFloat16, "depth, 16-bit float", packed(16), [], nil, bits: 16),
    .init(kCVPixelFormatType_DepthFloat32, "depth, 32-bit float", packed(32), [], nil, bits: 32),
  ]

  private static let sensor: [PixelFormat] = [
    (kCVPixelFormatType_14Bayer_GRBG, "GRBG", 14), (kCVPixelFormatType_14Bayer_RGGB, "RGGB", 14),
    (kCVPixelFormatType_14Bayer_BGGR, "BGGR", 14), (kCVPixelFormatType_14Bayer_GBRG, "GBRG", 14),
    (kCVPixelFormatType_16VersatileBayer, "any pattern", 16),
  ].map { code, pattern, bits in
    PixelFormat(
      code, "Bayer sensels, \(pattern), \(bits) bits, little endian", packed(16), .senselArray, nil,
      bits: bits)
  }
}
