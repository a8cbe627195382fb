// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import FFmpegMedia

/// The rectangles of a transfer: the source's is scaled to the destination's.
struct TransferGeometry: Equatable {
  /// The rectangle in the source; nil for all of it.
  var source: PixelRect?
  /// The rectangle in the destination; nil for all of it.
  var target: PixelRect?
}

/// The clean aperture and the pixel aspect ratio of a picture.
struct PictureAspect {
  var width: Int
  var height: Int
  /// The clean aperture in pixels, with the origin at the upper left.
  var aperture: (x: Double, y: Double, width: Double, height: Double)
  /// The width of a pixel divided by its height.
  var pixelAspect: Double

  /// Reads the shape of a source picture from its buffer's attachments.
  init(_ buffer: CVPixelBuffer) {
    self.init(
      buffer, aperture: CVBufferCopyAttachment(buffer, kCVImageBufferCleanApertureKey, nil) as? NSDictionary,
      aspect: CVBufferCopyAttachment(buffer, kCVImageBufferPixelAspectRatioKey, nil) as? NSDictionary)
  }

  /// The shape of a picture whose buffer's attachments say nothing.
  /// - Parameters:
  ///   - buffer: The buffer.
  ///   - aperture: The clean aperture; nil for the whole picture.
  ///   - aspect: The pixel aspect ratio; nil for square pixels.
  init(_ buffer: CVPixelBuffer, aperture: NSDictionary?, aspect: NSDictionary?) {
    width = CVPixelBufferGetWidth(buffer)
    height = CVPixelBufferGetHeight(buffer)
    let horizontal = Self.number(aspect, kCVImageBufferPixelAspectRatioHorizontalSpacingKey) ?? 1
    let vertical = Self.number(aspect, kCVImageBufferPixelAspectRatioVerticalSpacingKey) ?? 1
    pixelAspect = horizontal > 0 && vertical > 0 ? horizontal / vertical : 1
    self.aperture = (0, 0, Double(width), Double(height))
    guard let cleanWidth = Self.number(aperture, kCVImageBufferCleanApertureWidthKey),
      let cleanHeight = Self.number(aperture, kCVImageBufferCleanApertureHeightKey), cleanWidth > 0,
      cleanHeight > 0,
      cleanWidth <= Double(width), cleanHeight <= Double(height)
    else { return }
    // Offsets are distances between the centres of aperture and picture.
    let x =
      (Double(width) - cleanWidth) / 2
      + (Self.number(aperture, kCVImageBufferCleanApertureHorizontalOffsetKey) ?? 0)
    let y =
      (Double(height) - cleanHeight) / 2
      + (Self.number(aperture, kCVImageBufferCleanApertureVerticalOffsetKey) ?? 0)
    self.aperture = (
      min(max(0, x), Double(width) - cleanWidth), min(max(0, y), Double(height) - cleanHeight), cleanWidth,
      cleanHeight
    )
  }

  private static func number(_ dictionary: NSDictionary?, _ key: CFString) -> Double? {
    guard let value = (dictionary?[key] as? NSNumber)?.doubleValue, value.isFinite else { return nil }
    return value
  }

  private var isWhole: Bool { aperture == (0, 0, Double(width), Double(height)) }

  /// The aperture in whole pixels.
  private var apertureRect: PixelRect? { isWhole ? nil : rect(aperture) }

  private func rect(_ area: (x: Double, y: Double, width: Double, height: Double)) -> PixelRect? {
    // Edges are rounded to even numbers, for whole chroma samples, except at the last pixel of a
    // picture of odd size.
    func even(_ start: Double, _ length: Double, _ limit: Int) -> (Int, Int) {
      let first = min(max(0, Int(Int32(clamping: (start / 2).rounded())) * 2), (limit - 1) / 2 * 2)
      let end = min(limit, max(first + 1, Int(Int32(clamping: ((start + length) / 2).rounded())) * 2))
      return (first, end - first)
    }
    let (x, columns) = even(area.x, area.width, width)
    let (y, rows) = even(area.y, area.height, height)
    let rect = PixelRect(x: x, y: y, width: columns, height: rows)
    return rect == PixelRect(x: 0, y: 0, width: width, height: height) ? nil : rect
  }

  /// Computes the rectangles of a transfer from this picture to another.
  /// - Parameters:
  ///   - target: The shape of the destination.
  ///   - mode: The scaling mode, one of the `kVTScalingMode_` values.
  func fit(into target: PictureAspect, mode: String) -> TransferGeometry {
    switch mode as NSString {
    case kVTScalingMode_CropSourceToCleanAperture:
      return TransferGeometry(source: apertureRect, target: target.apertureRect)
    case kVTScalingMode_Letterbox:
      let shape = aperture.width * pixelAspect / aperture.height
      let room = target.aperture.width * target.pixelAspect / target.aperture.height
      var area = target.aperture
      if shape > room {
        area.height = target.aperture.width * target.pixelAspect / shape
        area.y += (target.aperture.height - area.height) / 2
      } else {
        area.width = target.aperture.height * shape / target.pixelAspect
        area.x += (target.aperture.width - area.width) / 2
      }
      return TransferGeometry(source: apertureRect, target: target.rect(area))
    case kVTScalingMode_Trim:
      let shape = aperture.width * pixelAspect / aperture.height
      let room = target.aperture.width * target.pixelAspect / target.aperture.height
      var area = aperture
      if shape > room {
        area.width = aperture.height * room / pixelAspect
        area.x += (aperture.width - area.width) / 2
      } else {
        area.height = aperture.width * pixelAspect / room
        area.y += (aperture.height - area.height) / 2
      }
      return TransferGeometry(source: rect(area), target: target.apertureRect)
    default:
      return TransferGeometry()
    }
  }
}
