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
    guard crops, let part = CleanPart(description, keepsFields: !fields.changesPictures) else { return nil }
    return PictureCropper(part, width: width, height: height)
  }
}

/// Takes what lies outside of the clean aperture off pictures.
final class PictureCropper {
  private let part: CleanPart
  private let width: Int?
  private let height: Int?
  private let converter = PixelConverter()
  private var pool: CVPixelBufferPool?
  private var poolKey: [Int] = []

  /// - Parameters:
  ///   - part: what is to be seen.
  ///   - width: to scale that to; nil leaves it.
  ///   - height: to scale that to; nil leaves it.
  init(_ part: CleanPart, width: Int?, height: Int?) {
    self.part = part
    self.width = width
    self.height = height
  }

  /// The part of a picture that is to be seen, in the size that was asked for.
  func crop(_ source: CVPixelBuffer) throws -> CVPixelBuffer {
    let part = part.rect(ofWidth: CVPixelBufferGetWidth(source), height: CVPixelBufferGetHeight(source))
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
