// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// The rectangle to which the pictures of a track are cropped to show their clean aperture. Its
/// edges are on boundaries of chroma samples; where the aperture's edges are not, they are moved
/// inward.
package struct CleanApertureCrop: Sendable {
  // Edges as fractions of the picture's width and height.
  private let left: Double
  private let top: Double
  private let right: Double
  private let bottom: Double
  /// The number of rows at whose multiples the upper and lower edges are.
  private let rows: Int

  /// Computes the rectangle.
  /// - Parameters:
  ///   - description: The format of the track. The rectangle is the same for all pictures of the
  ///     track, so that they have one size, whether or not a single picture is interlaced.
  ///   - keepsFields: Whether the pictures are not deinterlaced. If the format has two fields,
  ///     4:2:0 chroma rows belong alternately to the two fields, so the edges are at multiples of
  ///     four rows.
  /// - Returns: Nil if the format has no clean aperture, or one that is the whole picture.
  package init?(_ description: CMFormatDescription, keepsFields: Bool) {
    let size = CMVideoFormatDescriptionGetDimensions(description)
    let aperture = CMVideoFormatDescriptionGetCleanAperture(description, originIsAtTopLeft: true)
    let whole = CGRect(x: 0, y: 0, width: Int(size.width), height: Int(size.height))
    let part = aperture.intersection(whole)
    guard size.width > 0, size.height > 0, !part.isNull, part != whole, part.width >= 2, part.height >= 2
    else { return nil }
    left = Double(part.minX / whole.width)
    top = Double(part.minY / whole.height)
    right = Double(part.maxX / whole.width)
    bottom = Double(part.maxY / whole.height)
    let fields =
      CMFormatDescriptionGetExtension(description, extensionKey: kCMFormatDescriptionExtension_FieldCount)
      as? NSNumber
    rows = keepsFields && fields?.intValue == 2 ? 4 : 2
  }

  /// The rectangle for a picture.
  /// - Parameters:
  ///   - width: The width of the decoded picture in pixels.
  ///   - height: The height of the decoded picture in pixels.
  package func rect(ofWidth width: Int, height: Int) -> PixelRect {
    func range(_ first: Double, _ last: Double, _ length: Int, step: Int) -> (start: Int, length: Int) {
      // The tolerance keeps a whole number from being rounded to the next one because of a rounding
      // error.
      let unit = Double(length) / Double(step)
      let start = Int((first * unit - 1e-6).rounded(.up)) * step
      let end = last >= 1 ? length : Int((last * unit + 1e-6).rounded(.down)) * step
      return end - start >= step ? (start, end - start) : (0, length)
    }
    let across = range(left, right, width, step: 2)
    let down = range(top, bottom, height, step: rows)
    return PixelRect(x: across.start, y: down.start, width: across.length, height: down.length)
  }
}
