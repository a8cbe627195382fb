// SPDX-License-Identifier: Apache-2.0
import VideoToolbox

/// Cuts a part out of pictures. Used by one thread.
final class PictureCrop {
  private let part: CropRect
  private var session: VTPixelTransferSession?
  private var pool = PicturePool()

  init(_ part: CropRect) { self.part = part }

  func cut(_ image: CVPixelBuffer) throws -> CVPixelBuffer {
    let (width, height) = (CVPixelBufferGetWidth(image), CVPixelBufferGetHeight(image))
    guard part.x + part.width <= width, part.y + part.height <= height else {
      throw Failure(
        "a picture of \(width)x\(height) in the movie does not hold the part that --crop names; choose a smaller "
          + "one")
    }
    let session = try session ?? makeSession()
    self.session = session
    // The offsets of a clean aperture are those of its centre.
    let aperture: [CFString: Any] = [
      kCVImageBufferCleanApertureWidthKey: part.width,
      kCVImageBufferCleanApertureHeightKey: part.height,
      kCVImageBufferCleanApertureHorizontalOffsetKey: Double(2 * part.x + part.width - width) / 2,
      kCVImageBufferCleanApertureVerticalOffsetKey: Double(2 * part.y + part.height - height) / 2,
    ]
    CVBufferSetAttachment(image, kCVImageBufferCleanApertureKey, aperture as CFDictionary, .shouldPropagate)
    defer { CVBufferRemoveAttachment(image, kCVImageBufferCleanApertureKey) }
    let target = try pool.picture(
      width: part.width, height: part.height, CVPixelBufferGetPixelFormatType(image))
    let status = VTPixelTransferSessionTransferImage(session, from: image, to: target)
    guard status == noErr else {
      throw Failure("the movie's pictures cannot be cropped (error \(status)); omit --crop")
    }
    CVBufferRemoveAttachment(target, kCVImageBufferCleanApertureKey)
    return target
  }

  private func makeSession() throws -> VTPixelTransferSession {
    var made: VTPixelTransferSession?
    VTPixelTransferSessionCreate(allocator: kCFAllocatorDefault, pixelTransferSessionOut: &made)
    guard let made else { throw Failure("out of memory for the movie's pictures") }
    let status = VTSessionSetProperty(
      made, key: kVTPixelTransferPropertyKey_ScalingMode, value: kVTScalingMode_CropSourceToCleanAperture)
    guard status == noErr else { throw Failure("the movie's pictures cannot be cropped (error \(status))") }
    return made
  }
}
