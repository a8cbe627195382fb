// SPDX-License-Identifier: Apache-2.0
/// A compressed format, by the four-character code that movie files use for it.
public struct CodecType: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// H.264, "avc1".
  public static let h264 = CodecType(rawValue: 0x6176_6331)
  /// HEVC, "hvc1".
  public static let hevc = CodecType(rawValue: 0x6876_6331)
}

/// The layout of an uncompressed picture, by the four-character code that Core Video uses for it.
public struct PictureFormat: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// "420v": 8 bits, a luma plane and a plane of interleaved Cb and Cr at half size; video range.
  public static let nv12VideoRange = PictureFormat(rawValue: 0x3432_3076)
  /// "420f": the same in full range.
  public static let nv12FullRange = PictureFormat(rawValue: 0x3432_3066)
  /// "y420": 8 bits, three planes, chroma at half size; video range.
  public static let i420VideoRange = PictureFormat(rawValue: 0x7934_3230)
  /// "f420": the same in full range.
  public static let i420FullRange = PictureFormat(rawValue: 0x6634_3230)
  /// "x420": as "420v" with 10 bits in the upper bits of 16-bit words.
  public static let p010VideoRange = PictureFormat(rawValue: 0x7834_3230)
  /// "xf20": the same in full range.
  public static let p010FullRange = PictureFormat(rawValue: 0x7866_3230)
}

/// The meaning of sample values, in the code points of ITU-T H.273. 2 means unspecified.
public struct ColorDescription: Hashable, Sendable {
  public var primaries: UInt8
  public var transfer: UInt8
  public var matrix: UInt8
  public var isFullRange: Bool

  public init(primaries: UInt8 = 2, transfer: UInt8 = 2, matrix: UInt8 = 2, isFullRange: Bool = false) {
    self.primaries = primaries
    self.transfer = transfer
    self.matrix = matrix
    self.isFullRange = isFullRange
  }

  /// True if a stream that says nothing means the same.
  public var isUnspecified: Bool { self == ColorDescription() }
}

/// A ratio of two positive numbers, such as the shape of a sample.
public struct PixelAspect: Hashable, Sendable {
  public var horizontal: Int
  public var vertical: Int
  public init(horizontal: Int, vertical: Int) {
    self.horizontal = horizontal
    self.vertical = vertical
  }
}

/// One plane of a picture in somebody else's memory.
public struct PlaneView {
  public var baseAddress: UnsafeRawPointer
  /// Distance between the starts of two rows.
  public var bytesPerRow: Int
  /// In samples of this plane (a Cb/Cr pair counts as one).
  public var width: Int
  public var height: Int

  public init(baseAddress: UnsafeRawPointer, bytesPerRow: Int, width: Int, height: Int) {
    self.baseAddress = baseAddress
    self.bytesPerRow = bytesPerRow
    self.width = width
    self.height = height
  }
}
