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

  /// Rounds a size to whole pixels; a value that is not finite or exceeds `Int` becomes 0.
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

/// The number of pixels around a picture, on each side.
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
  /// The size in the plane's own samples.
  public var size: CVImageSize
  /// The distance of two rows in bytes, which may exceed what the samples need.
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

  /// Whether buffers in this compressed format can be created: never, because there is no hardware
  /// for it.
  public var isCompressionAvailable: Bool { CVIsCompressedPixelFormatAvailable(rawValue) }
}

/// The description of a pixel format.
public struct CVPixelFormatDescription: Sendable {
  private init() {}

  /// Other frameworks that a buffer has to be compatible with. Every buffer of this package is
  /// memory that a bitmap context and an image can use; the other options are only kept with the
  /// buffer's attributes.
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
