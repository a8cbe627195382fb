import CodecInterface
import CoreMedia
import FFmpegMedia

/// Brings source buffers into the size and the pixel format that the encoder takes. What fits is passed on as it is.
final class SourceConverter {
  private var converter: PixelConverter?
  private var transfer: PixelTransfer?
  /// How pictures are converted, if not plainly.
  var settings: PixelTransferSettings? {
    didSet { if settings != oldValue { transfer = settings.map { PixelTransfer($0) } } }
  }
  /// The encoder is done with a picture when its call returns, so one buffer is enough.
  private var target: CVPixelBuffer?

  /// True if a buffer of this pixel format can be encoded.
  static func canTake(_ format: OSType, encoder: EncoderDescription) -> Bool {
    encoder.inputFormats.contains(PictureFormat(rawValue: format)) || PixelConverter.canRead(format)
  }

  /// The buffer itself, or its picture in another buffer that is valid until the next call.
  func prepare(_ source: CVPixelBuffer, for configuration: EncoderConfiguration) throws(StatusError)
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
    if let transfer {
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

  private func makeTarget(_ format: OSType, _ configuration: EncoderConfiguration) throws(StatusError)
    -> CVPixelBuffer
  {
    if let target, CVPixelBufferGetPixelFormatType(target) == format,
      CVPixelBufferGetWidth(target) == configuration.width,
      CVPixelBufferGetHeight(target) == configuration.height
    {
      return target
    }
    var made: CVPixelBuffer?
    _ = CVPixelBufferCreate(nil, configuration.width, configuration.height, format, nil, &made)
    guard let made else { throw StatusError(kVTAllocationFailedErr) }
    if let name = ColorNames.matrices.first(where: { $0.code == configuration.color.matrix })?.name {
      CVBufferSetAttachment(made, "CVImageBufferYCbCrMatrix", name as NSString, .shouldPropagate)
    }
    target = made
    return made
  }
}

extension CVBuffer {
  /// Calls `body` with the planes as a codec sees them, the memory locked for reading.
  func withSourcePicture<R>(
    presentationTime: Int64, duration: Int64, _ body: (SourcePicture) throws(CodecError) -> R
  ) throws(CodecError) -> R {
    CVPixelBufferLockBaseAddress(self, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(self, .readOnly) }
    func plane(_ index: Int) throws(CodecError) -> PlaneView? {
      guard index < CVPixelBufferGetPlaneCount(self) else { return nil }
      guard let base = CVPixelBufferGetBaseAddressOfPlane(self, index) else {
        throw .invalidConfiguration("a plane without memory")
      }
      return PlaneView(
        baseAddress: base, bytesPerRow: CVPixelBufferGetBytesPerRowOfPlane(self, index),
        width: CVPixelBufferGetWidthOfPlane(self, index), height: CVPixelBufferGetHeightOfPlane(self, index))
    }
    guard let first = try plane(0) else { throw .invalidConfiguration("a buffer without planes") }
    return try body(
      SourcePicture(
        format: PictureFormat(rawValue: CVPixelBufferGetPixelFormatType(self)),
        width: CVPixelBufferGetWidth(self), height: CVPixelBufferGetHeight(self),
        plane0: first, plane1: try plane(1), plane2: try plane(2),
        presentationTime: presentationTime, duration: duration))
  }
}
