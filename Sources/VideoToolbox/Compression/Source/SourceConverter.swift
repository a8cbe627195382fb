// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import FFmpegMedia
import VideoBitstream

/// Converts source buffers to the size and the pixel format that the encoder takes. A buffer that
/// has both is passed on without a copy.
final class SourceConverter {
  private var converter: PixelConverter?
  private var transfer: PixelTransfer?
  /// The client's settings for the conversion
  /// (`kVTCompressionPropertyKey_PixelTransferProperties`); nil for scaling and format conversion
  /// alone.
  var settings: PixelTransferSettings? {
    didSet { if settings != oldValue { transfer = nil } }
  }
  /// The buffer that pictures are converted into. One is enough, because the encoder has finished
  /// reading a picture when its call returns.
  private var target: CVPixelBuffer?

  /// True if a buffer of this pixel format can be encoded.
  static func canTake(_ format: OSType, encoder: EncoderDescription) -> Bool {
    encoder.inputFormats.contains(PictureFormat(rawValue: format)) || PixelConverter.canRead(format)
  }

  /// Returns the source buffer itself, or its converted picture in another buffer, which is valid
  /// until the next call.
  /// - Throws: `kVTPixelTransferNotSupportedErr`, `kVTAllocationFailedErr`.
  func prepare(_ source: CVPixelBuffer, for configuration: VideoEncoderConfiguration) throws(StatusError)
    -> CVPixelBuffer
  {
    let format = configuration.format.rawValue
    if CVPixelBufferGetPixelFormatType(source) == format,
      CVPixelBufferGetWidth(source) == configuration.width,
      CVPixelBufferGetHeight(source) == configuration.height, settings?.changes(source) != true
    {
      return source
    }
    let target = try makeTarget(format, configuration)
    if var settings {
      // The picture gets the pixel aspect ratio that the stream states.
      if settings.pixelAspect == nil {
        let aspect = configuration.pixelAspect
        settings.pixelAspect = [
          kCVImageBufferPixelAspectRatioHorizontalSpacingKey as String: Double(aspect?.horizontal ?? 1),
          kCVImageBufferPixelAspectRatioVerticalSpacingKey as String: Double(aspect?.vertical ?? 1),
        ]
      }
      let transfer = self.transfer.flatMap { $0.settings == settings ? $0 : nil } ?? PixelTransfer(settings)
      self.transfer = transfer
      try transfer.transfer(source, to: target)
      return target
    }
    let converter = self.converter ?? PixelConverter()
    self.converter = converter
    do {
      try converter.convert(source, to: target)
    } catch {
      throw StatusError(kVTPixelTransferNotSupportedErr)
    }
    return target
  }

  private func makeTarget(_ format: OSType, _ configuration: VideoEncoderConfiguration) throws(StatusError)
    -> CVPixelBuffer
  {
    if let target, CVPixelBufferGetPixelFormatType(target) == format,
      CVPixelBufferGetWidth(target) == configuration.width,
      CVPixelBufferGetHeight(target) == configuration.height
    {
      return tag(target, configuration)
    }
    var made: CVPixelBuffer?
    _ = CVPixelBufferCreate(nil, configuration.width, configuration.height, format, nil, &made)
    guard let made else { throw StatusError(kVTAllocationFailedErr) }
    target = made
    return tag(made, configuration)
  }

  /// Attachments of an earlier picture no longer apply, so they are removed; the matrix is that of
  /// the stream, for the conversion.
  private func tag(_ target: CVPixelBuffer, _ configuration: VideoEncoderConfiguration) -> CVPixelBuffer {
    CVBufferRemoveAllAttachments(target)
    if let name = ColorCodePoints.matrices.name(of: Int(configuration.color.matrix)) {
      CVBufferSetAttachment(target, kCVImageBufferYCbCrMatrixKey, name as NSString, .shouldPropagate)
    }
    return target
  }
}

extension CVBuffer {
  /// Calls `body` with the buffer's picture as the encoder takes it: as a surface, if the encoder
  /// accepts the buffer's surface type, or else as planes in memory, which are locked for reading
  /// meanwhile.
  /// - Throws: the status of the encoder's error, or `kVTPixelTransferNotSupportedErr` for a
  ///   surface that cannot be mapped.
  func withInputPicture(
    for encoder: EncoderDescription, presentationTime: Int64, duration: Int64,
    _ body: (InputPicture) throws(CodecError) -> Void
  ) throws(StatusError) {
    func picture(_ content: InputPicture.Content) -> InputPicture {
      InputPicture(
        format: PictureFormat(rawValue: CVPixelBufferGetPixelFormatType(self)),
        width: CVPixelBufferGetWidth(self), height: CVPixelBufferGetHeight(self), content: content,
        presentationTime: presentationTime, duration: duration)
    }
    if let surface = OVTPixelBufferGetSurface(self), encoder.takesSurface(surface) {
      do { return try body(picture(.surface(surface))) } catch { throw StatusError(error.encoderStatus) }
    }
    guard CVPixelBufferLockBaseAddress(self, .readOnly) == kCVReturnSuccess else {
      throw StatusError(kVTPixelTransferNotSupportedErr)
    }
    defer { CVPixelBufferUnlockBaseAddress(self, .readOnly) }
    func plane(_ index: Int) -> PlaneView? {
      guard index < max(CVPixelBufferGetPlaneCount(self), 1) else { return nil }
      guard let base = CVPixelBufferGetBaseAddressOfPlane(self, index) else { return nil }
      let size = sizeOfPlane(index)
      return PlaneView(
        baseAddress: base, bytesPerRow: CVPixelBufferGetBytesPerRowOfPlane(self, index),
        width: size.width, height: size.height)
    }
    guard let first = plane(0) else { throw StatusError(kVTPixelTransferNotSupportedErr) }
    do {
      try body(picture(.planes(PlaneViews(first, plane(1), plane(2)))))
    } catch {
      throw StatusError(error.encoderStatus)
    }
  }

  /// The size of a plane in samples, as the pixel format defines it. A program may claim a larger
  /// one for memory that it wraps in a pixel buffer; codecs would read beyond that memory.
  private func sizeOfPlane(_ index: Int) -> (width: Int, height: Int) {
    let declared = (
      width: CVPixelBufferGetWidthOfPlane(self, index), height: CVPixelBufferGetHeightOfPlane(self, index)
    )
    // Core Video has allocated the memory, so that the sizes are right.
    guard !hasPaddedMemory else { return declared }
    let format = CVPixelBufferGetPixelFormatType(self)
    var (across, down) = (1, 1)
    switch PictureFormat(rawValue: format) {
    case .nv12VideoRange, .nv12FullRange, .i420VideoRange, .i420FullRange, .p010VideoRange, .p010FullRange:
      if index > 0 { (across, down) = (2, 2) }
    default:
      guard let description = CVPixelFormatDescriptionCreateWithPixelFormatType(nil, format) else { break }
      let planes =
        (description[kCVPixelFormatPlanes] as? NSArray)?.compactMap { $0 as? NSDictionary } ?? [description]
      guard index < planes.count else { break }
      across = (planes[index][kCVPixelFormatHorizontalSubsampling] as? NSNumber)?.intValue ?? 1
      down = (planes[index][kCVPixelFormatVerticalSubsampling] as? NSNumber)?.intValue ?? 1
    }
    func part(_ size: Int, _ subsampling: Int) -> Int {
      subsampling > 1 ? (size - 1) / subsampling + 1 : size
    }
    return (
      min(declared.width, part(CVPixelBufferGetWidth(self), across)),
      min(declared.height, part(CVPixelBufferGetHeight(self), down))
    )
  }
}
