// SPDX-License-Identifier: Apache-2.0
import Foundation
import FuzzDriver
import ImageIO

/// Decodes image files, makes thumbnails, and encodes the images again.
@Sendable func fuzzStills(_ input: inout FuzzInput) {
  let flags = input.byte()
  let limit = input.real()
  let data = input.rest()
  guard let source = CGImageSourceCreateWithData(data as NSData, nil) else { return }
  _ = CGImageSourceGetStatus(source)
  _ = CGImageSourceCopyPropertiesAtIndex(source, 0, nil)
  let options: NSDictionary = [
    kCGImageSourceThumbnailMaxPixelSize: NSNumber(value: limit),
    kCGImageSourceCreateThumbnailFromImageAlways: true,
    kCGImageSourceCreateThumbnailWithTransform: true,
  ]
  var images = (0..<min(CGImageSourceGetCount(source), 4)).compactMap {
    CGImageSourceCreateImageAtIndex(source, $0, nil)
  }
  if let thumbnail = CGImageSourceCreateThumbnailAtIndex(source, 0, options) { images.append(thumbnail) }
  for image in images {
    require(image.width > 0 && image.height > 0, "an empty picture")
    let rows = image.bytesPerRow * (image.height - 1) + (image.width * image.bitsPerPixel + 7) / 8
    require((image.dataProvider?.data?.length ?? 0) >= rows, "fewer bytes than the picture has")
    guard image.width * image.height <= 1 << 16 else { continue }
    let type = flags & 4 != 0 ? "public.heic" : flags & 1 == 0 ? "public.png" : "public.jpeg"
    let written = NSMutableData()
    guard let destination = CGImageDestinationCreateWithData(written, type as CFString, 1, nil) else {
      continue
    }
    CGImageDestinationAddImage(
      destination, image,
      flags & 2 == 0
        ? nil : [kCGImageDestinationLossyCompressionQuality: NSNumber(value: limit)] as NSDictionary)
    guard CGImageDestinationFinalize(destination) else { continue }
    let again = CGImageSourceCreateWithData(written, nil).flatMap {
      CGImageSourceCreateImageAtIndex($0, 0, nil)
    }
    require(
      again?.width == image.width && again?.height == image.height, "what was written is another picture")
  }
}
