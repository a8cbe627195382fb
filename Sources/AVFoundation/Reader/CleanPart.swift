// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// The part of a track's pictures that is left when they are cropped to their clean aperture: on whole chroma samples,
/// on the inner side where the aperture's edges do not lie on those.
package struct CleanPart: Sendable {
  // In parts of the picture's width and height.
  private let left: Double
  private let top: Double
  private let right: Double
  private let bottom: Double
  /// Rows that cannot be parted.
  private let rows: Int

  /// - Parameters:
  ///   - description: the format of the track. One rule goes for all of its pictures, so that they keep one size, whatever
  ///     a single one says of its fields.
  ///   - keepsFields: the pictures are not deinterlaced. Where the format has two fields, chroma of 4:2:0 belongs to the rows
  ///     of luma by twos, in turns: the part lies on fours of rows then.
  /// - Returns: nil if the aperture is the whole picture, or none.
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

  /// What is left of a picture.
  /// - Parameters:
  ///   - width: in pixels, as it was decoded.
  ///   - height: the same.
  package func rect(ofWidth width: Int, height: Int) -> PixelRect {
    func range(_ first: Double, _ last: Double, _ length: Int, step: Int) -> (start: Int, length: Int) {
      // What is a whole number is not to become the next one by a rounding error.
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
