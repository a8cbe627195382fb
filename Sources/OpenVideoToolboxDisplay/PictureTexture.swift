// SPDX-License-Identifier: Apache-2.0
#if Display
  import CSDL2
  import Foundation

  /// A picture in a texture of an SDL renderer. Used on the display's thread.
  final class PictureTexture {
    let library: ovt_sdl
    private let renderer: OpaquePointer
    private var texture: OpaquePointer?
    private var shape: [Int] = []
    private(set) var picture: AVSampleBufferDisplayLayer.Picture?
    private var mode = SDL_YUV_CONVERSION_BT601
    private var converter: VTPixelTransferSession?
    private var converted: CVPixelBuffer?
    /// Whether pictures are converted to RGB by Video Toolbox and not by SDL. SDL's software
    /// renderer would convert them to a format that it has to convert once more.
    private let takesRGB: Bool

    init(_ library: ovt_sdl, _ renderer: OpaquePointer, takesRGB: Bool) {
      (self.library, self.renderer) = (library, renderer)
      self.takesRGB = takesRGB
    }

    deinit {
      if let texture { library.SDL_DestroyTexture(texture) }
      if let converter { VTPixelTransferSessionInvalidate(converter) }
    }

    /// Sets SDL's conversion to RGB for the picture, and returns its texture; nil without a
    /// picture.
    func prepare() -> OpaquePointer? {
      library.SDL_SetYUVConversionMode(mode)
      return picture?.image == nil ? nil : texture
    }

    /// SDL's conversion for a picture: 8-bit 4:2:0 in BT.601 (both ranges) or BT.709 (video range).
    /// Nil if SDL cannot convert it.
    static func mode(of image: CVPixelBuffer) -> SDL_YUV_CONVERSION_MODE? {
      let isFull: Bool
      switch CVPixelBufferGetPixelFormatType(image) {
      case kCVPixelFormatType_420YpCbCr8Planar, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange:
        isFull = false
      case kCVPixelFormatType_420YpCbCr8PlanarFullRange, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange:
        isFull = true
      default: return nil
      }
      let matrix = CVBufferCopyAttachment(image, kCVImageBufferYCbCrMatrixKey, nil) as? NSString
      switch matrix {
      case .some(kCVImageBufferYCbCrMatrix_ITU_R_601_4):
        return isFull ? SDL_YUV_CONVERSION_JPEG : SDL_YUV_CONVERSION_BT601
      case .some(kCVImageBufferYCbCrMatrix_ITU_R_709_2):
        return isFull ? nil : SDL_YUV_CONVERSION_BT709
      case nil:
        // Without an attachment BT.601 is assumed for pictures of less than 720 rows, and BT.709
        // for others, as is usual.
        if CVPixelBufferGetHeight(image) < 720 {
          return isFull ? SDL_YUV_CONVERSION_JPEG : SDL_YUV_CONVERSION_BT601
        }
        return isFull ? nil : SDL_YUV_CONVERSION_BT709
      default: return nil
      }
    }

    /// Copies a picture to the texture.
    func load(_ picture: AVSampleBufferDisplayLayer.Picture) {
      self.picture = picture
      guard var image = picture.image else { return }
      if !takesRGB, let known = Self.mode(of: image) {
        mode = known
      } else {
        guard let rgb = convert(image) else { return }
        image = rgb
      }
      let format = CVPixelBufferGetPixelFormatType(image)
      let (width, height) = (CVPixelBufferGetWidth(image), CVPixelBufferGetHeight(image))
      let kind: UInt32 =
        switch format {
        // Usually this is the format of the screen, so that no conversion is needed.
        case kCVPixelFormatType_32BGRA:
          UInt32((takesRGB ? SDL_PIXELFORMAT_RGB888 : SDL_PIXELFORMAT_ARGB8888).rawValue)
        case kCVPixelFormatType_420YpCbCr8Planar, kCVPixelFormatType_420YpCbCr8PlanarFullRange:
          UInt32(SDL_PIXELFORMAT_IYUV.rawValue)
        default: UInt32(SDL_PIXELFORMAT_NV12.rawValue)
        }
      if texture == nil || shape != [Int(kind), width, height] {
        if let texture { library.SDL_DestroyTexture(texture) }
        texture = library.SDL_CreateTexture(
          renderer, kind, Int32(SDL_TEXTUREACCESS_STREAMING.rawValue), Int32(width), Int32(height))
        shape = [Int(kind), width, height]
        if let texture { _ = library.SDL_SetTextureBlendMode(texture, SDL_BLENDMODE_NONE) }
      }
      guard let texture else { return }
      library.SDL_SetYUVConversionMode(mode)
      CVPixelBufferLockBaseAddress(image, .readOnly)
      defer { CVPixelBufferUnlockBaseAddress(image, .readOnly) }
      func plane(_ index: Int) -> (UnsafePointer<UInt8>?, Int32) {
        (
          CVPixelBufferGetBaseAddressOfPlane(image, index).map {
            UnsafePointer($0.assumingMemoryBound(to: UInt8.self))
          },
          Int32(CVPixelBufferGetBytesPerRowOfPlane(image, index))
        )
      }
      if format == kCVPixelFormatType_32BGRA {
        _ = library.SDL_UpdateTexture(
          texture, nil, CVPixelBufferGetBaseAddress(image), Int32(CVPixelBufferGetBytesPerRow(image)))
      } else if CVPixelBufferGetPlaneCount(image) == 3 {
        let (y, u, v) = (plane(0), plane(1), plane(2))
        _ = library.SDL_UpdateYUVTexture(texture, nil, y.0, y.1, u.0, u.1, v.0, v.1)
      } else {
        let (y, uv) = (plane(0), plane(1))
        _ = library.SDL_UpdateNVTexture(texture, nil, y.0, y.1, uv.0, uv.1)
      }
    }

    /// Converts a picture to RGB with Video Toolbox, where SDL cannot convert it correctly.
    private func convert(_ image: CVPixelBuffer) -> CVPixelBuffer? {
      if CVPixelBufferGetPixelFormatType(image) == kCVPixelFormatType_32BGRA { return image }
      if converter == nil {
        VTPixelTransferSessionCreate(allocator: nil, pixelTransferSessionOut: &converter)
      }
      let (width, height) = (CVPixelBufferGetWidth(image), CVPixelBufferGetHeight(image))
      if converted == nil || converted.map({ CVPixelBufferGetWidth($0) }) != width
        || converted.map({ CVPixelBufferGetHeight($0) }) != height
      {
        converted = nil
        CVPixelBufferCreate(nil, width, height, kCVPixelFormatType_32BGRA, nil, &converted)
      }
      guard let converter, let converted,
        VTPixelTransferSessionTransferImage(converter, from: image, to: converted) == noErr
      else { return nil }
      return converted
    }
  }
#endif
