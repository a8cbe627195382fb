// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// For the output settings of `AVAssetReaderTrackOutput`: an `NSNumber`, whether pictures are cropped to the
/// clean aperture of the track's format (`CMVideoFormatDescriptionGetCleanAperture`), before they are scaled
/// to a width and a height that the settings ask for. What is cut off lies on whole chroma samples, on the
/// inner side where the aperture's edges do not. Without it, or where it is false, pictures are whole and
/// have the aperture attached, as Apple's readers give them.
public let OVTVideoCropsToCleanApertureKey: String = "OVTVideoCropsToCleanApertureKey"

extension PictureRequirements {
  /// What crops pictures of a format; nil where there is nothing to crop.
  func cropper(_ description: CMFormatDescription) -> PictureCropper? {
    crops ? PictureCropper(description, width: width, height: height) : nil
  }
}

/// Takes what lies outside of the clean aperture off pictures.
final class PictureCropper {
  /// In parts of the picture's width and height.
  private let left: Double
  private let top: Double
  private let right: Double
  private let bottom: Double
  private let width: Int?
  private let height: Int?
  private let converter = PixelConverter()
  private var pool: CVPixelBufferPool?
  private var poolKey: [Int] = []

  /// - Parameters: the size to scale to; nil leaves it.
  /// - Returns: nil if the aperture is the whole picture, or none.
  init?(_ description: CMFormatDescription, width: Int?, height: Int?) {
    let size = CMVideoFormatDescriptionGetDimensions(description)
    let aperture = CMVideoFormatDescriptionGetCleanAperture(description, originIsAtTopLeft: true)
    let whole = CGRect(x: 0, y: 0, width: Int(size.width), height: Int(size.height))
    let part = aperture.intersection(whole)
    guard size.width > 0, size.height > 0, !part.isNull, part != whole, part.width >= 2, part.height >= 2
    else {
      return nil
    }
    left = Double(part.minX / whole.width)
    top = Double(part.minY / whole.height)
    right = Double(part.maxX / whole.width)
    bottom = Double(part.maxY / whole.height)
    self.width = width
    self.height = height
  }

  /// The part of a picture that is to be seen, in the size that was asked for.
  func crop(_ source: CVPixelBuffer) throws -> CVPixelBuffer {
    let part = part(of: source)
    let (width, height) = (self.width ?? part.width, self.height ?? part.height)
    let target = try makeBuffer(CVPixelBufferGetPixelFormatType(source), width, height)
    CVBufferPropagateAttachments(source, target)
    CVBufferRemoveAttachment(target, kCVImageBufferCleanApertureKey)
    if self.width != nil || self.height != nil {
      // It was true of pixels of another shape.
      CVBufferRemoveAttachment(target, kCVImageBufferPixelAspectRatioKey)
    }
    do { try converter.convert(source, sourceRect: part, to: target) } catch {
      throw AVError(
        .decodeFailed, reason: "The picture cannot be cropped to its clean aperture: \(error).",
        underlying: error)
    }
    return target
  }

  private func part(of source: CVPixelBuffer) -> PixelRect {
    let size = (width: CVPixelBufferGetWidth(source), height: CVPixelBufferGetHeight(source))
    let fields = CVBufferCopyAttachment(source, kCVImageBufferFieldCountKey, nil) as? NSNumber
    func range(_ first: Double, _ last: Double, _ length: Int, step: Int) -> (Int, Int) {
      // What is a whole number is not to become the next one by a rounding error.
      let unit = Double(length) / Double(step)
      let start = Int((first * unit - 1e-6).rounded(.up)) * step
      let end = last >= 1 ? length : Int((last * unit + 1e-6).rounded(.down)) * step
      return end - start >= step ? (start, end - start) : (0, length)
    }
    let (x, columns) = range(left, right, size.width, step: 2)
    // Chroma of two fields alternates with the rows of luma by twos.
    let (y, rows) = range(top, bottom, size.height, step: fields?.intValue == 2 ? 4 : 2)
    return PixelRect(x: x, y: y, width: columns, height: rows)
  }

  private func makeBuffer(_ format: OSType, _ width: Int, _ height: Int) throws -> CVPixelBuffer {
    let key = [Int(format), width, height]
    if pool == nil || poolKey != key {
      let attributes: [CFString: Any] = [
        kCVPixelBufferPixelFormatTypeKey: NSNumber(value: format),
        kCVPixelBufferWidthKey: NSNumber(value: width), kCVPixelBufferHeightKey: NSNumber(value: height),
      ]
      var made: CVPixelBufferPool?
      CVPixelBufferPoolCreate(kCFAllocatorDefault, nil, attributes as NSDictionary, &made)
      (pool, poolKey) = (made, key)
    }
    var buffer: CVPixelBuffer?
    if let pool { CVPixelBufferPoolCreatePixelBuffer(kCFAllocatorDefault, pool, &buffer) }
    guard let buffer else { throw AVError(.outOfMemory, reason: "There is no memory for a picture.") }
    return buffer
  }
}
