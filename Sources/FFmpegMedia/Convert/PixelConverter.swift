// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CodecInterface
import CoreVideo

/// Converts pixel buffers between pixel formats, sizes, colour matrices and ranges.
///
/// The matrix (BT.601, BT.709, SMPTE 240M, BT.2020) and the place of the chroma samples are those that the buffers'
/// attachments name; what one buffer does not say is taken from the other. The range is that of the pixel format.
/// Samples that only change their place are moved, all else goes through libswscale.
/// A converter keeps what it has set up, so use one for all frames; it may be used from several threads at once.
public final class PixelConverter: Sendable {
  private let conversion: PictureConversion

  /// - Parameter threads: Threads for one conversion, 1 to 16. More than one pays for large pictures that change
  ///   their size, when no encoder waits for the processors.
  public init(filter: ScalingFilter = .bicubic, threads: Int = 1) {
    conversion = PictureConversion(filter: filter, threads: min(16, threads))
  }

  /// True if `convert` can read buffers of this pixel format.
  public static func canRead(_ pixelFormat: OSType) -> Bool {
    PixelFormatInfo.of(pixelFormat).map { PictureConversion.readable($0.format) != nil } ?? false
  }

  /// True if `convert` can write buffers of this pixel format.
  public static func canWrite(_ pixelFormat: OSType) -> Bool {
    PixelFormatInfo.of(pixelFormat).map { PictureConversion.writable($0.format) != nil } ?? false
  }

  /// The pixel formats that `convert` can write.
  public static var writableFormats: [OSType] { PixelFormatInfo.all.map(\.code).filter(canWrite) }

  /// True for formats of luma and chroma; false for RGB, gray, and formats that are not known.
  public static func isYCbCr(_ pixelFormat: OSType) -> Bool {
    guard let info = PixelFormatInfo.of(pixelFormat), !info.isRGB else { return false }
    return av_pix_fmt_desc_get(info.format).map { $0.pointee.nb_components >= 3 } ?? false
  }

  /// Whether pictures of one size have fewer chroma samples in one format than in another.
  package static func reducesChroma(_ source: OSType, _ target: OSType) -> Bool {
    func shifts(_ code: OSType) -> Int? {
      guard let info = PixelFormatInfo.of(code), let descriptor = av_pix_fmt_desc_get(info.format) else {
        return nil
      }
      return Int(descriptor.pointee.log2_chroma_w) + Int(descriptor.pointee.log2_chroma_h)
    }
    guard let before = shifts(source), let after = shifts(target) else { return false }
    return after > before
  }

  package static func hasAlpha(_ pixelFormat: OSType) -> Bool {
    let description = CVPixelFormatDescriptionCreateWithPixelFormatType(nil, pixelFormat) as? [CFString: Any]
    return description?[kCVPixelFormatContainsAlpha] as? Bool ?? false
  }

  /// Makes `kCVImageBufferAlphaChannelModeKey` of a picture that was made of another say what is true of it: it has the
  /// source's alpha, unless its format has none.
  package static func settleAlphaMode(of target: CVPixelBuffer, after source: CVPixelBuffer) {
    let key = kCVImageBufferAlphaChannelModeKey
    if let mode = CVBufferCopyAttachment(source, key, nil), hasAlpha(CVPixelBufferGetPixelFormatType(target))
    {
      CVBufferSetAttachment(target, key, mode, .shouldPropagate)
    } else if CVBufferHasAttachment(target, key) {
      CVBufferRemoveAttachment(target, key)
    }
  }

  /// Fills `target` with the picture in `source`. Attachments are read, and left alone.
  ///
  /// - Parameters:
  ///   - sourceRect: The part of `source` to take, all of it if nil. In a format with subsampled chroma the corner
  ///     moves up and to the left to the next whole chroma sample.
  ///   - targetRect: The part of `target` to fill, all of it if nil; its corner likewise. The rest stays as it is.
  public func convert(
    _ source: CVPixelBuffer, sourceRect: PixelRect? = nil, to target: CVPixelBuffer,
    targetRect: PixelRect? = nil
  ) throws(PixelConversionError) {
    guard CVPixelBufferLockBaseAddress(source, .readOnly) == kCVReturnSuccess else { throw .failed }
    defer { CVPixelBufferUnlockBaseAddress(source, .readOnly) }
    guard CVPixelBufferLockBaseAddress(target, []) == kCVReturnSuccess else { throw .failed }
    defer { CVPixelBufferUnlockBaseAddress(target, []) }
    let (from, fromInfo) = try Self.view(source, sourceRect)
    let (to, toInfo) = try Self.view(target, targetRect)
    try conversion.convert(
      from, Self.meaning(source, fromInfo), to: to, Self.meaning(target, toInfo),
      wholeTarget: targetRect == nil)
  }

  // MARK: A buffer as libswscale sees it

  static func view(
    _ buffer: CVPixelBuffer, _ rect: PixelRect? = nil
  ) throws(PixelConversionError) -> (PictureView, PixelFormatInfo) {
    let code = CVPixelBufferGetPixelFormatType(buffer)
    guard let info = PixelFormatInfo.of(code) else { throw .unsupportedPixelFormat(code) }
    let planes: [UnsafeMutableRawPointer?]
    let strides: [Int]
    if CVPixelBufferIsPlanar(buffer) {
      let count = CVPixelBufferGetPlaneCount(buffer)
      planes = (0..<count).map { CVPixelBufferGetBaseAddressOfPlane(buffer, $0) }
      strides = (0..<count).map { CVPixelBufferGetBytesPerRowOfPlane(buffer, $0) }
    } else {
      planes = [CVPixelBufferGetBaseAddress(buffer)]
      strides = [CVPixelBufferGetBytesPerRow(buffer)]
    }
    var view = PictureView(
      format: info.format, width: CVPixelBufferGetWidth(buffer), height: CVPixelBufferGetHeight(buffer),
      planes: planes, strides: strides)
    view.isPadded = buffer.hasPaddedMemory
    guard planes.count >= view.layout.planeCount, !planes.contains(nil) else { throw .failed }
    guard let rect else { return (view, info) }
    let align = view.layout.cornerAlignment
    let x = rect.x / align.x * align.x
    let y = rect.y / align.y * align.y
    guard x >= 0, y >= 0, rect.width > 0, rect.height > 0, rect.width <= view.width - x,
      rect.height <= view.height - y
    else { throw .invalidRectangle }
    return (view.cropped(to: PixelRect(x: x, y: y, width: rect.width, height: rect.height)), info)
  }

  static func meaning(_ buffer: CVPixelBuffer, _ info: PixelFormatInfo) -> SampleMeaning {
    var meaning = SampleMeaning(isFullRange: info.isFullRange)
    if let matrix = CVBufferCopyAttachment(buffer, kCVImageBufferYCbCrMatrixKey, nil) as? CFString {
      meaning.matrix = UInt8(clamping: CVYCbCrMatrixGetIntegerCodePointForString(matrix))
    }
    if let place = CVBufferCopyAttachment(buffer, kCVImageBufferChromaLocationTopFieldKey, nil) as? CFString {
      meaning.chroma = chromaSiting(place)
    }
    return meaning
  }

  private static func chromaSiting(_ location: CFString) -> ChromaSiting? {
    switch location {
    case kCVImageBufferChromaLocation_Left: ChromaSiting(x: 0, y: 128)
    case kCVImageBufferChromaLocation_Center: ChromaSiting(x: 128, y: 128)
    case kCVImageBufferChromaLocation_TopLeft: ChromaSiting(x: 0, y: 0)
    case kCVImageBufferChromaLocation_Top: ChromaSiting(x: 128, y: 0)
    case kCVImageBufferChromaLocation_BottomLeft: ChromaSiting(x: 0, y: 256)
    case kCVImageBufferChromaLocation_Bottom: ChromaSiting(x: 128, y: 256)
    default: nil
    }
  }
}
