// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// The size of the picture in pixels, without regard to its clean aperture.
@discardableResult
public func CVImageBufferGetEncodedSize(_ imageBuffer: CVImageBuffer) -> CGSize {
  CGSize(width: imageBuffer.width, height: imageBuffer.height)
}

/// The size at which to show the picture, in square pixels: its attached display dimensions, or
/// else its clean aperture stretched by its pixel aspect ratio.
@discardableResult
public func CVImageBufferGetDisplaySize(_ imageBuffer: CVImageBuffer) -> CGSize {
  if let size = imageBuffer.numbers(
    kCVImageBufferDisplayDimensionsKey, [kCVImageBufferDisplayWidthKey, kCVImageBufferDisplayHeightKey])
  {
    return CGSize(width: size[0], height: size[1])
  }
  var size = CVImageBufferGetCleanRect(imageBuffer).size
  if let ratio = imageBuffer.numbers(
    kCVImageBufferPixelAspectRatioKey,
    [kCVImageBufferPixelAspectRatioHorizontalSpacingKey, kCVImageBufferPixelAspectRatioVerticalSpacingKey]),
    ratio[0] > 0, ratio[1] > 0
  {
    size.width = (size.width * ratio[0] / ratio[1]).rounded()
  }
  return size
}

/// The part of the picture to be shown, in pixels; the origin is at the lower left.
@discardableResult
public func CVImageBufferGetCleanRect(_ imageBuffer: CVImageBuffer) -> CGRect {
  let whole = CVImageBufferGetEncodedSize(imageBuffer)
  guard
    let clean = imageBuffer.numbers(
      kCVImageBufferCleanApertureKey,
      [
        kCVImageBufferCleanApertureWidthKey, kCVImageBufferCleanApertureHeightKey,
        kCVImageBufferCleanApertureHorizontalOffsetKey, kCVImageBufferCleanApertureVerticalOffsetKey,
      ]), clean[0] > 0, clean[1] > 0
  else { return CGRect(origin: .zero, size: whole) }
  // The offsets are those of the aperture's centre, to the right and downwards.
  return CGRect(
    x: (whole.width - clean[0]) / 2 + clean[2], y: (whole.height - clean[1]) / 2 - clean[3], width: clean[0],
    height: clean[1])
}

/// Whether the first row of memory is the top of the picture: always.
@discardableResult
public func CVImageBufferIsFlipped(_ imageBuffer: CVImageBuffer) -> Bool { true }

extension CVBuffer {
  /// Reads the numbers of some keys of an attached dictionary; a missing key counts as zero. Nil if
  /// the dictionary is not attached, or one of the values is not a number.
  fileprivate func numbers(_ attachment: CFString, _ keys: [CFString]) -> [Double]? {
    guard let dictionary = CVBufferCopyAttachment(self, attachment, nil) as? NSDictionary else { return nil }
    var result: [Double] = []
    for key in keys {
      guard let value = dictionary[key] else {
        result.append(0)
        continue
      }
      guard let number = value as? NSNumber else { return nil }
      result.append(number.doubleValue)
    }
    return result
  }
}
