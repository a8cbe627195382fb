// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// The attributes of a pixel buffer, parsed from their dictionary and validated.
struct PixelBufferAttributes {
  var width: Int?
  var height: Int?
  /// The accepted formats, in the order of preference; nil if none is named.
  var pixelFormats: [OSType]?
  var extended = ExtendedPixels()
  var bytesPerRowAlignment: Int?
  var planeAlignment: Int?

  struct Failure: Error { var code: CVReturn }

  init() {}

  /// Parses a dictionary.
  /// - Throws: `kCVReturnInvalidPixelBufferAttributes` for a value of the wrong type or out of
  ///   range.
  init(_ dictionary: CFDictionary?) throws(Failure) {
    guard let dictionary, dictionary.count > 0 else { return }
    width = try Self.integer(dictionary, kCVPixelBufferWidthKey, 1...PixelLayout.maximumDimension)
    height = try Self.integer(dictionary, kCVPixelBufferHeightKey, 1...PixelLayout.maximumDimension)
    if let value = dictionary[kCVPixelBufferPixelFormatTypeKey] {
      if let number = value as? NSNumber {
        pixelFormats = [number.uint32Value]
      } else if let list = value as? NSArray {
        var formats: [OSType] = []
        for item in list {
          guard let number = item as? NSNumber else {
            throw Failure(code: kCVReturnInvalidPixelBufferAttributes)
          }
          formats.append(number.uint32Value)
        }
        pixelFormats = formats
      } else {
        throw Failure(code: kCVReturnInvalidPixelBufferAttributes)
      }
    }
    let border = 0...PixelLayout.maximumDimension
    extended.left = try Self.integer(dictionary, kCVPixelBufferExtendedPixelsLeftKey, border) ?? 0
    extended.right = try Self.integer(dictionary, kCVPixelBufferExtendedPixelsRightKey, border) ?? 0
    extended.top = try Self.integer(dictionary, kCVPixelBufferExtendedPixelsTopKey, border) ?? 0
    extended.bottom = try Self.integer(dictionary, kCVPixelBufferExtendedPixelsBottomKey, border) ?? 0
    bytesPerRowAlignment = try Self.alignment(dictionary, kCVPixelBufferBytesPerRowAlignmentKey)
    planeAlignment = try Self.alignment(dictionary, kCVPixelBufferPlaneAlignmentKey)
  }

  /// Computes the layout of a picture with these attributes.
  func layout(_ format: PixelFormat, width: Int, height: Int) throws(PixelLayout.LayoutError) -> PixelLayout {
    try PixelLayout(
      format: format, width: width, height: height, extended: extended,
      rowAlignment: bytesPerRowAlignment ?? PixelLayout.blockAlignment, planeAlignment: planeAlignment ?? 1)
  }

  private static func integer(_ d: CFDictionary, _ key: CFString, _ range: ClosedRange<Int>) throws(Failure)
    -> Int?
  {
    guard let value = d[key] else { return nil }
    guard let number = value as? NSNumber, range.contains(number.intValue) else {
      throw Failure(code: kCVReturnInvalidPixelBufferAttributes)
    }
    return number.intValue
  }

  private static func alignment(_ d: CFDictionary, _ key: CFString) throws(Failure) -> Int? {
    guard let value = try integer(d, key, 0...(1 << 20)), value > 0 else { return nil }
    guard value & (value - 1) == 0 else { throw Failure(code: kCVReturnInvalidPixelBufferAttributes) }
    return value
  }
}
