// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// The size of a picture in pixels.
public struct CVImageSize: Hashable, Sendable {
  public var width: Int
  public var height: Int

  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// What is no number of pixels that an integer can hold counts as 0.
  public init(_ size: CGSize, rounded rule: FloatingPointRoundingRule = .toNearestOrAwayFromZero) {
    width = Int(exactly: size.width.rounded(rule)) ?? 0
    height = Int(exactly: size.height.rounded(rule)) ?? 0
  }

  public static let zero = CVImageSize(width: 0, height: 0)
}

extension CGSize {
  public init(_ size: CVImageSize) {
    self.init(width: CGFloat(size.width), height: CGFloat(size.height))
  }
}

/// Pixels around a picture.
public struct CVPixelBufferPadding: Hashable, Sendable {
  public var left: Int
  public var right: Int
  public var top: Int
  public var bottom: Int

  public init(left: Int = 0, right: Int = 0, top: Int = 0, bottom: Int = 0) {
    self.left = left
    self.right = right
    self.top = top
    self.bottom = bottom
  }

  public static let zero = CVPixelBufferPadding()
}

/// One plane of a pixel buffer.
public struct CVPixelBufferPlaneProperties: Hashable, Sendable {
  /// In the plane's own samples.
  public var size: CVImageSize
  /// From one row to the next; it may be more than the samples need.
  public var bytesPerRow: Int

  public init(size: CVImageSize, bytesPerRow: Int) {
    self.size = size
    self.bytesPerRow = bytesPerRow
  }
}

/// A pixel format's code as a type: `kCVPixelFormatType_32BGRA` and the others.
public struct CVPixelFormatType: RawRepresentable, Hashable, Sendable {
  public var rawValue: OSType
  public init(rawValue: OSType) { self.rawValue = rawValue }

  /// Whether the format is compressed, and there is hardware for it: there is none.
  public var isCompressionAvailable: Bool { CVIsCompressedPixelFormatAvailable(rawValue) }
}

/// What is known of a pixel format.
public struct CVPixelFormatDescription: Sendable {
  private init() {}

  /// What else is to take a buffer. Every buffer here is memory that a bitmap context and an image can have; the rest
  /// is kept with the buffer's attributes.
  public struct Compatibility: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let cgImage = Compatibility(rawValue: 1)
    public static let cgBitmapContext = Compatibility(rawValue: 2)
    public static let metalTexture = Compatibility(rawValue: 4)
    public static let ioSurfaceCoreAnimation = Compatibility(rawValue: 8)

    static var keys: [(Compatibility, CFString)] {
      [
        (.cgImage, kCVPixelBufferCGImageCompatibilityKey),
        (.cgBitmapContext, kCVPixelBufferCGBitmapContextCompatibilityKey),
        (.metalTexture, kCVPixelBufferMetalCompatibilityKey),
        (.ioSurfaceCoreAnimation, "IOSurfaceCoreAnimationCompatibility"),
      ]
    }
  }
}
