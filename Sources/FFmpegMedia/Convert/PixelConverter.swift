// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CodecInterface
import CoreVideo

/// Converts pixel buffers between pixel formats, sizes, colour matrices and ranges.
///
/// The matrix (BT.601, BT.709, SMPTE 240M, BT.2020) and the chroma siting are those in the buffers'
/// attachments; what one buffer does not have is taken from the other. The range is that of the
/// pixel format. If samples only need to be rearranged they are copied; all other conversions use
/// libswscale. A converter keeps its libswscale contexts, so that one should be used for all
/// frames. It is thread-safe.
public final class PixelConverter: Sendable {
  private let conversion: PictureConversion

  /// Makes a converter.
  /// - Parameters:
  ///   - filter: The filter for changes of size.
  ///   - threads: Threads for one conversion, 1 to 16. Several make large pictures faster that
  ///     change their size, unless the processors are busy with an encoder.
  public init(filter: ScalingFilter = .bicubic, threads: Int = 1) {
    conversion = PictureConversion(filter: filter, threads: min(16, threads))
  }

  /// Whether `convert` can read buffers of this pixel format.
  public static func canRead(_ pixelFormat: OSType) -> Bool {
    PixelFormatInfo.of(pixelFormat).map { PictureConversion.readable($0.format) != nil } ?? false
  }

  /// Whether `convert` can write buffers of this pixel format.
  public static func canWrite(_ pixelFormat: OSType) -> Bool {
    PixelFormatInfo.of(pixelFormat).map { PictureConversion.writable($0.format) != nil } ?? false
  }

  /// The pixel formats that `convert` can write.
  public static var writableFormats: [OSType] { PixelFormatInfo.all.map(\.code).filter(canWrite) }

  /// Whether a format consists of luma and chroma; false for RGB, gray and unknown formats.
  public static func isYCbCr(_ pixelFormat: OSType) -> Bool {
    guard let info = PixelFormatInfo.of(pixelFormat), !info.isRGB else { return false }
    return av_pix_fmt_desc_get(info.format).map { $0.pointee.nb_components >= 3 } ?? false
  }

  /// Whether pictures have fewer chroma samples in the second format than in the first one.
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

  /// Whether Core Video describes a pixel format as one with alpha.
  package static func hasAlpha(_ pixelFormat: OSType) -> Bool {
    let description = CVPixelFormatDescriptionCreateWithPixelFormatType(nil, pixelFormat) as? [CFString: Any]
    return description?[kCVPixelFormatContainsAlpha] as? Bool ?? false
  }

  /// Corrects `kCVImageBufferAlphaChannelModeKey` of a picture that was converted: it gets the
  /// source's mode, unless its format has no alpha.
  package static func correctAlphaMode(of target: CVPixelBuffer, after source: CVPixelBuffer) {
    let key = kCVImageBufferAlphaChannelModeKey
    if let mode = CVBufferCopyAttachment(source, key, nil), hasAlpha(CVPixelBufferGetPixelFormatType(target))
    {
      CVBufferSetAttachment(target, key, mode, .shouldPropagate)
    } else if CVBufferHasAttachment(target, key) {
      CVBufferRemoveAttachment(target, key)
    }
  }

  /// Converts the picture in `source` to the format and the size of `target`. Attachments of the
  /// buffers are read, and not changed.
  ///
  /// - Parameters:
  ///   - source: The picture.
  ///   - sourceRect: The part of `source` to be converted; nil: all of it. With subsampled chroma,
  ///     the corner is moved up and to the left to the next chroma sample.
  ///   - target: Receives the result.
  ///   - targetRect: The part of `target` to be written, whose corner is moved in the same way;
  ///     nil: all of it. The rest is not changed.
  /// - Throws: `PixelConversionError`.
  public func convert(
    _ source: CVPixelBuffer, sourceRect: PixelRect? = nil, to target: CVPixelBuffer,
    targetRect: PixelRect? = nil
  ) throws(PixelConversionError) {
    guard CVPixelBufferLockBaseAddress(source, .readOnly) == kCVReturnSuccess else { throw .failed }
    defer { CVPixelBufferUnlockBaseAddress(source, .readOnly) }
    guard CVPixelBufferLockBaseAddress(target, []) == kCVReturnSuccess else { throw .failed }
    defer { CVPixelBufferUnlockBaseAddress(target, []) }
    if sourceRect == nil, targetRect == nil, Self.copyPacked(source, to: target) { return }
    // Samples that are packed in a way of their own are held here while they are converted.
    let unpacked = try Self.unpacked(source)
    let repacked = try Self.unpacked(target, keepsSamples: targetRect != nil)
    let (from, fromInfo) = try Self.view(source, sourceRect, unpacked)
    let (to, toInfo) = try Self.view(target, targetRect, repacked)
    try conversion.convert(
      from, Self.meaning(source, fromInfo), to: to, Self.meaning(target, toInfo),
      wholeTarget: targetRect == nil)
    if let repacked { _ = Self.store(repacked.view, in: target) }
  }

  /// Copies a picture into a buffer of the same size and the same samples, which may be packed.
  /// - Parameters:
  ///   - picture: The picture.
  ///   - buffer: Receives the samples; locked.
  /// - Returns: false if the size or the samples are others.
  static func store(_ picture: PictureView, in buffer: CVPixelBuffer) -> Bool {
    guard let info = PixelFormatInfo.of(CVPixelBufferGetPixelFormatType(buffer)),
      info.format == picture.format,
      CVPixelBufferGetWidth(buffer) == picture.width, CVPixelBufferGetHeight(buffer) == picture.height
    else { return false }
    guard let packing = info.packing else {
      guard let (target, _) = try? view(buffer) else { return false }
      PlaneCopy.copy(picture, to: target)
      return true
    }
    let stride = CVPixelBufferGetBytesPerRow(buffer)
    guard let base = CVPixelBufferGetBaseAddress(buffer), stride >= packing.bytes(picture.width) else {
      return false
    }
    packing.pack(picture, to: base, stride: stride)
    return true
  }

  /// Copies the rows of a picture with packed samples to one that is alike in format, size and
  /// meaning.
  /// - Returns: false, with nothing written, if there are no packed samples or the buffers differ.
  private static func copyPacked(_ source: CVPixelBuffer, to target: CVPixelBuffer) -> Bool {
    let code = CVPixelBufferGetPixelFormatType(source)
    let (width, height) = (CVPixelBufferGetWidth(source), CVPixelBufferGetHeight(source))
    guard let info = PixelFormatInfo.of(code), let packing = info.packing,
      CVPixelBufferGetPixelFormatType(target) == code, CVPixelBufferGetWidth(target) == width,
      CVPixelBufferGetHeight(target) == height, meaning(source, info) == meaning(target, info),
      let from = CVPixelBufferGetBaseAddress(source), let to = CVPixelBufferGetBaseAddress(target)
    else { return false }
    let strides = (CVPixelBufferGetBytesPerRow(source), CVPixelBufferGetBytesPerRow(target))
    let bytes = packing.bytes(width)
    guard min(strides.0, strides.1) >= bytes, from != to else { return false }
    for row in 0..<height { memcpy(to + row * strides.1, from + row * strides.0, bytes) }
    return true
  }

  /// The picture of a buffer with packed samples (`PixelFormatInfo.packing`) in the libavutil
  /// format of the same samples; nil for other buffers.
  /// - Parameters:
  ///   - buffer: The buffer, locked.
  ///   - keepsSamples: Whether the samples are copied; otherwise they are undefined.
  static func unpacked(
    _ buffer: CVPixelBuffer, keepsSamples: Bool = true
  ) throws(PixelConversionError) -> PictureMemory? {
    guard let packing = PixelFormatInfo.of(CVPixelBufferGetPixelFormatType(buffer))?.packing else {
      return nil
    }
    let (width, height) = (CVPixelBufferGetWidth(buffer), CVPixelBufferGetHeight(buffer))
    let stride = CVPixelBufferGetBytesPerRow(buffer)
    guard let base = CVPixelBufferGetBaseAddress(buffer), stride >= packing.bytes(width),
      let memory = PictureMemory(format: packing.format, width: width, height: height)
    else { throw .failed }
    if keepsSamples { packing.unpack(base, stride: stride, to: memory.view) }
    return memory
  }

  // MARK: A buffer as libswscale sees it

  /// - Parameters:
  ///   - buffer: The buffer, locked.
  ///   - rect: The part of it; nil: all of it.
  ///   - unpacked: The picture of a buffer with packed samples.
  /// - Throws: `PixelConversionError.unsupportedPixelFormat` also for packed samples without
  ///   `unpacked`.
  static func view(
    _ buffer: CVPixelBuffer, _ rect: PixelRect? = nil, _ unpacked: PictureMemory? = nil
  ) throws(PixelConversionError) -> (PictureView, PixelFormatInfo) {
    let code = CVPixelBufferGetPixelFormatType(buffer)
    guard let info = PixelFormatInfo.of(code) else { throw .unsupportedPixelFormat(code) }
    if let unpacked { return (try part(rect, of: unpacked.view), info) }
    guard info.packing == nil else { throw .unsupportedPixelFormat(code) }
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
    return (try part(rect, of: view), info)
  }

  private static func part(
    _ rect: PixelRect?, of view: PictureView
  ) throws(PixelConversionError) -> PictureView {
    guard let rect else { return view }
    let align = view.layout.cornerAlignment
    let x = rect.x / align.x * align.x
    let y = rect.y / align.y * align.y
    guard x >= 0, y >= 0, rect.width > 0, rect.height > 0, rect.width <= view.width - x,
      rect.height <= view.height - y
    else { throw .invalidRectangle }
    return view.cropped(to: PixelRect(x: x, y: y, width: rect.width, height: rect.height))
  }

  static func meaning(_ buffer: CVPixelBuffer, _ info: PixelFormatInfo) -> SampleMeaning {
    var meaning = SampleMeaning(isFullRange: info.isFullRange)
    if let matrix = CVBufferCopyAttachment(buffer, kCVImageBufferYCbCrMatrixKey, nil) as? CFString {
      meaning.matrix = UInt8(clamping: CVYCbCrMatrixGetIntegerCodePointForString(matrix))
    }
    if let location = CVBufferCopyAttachment(buffer, kCVImageBufferChromaLocationTopFieldKey, nil)
      as? CFString
    {
      meaning.chroma = chromaSiting(location)
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
