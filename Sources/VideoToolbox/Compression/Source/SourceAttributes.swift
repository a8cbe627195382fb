// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import FFmpegMedia

/// What a client says about its source buffers.
struct SourceAttributes {
  /// The first pixel format named that can be used.
  let pixelFormat: OSType?
  private let dictionary: CFDictionary?

  /// - Returns: nil if the attributes name pixel formats and none of them can be used, or are of a wrong type.
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

  /// The client's attributes, with size and pixel format as the session has them.
  func poolAttributes(width: Int, height: Int, format: OSType) -> CFDictionary {
    let result = NSMutableDictionary()
    for (key, value) in dictionary?.entries ?? [:] { result[key] = value }
    result[kCVPixelBufferWidthKey] = NSNumber(value: width)
    result[kCVPixelBufferHeightKey] = NSNumber(value: height)
    result[kCVPixelBufferPixelFormatTypeKey] = NSNumber(value: format)
    return result
  }
}
