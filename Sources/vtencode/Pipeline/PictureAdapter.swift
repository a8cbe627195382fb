// SPDX-License-Identifier: Apache-2.0
import VideoToolbox

/// Scales decoded pictures and maps their tones where the session's own scaling does not suffice:
/// it keeps the aspect ratio, and converts high dynamic range to BT.709.
///
/// Used by one thread. A picture that needs no change is returned without a copy.
final class PictureAdapter {
  private let fit: PictureFit
  private let pixelFormat: OSType
  private let mapsTones: Bool
  private let convertsFormat: Bool
  private var session: VTPixelTransferSession?
  private var pool = PicturePool()

  /// - Parameters:
  ///   - fit: the size of the adapted pictures.
  ///   - pixelFormat: the pixel format of pictures that are scaled or whose tones are mapped.
  ///   - mapsTones: whether pictures of high dynamic range are converted to BT.709.
  ///   - convertsFormat: whether pictures that need no other change are converted to the pixel
  ///     format as well. A compression session converts them itself.
  init(_ fit: PictureFit, pixelFormat: OSType, mapsTones: Bool, convertsFormat: Bool = false) {
    self.fit = fit
    self.pixelFormat = pixelFormat
    self.mapsTones = mapsTones
    self.convertsFormat = convertsFormat
  }

  func adapt(_ image: CVPixelBuffer) throws -> CVPixelBuffer {
    let isOtherSize =
      CVPixelBufferGetWidth(image) != fit.width || CVPixelBufferGetHeight(image) != fit.height
    guard
      mapsTones || isOtherSize
        || convertsFormat && CVPixelBufferGetPixelFormatType(image) != pixelFormat
        || fit.scaling == kVTScalingMode_Letterbox as String && !fit.keepsPixelAspect
    else {
      return image
    }
    let session = try session ?? makeSession()
    self.session = session
    let target = try pool.picture(width: fit.width, height: fit.height, pixelFormat)
    let status = VTPixelTransferSessionTransferImage(session, from: image, to: target)
    guard status == noErr else {
      throw Failure(
        mapsTones
          ? "the movie's colours cannot be converted to BT.709 (error \(status)); keep them with --codec "
            + "hevc --profile main10"
          : "the movie's pictures cannot be scaled to \(fit.width)x\(fit.height) (error \(status)); omit "
            + "--dimensions"
      )
    }
    if !fit.keepsPixelAspect {
      // The whole picture has square pixels now, also where it was stretched.
      CVBufferRemoveAttachment(target, kCVImageBufferPixelAspectRatioKey)
      CVBufferRemoveAttachment(target, kCVImageBufferCleanApertureKey)
    }
    return target
  }

  private func makeSession() throws -> VTPixelTransferSession {
    var made: VTPixelTransferSession?
    VTPixelTransferSessionCreate(allocator: kCFAllocatorDefault, pixelTransferSessionOut: &made)
    guard let made else { throw Failure("out of memory for the movie's pictures") }
    var properties: [CFString: Any] = [
      kVTPixelTransferPropertyKey_ScalingMode: (fit.scaling ?? kVTScalingMode_Normal as String) as CFString
    ]
    if !fit.keepsPixelAspect {
      properties[kVTPixelTransferPropertyKey_DestinationPixelAspectRatio] =
        [
          kCVImageBufferPixelAspectRatioHorizontalSpacingKey: 1,
          kCVImageBufferPixelAspectRatioVerticalSpacingKey: 1,
        ] as CFDictionary
    }
    if mapsTones {
      properties[kVTPixelTransferPropertyKey_DestinationColorPrimaries] =
        kCVImageBufferColorPrimaries_ITU_R_709_2
      properties[kVTPixelTransferPropertyKey_DestinationTransferFunction] =
        kCVImageBufferTransferFunction_ITU_R_709_2
      properties[kVTPixelTransferPropertyKey_DestinationYCbCrMatrix] = kCVImageBufferYCbCrMatrix_ITU_R_709_2
    }
    let status = VTSessionSetProperties(made, propertyDictionary: properties as CFDictionary)
    guard status == noErr else { throw Failure("the movie's pictures cannot be adapted (error \(status))") }
    return made
  }
}
