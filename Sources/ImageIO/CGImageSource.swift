// SPDX-License-Identifier: Apache-2.0
@_exported import CoreGraphics
import Foundation

/// A file of a picture, read when it is asked for.
public final class CGImageSource: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  fileprivate let data: Data
  fileprivate let codec: ImageCodec?
  private let lock = Lock()
  private var decoded: CGImage??
  /// What the file tells beside the picture.
  fileprivate let exif: ExifData?

  fileprivate init(_ data: Data) {
    self.data = data
    codec = ImageCodec(data)
    exif = codec.flatMap { ExifData(in: data, $0) }
  }

  /// Decoded once.
  fileprivate var image: CGImage? {
    lock.withLock {
      if let decoded { return decoded }
      let image = codec?.decode(data)
      decoded = .some(image)
      return image
    }
  }
}

/// How much of a picture's file is there.
public enum CGImageSourceStatus: Int32, Sendable {
  case statusUnexpectedEOF = -5
  case statusInvalidData = -4
  case statusUnknownType = -3
  case statusReadingHeader = -2
  case statusIncomplete = -1
  case statusComplete = 0
}

/// The longest side of a thumbnail in pixels: a number.
public nonisolated(unsafe) let kCGImageSourceThumbnailMaxPixelSize: CFString =
  "kCGImageSourceThumbnailMaxPixelSize"
/// Make a thumbnail of the picture, whatever the file has. Boolean.
public nonisolated(unsafe) let kCGImageSourceCreateThumbnailFromImageAlways: CFString =
  "kCGImageSourceCreateThumbnailFromImageAlways"
/// Make a thumbnail of the picture if the file has none. Boolean. None is looked for in a file.
public nonisolated(unsafe) let kCGImageSourceCreateThumbnailFromImageIfAbsent: CFString =
  "kCGImageSourceCreateThumbnailFromImageIfAbsent"
/// Turn the thumbnail as the file says (`kCGImagePropertyOrientation`). Boolean.
public nonisolated(unsafe) let kCGImageSourceCreateThumbnailWithTransform: CFString =
  "kCGImageSourceCreateThumbnailWithTransform"
/// Keep the decoded picture. Boolean; it is kept.
public nonisolated(unsafe) let kCGImageSourceShouldCache: CFString = "kCGImageSourceShouldCache"
/// Decode at once. Boolean; a picture is decoded when it is asked for.
public nonisolated(unsafe) let kCGImageSourceShouldCacheImmediately: CFString =
  "kCGImageSourceShouldCacheImmediately"

/// Pixels: a number.
public nonisolated(unsafe) let kCGImagePropertyPixelWidth: CFString = "PixelWidth"
/// Pixels: a number.
public nonisolated(unsafe) let kCGImagePropertyPixelHeight: CFString = "PixelHeight"
/// Bits of a component: a number.
public nonisolated(unsafe) let kCGImagePropertyDepth: CFString = "Depth"
/// Boolean.
public nonisolated(unsafe) let kCGImagePropertyHasAlpha: CFString = "HasAlpha"
/// One of the models below.
public nonisolated(unsafe) let kCGImagePropertyColorModel: CFString = "ColorModel"
public nonisolated(unsafe) let kCGImagePropertyColorModelRGB: CFString = "RGB"
public nonisolated(unsafe) let kCGImagePropertyColorModelGray: CFString = "Gray"

/// A source of a picture in memory. The data may be of any kind: see `CGImageSourceGetStatus`.
@discardableResult
public func CGImageSourceCreateWithData(_ data: CFData, _ options: CFDictionary?) -> CGImageSource? {
  CGImageSource(Data(referencing: data))
}

/// A source of a picture in a file; nil if it cannot be read.
@discardableResult
public func CGImageSourceCreateWithURL(_ url: CFURL, _ options: CFDictionary?) -> CGImageSource? {
  (try? Data(contentsOf: url as URL)).map { CGImageSource($0) }
}

/// 1 for a picture that can be read, 0 for anything else.
@discardableResult
public func CGImageSourceGetCount(_ isrc: CGImageSource) -> Int { isrc.codec == nil ? 0 : 1 }

/// "public.png" or "public.jpeg"; nil for anything else.
@discardableResult
public func CGImageSourceGetType(_ isrc: CGImageSource) -> CFString? {
  isrc.codec.map { $0.rawValue as CFString }
}

@discardableResult
public func CGImageSourceGetStatus(_ isrc: CGImageSource) -> CGImageSourceStatus {
  isrc.codec == nil ? .statusUnknownType : isrc.image == nil ? .statusInvalidData : .statusComplete
}

/// The types of pictures that are read.
@discardableResult
public func CGImageSourceCopyTypeIdentifiers() -> CFArray { ["public.png", "public.jpeg"] as CFArray }

/// The picture; nil for another index than 0, and for a file that is damaged or of another type.
@discardableResult
public func CGImageSourceCreateImageAtIndex(_ isrc: CGImageSource, _ index: Int, _ options: CFDictionary?)
  -> CGImage?
{
  index == 0 ? isrc.image : nil
}

/// What is known of the picture: size, depth, alpha, and of its Exif data orientation, resolution and the fields that
/// have names in `kCGImagePropertyTIFFDictionary` and `kCGImagePropertyExifDictionary`.
@discardableResult
public func CGImageSourceCopyPropertiesAtIndex(_ isrc: CGImageSource, _ index: Int, _ options: CFDictionary?)
  -> CFDictionary?
{
  guard index == 0, let image = isrc.image else { return nil }
  let isGrey = image.colorSpace?.numberOfComponents == 1
  var properties: [CFString: Any] = [
    kCGImagePropertyPixelWidth: image.width, kCGImagePropertyPixelHeight: image.height,
    kCGImagePropertyDepth: image.bitsPerComponent,
    kCGImagePropertyHasAlpha: [.last, .premultipliedLast].contains(image.alphaInfo),
    kCGImagePropertyColorModel: isGrey ? kCGImagePropertyColorModelGray : kCGImagePropertyColorModelRGB,
  ]
  if let exif = isrc.exif {
    if let orientation = exif.orientation {
      properties[kCGImagePropertyOrientation] = NSNumber(value: orientation.rawValue)
    }
    for (key, side) in [
      (kCGImagePropertyTIFFXResolution, kCGImagePropertyDPIWidth),
      (kCGImagePropertyTIFFYResolution, kCGImagePropertyDPIHeight),
    ] {
      if let resolution = exif.resolution(key) { properties[side] = NSNumber(value: resolution) }
    }
    if !exif.picture.isEmpty { properties[kCGImagePropertyTIFFDictionary] = exif.picture as CFDictionary }
    if !exif.exif.isEmpty { properties[kCGImagePropertyExifDictionary] = exif.exif as CFDictionary }
  }
  return properties as CFDictionary
}

/// A smaller picture, no longer than `kCGImageSourceThumbnailMaxPixelSize` on either side; nil unless a picture is to be
/// made (`...FromImageAlways` or `...IfAbsent`).
@discardableResult
public func CGImageSourceCreateThumbnailAtIndex(_ isrc: CGImageSource, _ index: Int, _ options: CFDictionary?)
  -> CGImage?
{
  func flag(_ key: CFString) -> Bool { (options?[key] as? NSNumber)?.boolValue ?? false }
  guard index == 0,
    flag(kCGImageSourceCreateThumbnailFromImageAlways)
      || flag(kCGImageSourceCreateThumbnailFromImageIfAbsent),
    let image = isrc.image
  else { return nil }
  let longest = Double(max(image.width, image.height))
  let limit = (options?[kCGImageSourceThumbnailMaxPixelSize] as? NSNumber)?.doubleValue ?? longest
  guard limit >= 1 else { return nil }
  let orientation = flag(kCGImageSourceCreateThumbnailWithTransform) ? isrc.exif?.orientation ?? .up : .up
  guard limit < longest || orientation != .up else { return image }
  let scale = min(1, limit / longest)
  let width = max(1, Int((Double(image.width) * scale).rounded()))
  let height = max(1, Int((Double(image.height) * scale).rounded()))
  let shown = orientation.swapsSides ? (height, width) : (width, height)
  let context = CGContext(
    data: nil, width: shown.0, height: shown.1, bitsPerComponent: 8, bytesPerRow: 0,
    space: CGColorSpaceCreateDeviceRGB(), bitmapInfo: CGImageAlphaInfo.premultipliedLast.rawValue)
  context?.interpolationQuality = .high
  context?.concatenate(orientation.transform(width: CGFloat(shown.0), height: CGFloat(shown.1)))
  context?.draw(image, in: CGRect(x: 0, y: 0, width: width, height: height))
  return context?.makeImage()
}

extension CGImagePropertyOrientation {
  /// Whether rows are seen as columns.
  fileprivate var swapsSides: Bool { rawValue >= 5 }

  /// From the stored picture to the one that is shown, whose size it takes: y upwards, as in a context.
  fileprivate func transform(width: CGFloat, height: CGFloat) -> CGAffineTransform {
    switch self {
    case .up: .identity
    case .upMirrored: CGAffineTransform(a: -1, b: 0, c: 0, d: 1, tx: width, ty: 0)
    case .down: CGAffineTransform(a: -1, b: 0, c: 0, d: -1, tx: width, ty: height)
    case .downMirrored: CGAffineTransform(a: 1, b: 0, c: 0, d: -1, tx: 0, ty: height)
    // The stored top left corner is shown at the top left, the stored row as a column downwards.
    case .leftMirrored: CGAffineTransform(a: 0, b: -1, c: -1, d: 0, tx: width, ty: height)
    // It is shown at the top right.
    case .right: CGAffineTransform(a: 0, b: -1, c: 1, d: 0, tx: 0, ty: height)
    // It is shown at the bottom right.
    case .rightMirrored: CGAffineTransform(a: 0, b: 1, c: 1, d: 0, tx: 0, ty: 0)
    // It is shown at the bottom left.
    case .left: CGAffineTransform(a: 0, b: 1, c: -1, d: 0, tx: width, ty: 0)
    }
  }
}
