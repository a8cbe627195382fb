// SPDX-License-Identifier: Apache-2.0

// Colour descriptions and data rate limits have the same types as in the configuration of
// `H264Encoder`.
@_exported import struct VideoBitstream.ColorDescription
@_exported import struct VideoBitstream.DataRateLimit

/// A compressed format, identified by the four-character code that movie files use for it.
public struct CodecType: RawRepresentable, Hashable, Sendable {
  /// The four-character code, its first character in the most significant byte.
  public var rawValue: UInt32
  /// Creates a value from a four-character code.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// H.264, "avc1".
  public static let h264 = CodecType(rawValue: 0x6176_6331)
  /// HEVC, "hvc1".
  public static let hevc = CodecType(rawValue: 0x6876_6331)
}

/// The layout of an uncompressed picture, identified by Core Video's four-character code for it.
public struct PictureFormat: RawRepresentable, Hashable, Sendable {
  /// The four-character code, its first character in the most significant byte.
  public var rawValue: UInt32
  /// Creates a value from a four-character code.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// "420v": 8 bits, a luma plane and a plane of interleaved Cb and Cr at half the width and
  /// height; video range.
  public static let nv12VideoRange = PictureFormat(rawValue: 0x3432_3076)
  /// "420f": like `nv12VideoRange`, but full range.
  public static let nv12FullRange = PictureFormat(rawValue: 0x3432_3066)
  /// "y420": 8 bits, three planes, Cb and Cr at half the width and height; video range.
  public static let i420VideoRange = PictureFormat(rawValue: 0x7934_3230)
  /// "f420": like `i420VideoRange`, but full range.
  public static let i420FullRange = PictureFormat(rawValue: 0x6634_3230)
  /// "x420": like `nv12VideoRange`, but 10 bits in the upper bits of 16-bit words.
  public static let p010VideoRange = PictureFormat(rawValue: 0x7834_3230)
  /// "xf20": like `p010VideoRange`, but full range.
  public static let p010FullRange = PictureFormat(rawValue: 0x7866_3230)
  /// "444v": like `nv12VideoRange`, but Cb and Cr at the full width and height (4:4:4).
  public static let nv24VideoRange = PictureFormat(rawValue: 0x3434_3476)
  /// "444f": like `nv24VideoRange`, but full range.
  public static let nv24FullRange = PictureFormat(rawValue: 0x3434_3466)
}

/// The ratio of two positive numbers, such as the width and the height of a sample.
public struct PixelAspect: Hashable, Sendable {
  /// The width.
  public var horizontal: Int
  /// The height.
  public var vertical: Int
  /// Creates a ratio.
  /// - Parameters:
  ///   - horizontal: the width.
  ///   - vertical: the height.
  public init(horizontal: Int, vertical: Int) {
    self.horizontal = horizontal
    self.vertical = vertical
  }
}

/// One plane of a picture in the caller's memory.
public struct PlaneView {
  /// The address of the first sample.
  public var baseAddress: UnsafeRawPointer
  /// The bytes from the start of one row to the start of the next.
  public var bytesPerRow: Int
  /// The width in samples of this plane; a pair of Cb and Cr counts as one.
  public var width: Int
  /// The number of rows.
  public var height: Int

  /// Describes a plane.
  /// - Parameters:
  ///   - baseAddress: the address of the first sample.
  ///   - bytesPerRow: the bytes from the start of one row to the start of the next.
  ///   - width: the width in samples of this plane; a pair of Cb and Cr counts as one.
  ///   - height: the number of rows.
  public init(baseAddress: UnsafeRawPointer, bytesPerRow: Int, width: Int, height: Int) {
    self.baseAddress = baseAddress
    self.bytesPerRow = bytesPerRow
    self.width = width
    self.height = height
  }
}
