// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import FFmpegMedia

/// The source image buffer attributes of a compression session.
struct SourceAttributes {
  /// The first of the named pixel formats that can be converted; nil if none is named.
  let pixelFormat: OSType?
  private let dictionary: CFDictionary?

  /// Parses the attributes.
  /// - Returns: Nil if the attributes name pixel formats of which none can be converted, or if the
  ///   value is neither a number nor an array.
  init?(_ attributes: CFDictionary?) {
    dictionary = attributes
    guard let value = attributes?[kCVPixelBufferPixelFormatTypeKey] else {
      pixelFormat = nil
      return
    }
    let numbers: [NSNumber]
    if let one = value as? NSNumber {
      numbers = [one]
    } else if let several = value as? NSArray {
      numbers = several.compactMap { $0 as? NSNumber }
    } else {
      return nil
    }
    let usable = numbers.map(\.uint32Value).first { PixelConverter.canRead($0) }
    guard let usable else { return nil }
    pixelFormat = usable
  }

  /// The client's attributes, with the session's size and pixel format in place of theirs.
  func poolAttributes(width: Int, height: Int, format: OSType) -> CFDictionary {
    let result = NSMutableDictionary()
    for (key, value) in dictionary?.entries ?? [:] { result[key] = value }
    result[kCVPixelBufferWidthKey] = NSNumber(value: width)
    result[kCVPixelBufferHeightKey] = NSNumber(value: height)
    result[kCVPixelBufferPixelFormatTypeKey] = NSNumber(value: format)
    return result
  }
}
