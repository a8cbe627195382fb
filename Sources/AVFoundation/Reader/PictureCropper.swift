// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// A key for the output settings of `AVAssetReaderTrackOutput`, whose value is an `NSNumber` of a
/// Boolean: whether pictures are cropped to the clean aperture of the track's format
/// (`CMVideoFormatDescriptionGetCleanAperture`). They are cropped before they are scaled to the
/// width and height of the settings. The edges are on boundaries of chroma samples; where the
/// aperture's edges are not, they are moved inward. Without the key, or if it is false, pictures
/// are complete and have the clean aperture as an attachment, as with Apple's reader.
public let OVTVideoCropsToCleanApertureKey: String = "OVTVideoCropsToCleanApertureKey"

extension PictureRequirements {
  /// The cropper for pictures of a format; nil if there is nothing to crop.
  func cropper(_ description: CMFormatDescription) -> PictureCropper? {
    guard crops, let part = CleanApertureCrop(description, keepsFields: !fields.changesPictures) else {
      return nil
    }
    return PictureCropper(part, width: width, height: height)
  }
}

/// Crops pictures to the clean aperture and scales them.
final class PictureCropper {
  private let part: CleanApertureCrop
  private let width: Int?
  private let height: Int?
  private let converter = PixelConverter()
  private var pool: CVPixelBufferPool?
  private var poolKey: [Int] = []

  /// Creates a cropper.
  /// - Parameters:
  ///   - part: The part of the picture to keep.
  ///   - width: The width in pixels to scale to; nil for the width of the part.
  ///   - height: The height in pixels to scale to; nil for the height of the part.
  init(_ part: CleanApertureCrop, width: Int?, height: Int?) {
    self.part = part
    self.width = width
    self.height = height
  }

  /// The cropped and scaled picture.
  /// - Throws: `AVError` if there is no memory or the format cannot be converted.
  func crop(_ source: CVPixelBuffer) throws -> CVPixelBuffer {
    let part = part.rect(ofWidth: CVPixelBufferGetWidth(source), height: CVPixelBufferGetHeight(source))
    let (width, height) = (self.width ?? part.width, self.height ?? part.height)
    let target = try makeBuffer(CVPixelBufferGetPixelFormatType(source), width, height)
    CVBufferPropagateAttachments(source, target)
    CVBufferRemoveAttachment(target, kCVImageBufferCleanApertureKey)
    if self.width != nil || self.height != nil {
      // The scaled pixels have another aspect ratio.
      CVBufferRemoveAttachment(target, kCVImageBufferPixelAspectRatioKey)
    }
    do { try converter.convert(source, sourceRect: part, to: target) } catch {
      throw AVError(
        .decodeFailed, reason: "The picture cannot be cropped to its clean aperture: \(error).",
        underlying: error)
    }
    return target
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
