// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// Holds the bytes of an image.
public final class CGDataProvider: @unchecked Sendable {
  // Sendable: immutable.
  /// A copy of the data, which is never changed.
  private let bytes: NSData

  /// A provider of a copy of the data; nil for no data.
  public init?(data: CFData) {
    guard data.length > 0, let copy = data.copy() as? NSData else { return nil }
    bytes = copy
  }

  /// All the bytes.
  public var data: CFData? { bytes }
}

/// The position of alpha in a pixel, and whether colours are multiplied by it.
public enum CGImageAlphaInfo: UInt32, Sendable {
  case none = 0
  case premultipliedLast = 1
  case premultipliedFirst = 2
  case last = 3
  case first = 4
  case noneSkipLast = 5
  case noneSkipFirst = 6
  case alphaOnly = 7
}

/// The layout of a pixel: a `CGImageAlphaInfo` in the lowest bits, and the order of the bytes.
public struct CGBitmapInfo: OptionSet, Sendable, Hashable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  public static let alphaInfoMask = CGBitmapInfo(rawValue: 0x1F)
  public static let floatComponents = CGBitmapInfo(rawValue: 1 << 8)
  public static let byteOrderMask = CGBitmapInfo(rawValue: 0x7000)
  public static let byteOrder16Little = CGBitmapInfo(rawValue: 1 << 12)
  public static let byteOrder32Little = CGBitmapInfo(rawValue: 2 << 12)
  public static let byteOrder16Big = CGBitmapInfo(rawValue: 3 << 12)
  public static let byteOrder32Big = CGBitmapInfo(rawValue: 4 << 12)
}

/// How colours that are outside of a device's gamut are replaced.
public enum CGColorRenderingIntent: Int32, Sendable {
  case defaultIntent = 0
  case absoluteColorimetric = 1
  case relativeColorimetric = 2
  case perceptual = 3
  case saturation = 4
}

/// An immutable picture in memory: its bytes and their format.
public final class CGImage: @unchecked Sendable {
  // Sendable: immutable.
  /// In pixels.
  public let width: Int
  public let height: Int
  public let bitsPerComponent: Int
  public let bitsPerPixel: Int
  public let bytesPerRow: Int
  public let colorSpace: CGColorSpace?
  public let bitmapInfo: CGBitmapInfo
  public let dataProvider: CGDataProvider?
  public let shouldInterpolate: Bool
  public let renderingIntent: CGColorRenderingIntent

  /// Creates an image of a provider's bytes; nil if there are too few of them, or a size is
  /// invalid.
  public init?(
    width: Int, height: Int, bitsPerComponent: Int, bitsPerPixel: Int, bytesPerRow: Int, space: CGColorSpace,
    bitmapInfo: CGBitmapInfo, provider: CGDataProvider, decode: UnsafePointer<CGFloat>?,
    shouldInterpolate: Bool,
    intent: CGColorRenderingIntent
  ) {
    guard width > 0, height > 0, bitsPerComponent > 0, bitsPerPixel >= bitsPerComponent, decode == nil,
      let size = provider.data?.length
    else { return nil }
    let (rowBits, overflow) = width.multipliedReportingOverflow(by: bitsPerPixel)
    let rowBytes = ceilDivide(rowBits, 8)
    guard !overflow, bytesPerRow >= rowBytes else { return nil }
    let (before, tooLarge) = bytesPerRow.multipliedReportingOverflow(by: height - 1)
    guard !tooLarge, size >= rowBytes, before <= size - rowBytes else { return nil }
    self.width = width
    self.height = height
    self.bitsPerComponent = bitsPerComponent
    self.bitsPerPixel = bitsPerPixel
    self.bytesPerRow = bytesPerRow
    colorSpace = space
    self.bitmapInfo = bitmapInfo
    dataProvider = provider
    self.shouldInterpolate = shouldInterpolate
    renderingIntent = intent
  }

  public var alphaInfo: CGImageAlphaInfo {
    CGImageAlphaInfo(rawValue: bitmapInfo.rawValue & CGBitmapInfo.alphaInfoMask.rawValue) ?? .none
  }
}
