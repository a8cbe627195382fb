// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import FFmpegMedia

/// Creates an image of a pixel buffer's picture.
///
/// The image has a copy of the picture, in the colours of sRGB, 8 bits a component, with its alpha
/// if the buffer has any: not multiplied with the colours where `kCVImageBufferAlphaChannelModeKey`
/// says so. Its size is that of the buffer.
///
/// The parameters that need an explanation:
///
/// - `options`: none are known; nil.
/// - `imageOut`: Receives the image, or nil on an error.
/// - Returns: `kVTPixelTransferNotSupportedErr` if the buffer's pixel format cannot be converted,
///   `kVTAllocationFailedErr` if there is no memory.
@discardableResult
public func VTCreateCGImageFromCVPixelBuffer(
  _ pixelBuffer: CVPixelBuffer, options: CFDictionary?, imageOut: UnsafeMutablePointer<CGImage?>
) -> OSStatus {
  imageOut.pointee = nil
  var target: CVPixelBuffer?
  if CVPixelBufferGetPixelFormatType(pixelBuffer) == kCVPixelFormatType_32BGRA {
    target = pixelBuffer
  } else {
    let made = CVPixelBufferCreate(
      nil, CVPixelBufferGetWidth(pixelBuffer), CVPixelBufferGetHeight(pixelBuffer), kCVPixelFormatType_32BGRA,
      nil, &target)
    guard made == kCVReturnSuccess, let target else { return kVTAllocationFailedErr }
    let transfer = VTPixelTransferSession()
    let status = VTPixelTransferSessionTransferImage(transfer, from: pixelBuffer, to: target)
    guard status == noErr else { return status }
  }
  guard let target else { return kVTAllocationFailedErr }
  CVPixelBufferLockBaseAddress(target, .readOnly)
  defer { CVPixelBufferUnlockBaseAddress(target, .readOnly) }
  guard let base = CVPixelBufferGetBaseAddress(target) else { return kVTParameterErr }
  let (width, height) = (CVPixelBufferGetWidth(target), CVPixelBufferGetHeight(target))
  var pixels = Data(capacity: width * height * 4)
  for row in 0..<height {
    pixels.append(
      (base + row * CVPixelBufferGetBytesPerRow(target)).assumingMemoryBound(to: UInt8.self), count: width * 4
    )
  }
  let mode = CVBufferCopyAttachment(pixelBuffer, kCVImageBufferAlphaChannelModeKey, nil) as? NSString
  let alpha: CGImageAlphaInfo =
    !PixelConverter.hasAlpha(CVPixelBufferGetPixelFormatType(pixelBuffer))
    ? .noneSkipFirst
    : mode == kCVImageBufferAlphaChannelMode_StraightAlpha ? .first : .premultipliedFirst
  guard let provider = CGDataProvider(data: pixels as CFData),
    let space = rgbSpace(of: pixelBuffer) ?? CGColorSpace(name: CGColorSpace.sRGB),
    let image = CGImage(
      width: width, height: height, bitsPerComponent: 8, bitsPerPixel: 32, bytesPerRow: width * 4,
      space: space,
      bitmapInfo: [.byteOrder32Little, CGBitmapInfo(rawValue: alpha.rawValue)], provider: provider,
      decode: nil,
      shouldInterpolate: true, intent: .defaultIntent)
  else { return kVTAllocationFailedErr }
  imageOut.pointee = image
  return noErr
}

/// The RGB colour space of an image that was made of a buffer without a conversion of colours; nil
/// if the buffer's attachments do not tell.
private func rgbSpace(of buffer: CVPixelBuffer) -> CGColorSpace? {
  let space = CVImageBufferGetColorSpace(buffer)?.takeUnretainedValue()
  return space?.numberOfComponents == 3 ? space : nil
}
