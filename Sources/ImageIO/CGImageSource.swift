// SPDX-License-Identifier: Apache-2.0
@_exported import CoreGraphics
import Foundation

/// An image file, whose images are decoded when they are requested for the first time.
public final class CGImageSource: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  fileprivate let codec: ImageCodec?
  private let data: Data
  /// The structure of a HEIC file, or nil for other files and damaged ones.
  private let heif: HEIFDecoder?
  /// The items of a HEIC file that are images.
  private let items: [UInt32]
  fileprivate let primaryIndex: Int
  private let lock = Lock()
  private var decoded: [Int: CGImage?] = [:]

  fileprivate init(_ data: Data) {
    self.data = data
    codec = ImageCodec(data)
    let file = codec == .heic ? try? HEIFFile(data) : nil
    heif = file.map { HEIFDecoder($0, bytes: data.count) }
    items = file?.images ?? []
    primaryIndex = file?.primary.flatMap(items.firstIndex) ?? 0
  }

  /// The number of images.
  fileprivate var count: Int {
    switch codec {
    case .png, .jpeg: 1
    case .heic: items.count
    case nil: 0
    }
  }

  /// Returns an image, which is decoded once, or nil if there is none or it is damaged.
  fileprivate func image(_ index: Int) -> CGImage? {
    guard (0..<count).contains(index) else { return nil }
    return lock.withLock {
      if let image = decoded[index] { return image }
      let image = heif.map { $0.image(items[index]) } ?? codec?.decode(data)
      decoded[index] = .some(image)
      return image
    }
  }

  /// Returns the Exif data of an image, or nil if there is none.
  fileprivate func exif(_ index: Int) -> ExifData? {
    guard let heif else { return codec.flatMap { ExifData(in: data, $0) } }
    return heif.exif(of: items[index]).flatMap { ExifData($0) }
  }

  /// Returns the orientation of an image, or nil if the file does not contain a valid one. In HEIC
  /// files, properties of images have the orientation, whatever the Exif data says (ISO/IEC
  /// 23008-12, 6.5.10).
  fileprivate func orientation(_ index: Int, _ exif: ExifData?) -> CGImagePropertyOrientation? {
    guard let heif else { return exif?.orientation }
    let orientation = heif.orientation(of: items[index])
    return orientation == .up && exif?.orientation == nil ? nil : orientation
  }
}

/// The state of an image source.
public enum CGImageSourceStatus: Int32, Sendable {
  case statusUnexpectedEOF = -5
  case statusInvalidData = -4
  case statusUnknownType = -3
  case statusReadingHeader = -2
  case statusIncomplete = -1
  case statusComplete = 0
}

/// The maximum width and height of a thumbnail in pixels (number).
public nonisolated(unsafe) let kCGImageSourceThumbnailMaxPixelSize: CFString =
  "kCGImageSourceThumbnailMaxPixelSize"
/// Whether to create a thumbnail from the image in every case (Boolean).
public nonisolated(unsafe) let kCGImageSourceCreateThumbnailFromImageAlways: CFString =
  "kCGImageSourceCreateThumbnailFromImageAlways"
/// Whether to create a thumbnail from the image if the file contains none (Boolean). Thumbnails in
/// files are not read, so that this always creates one.
public nonisolated(unsafe) let kCGImageSourceCreateThumbnailFromImageIfAbsent: CFString =
  "kCGImageSourceCreateThumbnailFromImageIfAbsent"
/// Whether to rotate and mirror the thumbnail by the image's `kCGImagePropertyOrientation`
/// (Boolean).
public nonisolated(unsafe) let kCGImageSourceCreateThumbnailWithTransform: CFString =
  "kCGImageSourceCreateThumbnailWithTransform"
/// Whether to keep the decoded image (Boolean). It is always kept.
public nonisolated(unsafe) let kCGImageSourceShouldCache: CFString = "kCGImageSourceShouldCache"
/// Whether to decode the image when it is created (Boolean). It is always decoded then.
public nonisolated(unsafe) let kCGImageSourceShouldCacheImmediately: CFString =
  "kCGImageSourceShouldCacheImmediately"

/// The width of the image in pixels (number).
public nonisolated(unsafe) let kCGImagePropertyPixelWidth: CFString = "PixelWidth"
/// The height of the image in pixels (number).
public nonisolated(unsafe) let kCGImagePropertyPixelHeight: CFString = "PixelHeight"
/// The number of bits per component (number).
public nonisolated(unsafe) let kCGImagePropertyDepth: CFString = "Depth"
/// Whether the image has an alpha channel (Boolean).
public nonisolated(unsafe) let kCGImagePropertyHasAlpha: CFString = "HasAlpha"
/// The color model, which is one of the two values below.
public nonisolated(unsafe) let kCGImagePropertyColorModel: CFString = "ColorModel"
public nonisolated(unsafe) let kCGImagePropertyColorModelRGB: CFString = "RGB"
public nonisolated(unsafe) let kCGImagePropertyColorModelGray: CFString = "Gray"

/// Creates an image source for data in memory. It accepts data of any type: see
/// `CGImageSourceGetStatus`.
@discardableResult
public func CGImageSourceCreateWithData(_ data: CFData, _ options: CFDictionary?) -> CGImageSource? {
  CGImageSource(Data(referencing: data))
}

/// Creates an image source for a file. It is nil if the file cannot be read.
@discardableResult
public func CGImageSourceCreateWithURL(_ url: CFURL, _ options: CFDictionary?) -> CGImageSource? {
  (try? Data(contentsOf: url as URL)).map { CGImageSource($0) }
}

/// Returns the number of images: 1 for a PNG or JPEG file, the number of images that are not hidden
/// for a HEIC file, without thumbnails and auxiliary images, and 0 for data of another type.
@discardableResult
public func CGImageSourceGetCount(_ isrc: CGImageSource) -> Int { isrc.count }

/// Returns the index of the image that a HEIC file names as the primary one, and 0 for other files.
@discardableResult
public func CGImageSourceGetPrimaryImageIndex(_ isrc: CGImageSource) -> Int { isrc.primaryIndex }

/// Returns "public.png", "public.jpeg" or "public.heic", or nil for data of another type.
@discardableResult
public func CGImageSourceGetType(_ isrc: CGImageSource) -> CFString? {
  isrc.codec.map { $0.rawValue as CFString }
}

@discardableResult
public func CGImageSourceGetStatus(_ isrc: CGImageSource) -> CGImageSourceStatus {
  isrc.codec == nil
    ? .statusUnknownType : isrc.image(isrc.primaryIndex) == nil ? .statusInvalidData : .statusComplete
}

/// Returns the types of images that can be read.
@discardableResult
public func CGImageSourceCopyTypeIdentifiers() -> CFArray { ImageCodec.readable.map(\.rawValue) as CFArray }

/// Returns an image as it is stored, without its orientation. It is nil for an index without image,
/// and if the file is damaged or of another type.
@discardableResult
public func CGImageSourceCreateImageAtIndex(_ isrc: CGImageSource, _ index: Int, _ options: CFDictionary?)
  -> CGImage?
{
  isrc.image(index)
}

/// Returns the properties of an image: its size, depth, alpha and color model, and its orientation
/// if the file has one. If the file has Exif data, the properties include the resolution, and the
/// fields that have a key in `kCGImagePropertyTIFFDictionary` or `kCGImagePropertyExifDictionary`.
/// The result is nil if there is no image.
@discardableResult
public func CGImageSourceCopyPropertiesAtIndex(_ isrc: CGImageSource, _ index: Int, _ options: CFDictionary?)
  -> CFDictionary?
{
  guard let image = isrc.image(index) else { return nil }
  let isGrey = image.colorSpace?.numberOfComponents == 1
  var properties: [CFString: Any] = [
    kCGImagePropertyPixelWidth: image.width, kCGImagePropertyPixelHeight: image.height,
    kCGImagePropertyDepth: image.bitsPerComponent,
    kCGImagePropertyHasAlpha: [.last, .premultipliedLast].contains(image.alphaInfo),
    kCGImagePropertyColorModel: isGrey ? kCGImagePropertyColorModelGray : kCGImagePropertyColorModelRGB,
  ]
  let exif = isrc.exif(index)
  if let orientation = isrc.orientation(index, exif) {
    properties[kCGImagePropertyOrientation] = NSNumber(value: orientation.rawValue)
  }
  if let exif {
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

/// Returns a thumbnail whose width and height are at most `kCGImageSourceThumbnailMaxPixelSize`.
/// The result is nil unless the options contain `kCGImageSourceCreateThumbnailFromImageAlways` or
/// `kCGImageSourceCreateThumbnailFromImageIfAbsent`.
@discardableResult
public func CGImageSourceCreateThumbnailAtIndex(_ isrc: CGImageSource, _ index: Int, _ options: CFDictionary?)
  -> CGImage?
{
  func flag(_ key: CFString) -> Bool { (options?[key] as? NSNumber)?.boolValue ?? false }
  guard
    flag(kCGImageSourceCreateThumbnailFromImageAlways)
      || flag(kCGImageSourceCreateThumbnailFromImageIfAbsent),
    let image = isrc.image(index)
  else { return nil }
  let longest = Double(max(image.width, image.height))
  let limit = (options?[kCGImageSourceThumbnailMaxPixelSize] as? NSNumber)?.doubleValue ?? longest
  guard limit >= 1 else { return nil }
  let orientation =
    flag(kCGImageSourceCreateThumbnailWithTransform)
    ? isrc.orientation(index, isrc.exif(index)) ?? .up : .up
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
  /// Whether the displayed image exchanges the width and the height of the stored image.
  fileprivate var swapsSides: Bool { rawValue >= 5 }

  /// Returns the transform from the stored image to the displayed image, with the y axis upwards as
  /// in a context. The width and height are those of the displayed image.
  fileprivate func transform(width: CGFloat, height: CGFloat) -> CGAffineTransform {
    switch self {
    case .up: .identity
    case .upMirrored: CGAffineTransform(a: -1, b: 0, c: 0, d: 1, tx: width, ty: 0)
    case .down: CGAffineTransform(a: -1, b: 0, c: 0, d: -1, tx: width, ty: height)
    case .downMirrored: CGAffineTransform(a: 1, b: 0, c: 0, d: -1, tx: 0, ty: height)
    // The upper left corner of the stored image is displayed at the upper left, and its rows as
    // columns from top to bottom.
    case .leftMirrored: CGAffineTransform(a: 0, b: -1, c: -1, d: 0, tx: width, ty: height)
    // The upper left corner is displayed at the upper right.
    case .right: CGAffineTransform(a: 0, b: -1, c: 1, d: 0, tx: 0, ty: height)
    // The upper left corner is displayed at the lower right.
    case .rightMirrored: CGAffineTransform(a: 0, b: 1, c: 1, d: 0, tx: 0, ty: 0)
    // The upper left corner is displayed at the lower left.
    case .left: CGAffineTransform(a: 0, b: 1, c: -1, d: 0, tx: width, ty: 0)
    }
  }
}
