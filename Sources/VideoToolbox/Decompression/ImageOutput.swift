// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import FFmpegMedia

/// Settings of the images that a decompression session outputs, parsed from the session's
/// properties.
struct ImageOutputSettings {
  /// The output for an interlaced picture: both fields as they are, one of them scaled to the
  /// full height (`first` is the one that is shown first), or a progressive frame made of both.
  enum FieldMode { case both, top, bottom, first, blend }

  var fieldMode = FieldMode.both
  /// The largest size of an image, in pixels; nil for no limit
  /// (`kVTDecompressionPropertyKey_ReducedResolutionDecode`).
  var reducedSize: (width: Int, height: Int)?
  /// Whether images have the dimensions of the decoded pictures rather than those of the format
  /// description.
  var allowsOtherDimensions = false
  /// The least number of buffers that a pool keeps.
  var minimumBuffers = 0
  var transfer = PixelTransferSettings()
}

/// Converts decoded pictures to the images that the client asked for. A picture that needs no
/// conversion is passed on without a copy. Used on one thread at a time.
final class ImageOutput {
  let attributes: OutputAttributes
  let pools: OutputPools
  var settings = ImageOutputSettings() {
    didSet {
      if settings.transfer != oldValue.transfer { transfer = nil }
      pools.minimumCount = settings.minimumBuffers
    }
  }
  private var transfer: PixelTransfer?
  private var attachments: ImageAttachments
  private(set) var format: StreamFormat
  /// Whether the last image was the decoder's buffer, without a conversion.
  private(set) var isDirect = true
  /// The size and the pixel format of the last image, if it was made by a conversion; nil
  /// otherwise.
  private var lastRequest: PictureRequest?

  init(_ format: StreamFormat, _ attributes: OutputAttributes, _ pools: OutputPools) {
    self.format = format
    self.attributes = attributes
    self.pools = pools
    attachments = ImageAttachments(format)
  }

  /// Changes the format of the pictures that follow.
  func change(to format: StreamFormat) {
    self.format = format
    attachments = ImageAttachments(format)
  }

  /// Makes the image of a decoded picture.
  /// - Parameter picture: The picture. Its buffer gets the attachments of the stream.
  /// - Returns: The image, and whether the client may write to it.
  /// - Throws: `kVTAllocationFailedErr`, `kVTPixelTransferNotSupportedErr`.
  func finish(_ picture: DecodedPicture) throws(StatusError) -> (buffer: CVPixelBuffer, isModifiable: Bool) {
    attachments.attach(to: picture)
    let decoded = picture.pixelBuffer
    let source = try separateFields(picture)
    let size = outputSize(decoded)
    let requested = attributes.format(for: CVPixelBufferGetPixelFormatType(decoded))
    if source === decoded, CVPixelBufferGetPixelFormatType(decoded) == requested,
      settings.transfer.isMet(by: decoded),
      CVPixelBufferGetWidth(decoded) == size.width, CVPixelBufferGetHeight(decoded) == size.height
    {
      isDirect = true
      lastRequest = nil
      return (decoded, !picture.isReference)
    }
    isDirect = false
    let request = PictureRequest(
      format: PictureFormat(rawValue: requested), width: size.width, height: size.height)
    lastRequest = request
    guard let target = pools.makePixelBuffer(request) else { throw StatusError(kVTAllocationFailedErr) }
    let transfer = self.transfer ?? PixelTransfer(settings.transfer)
    self.transfer = transfer
    try transfer.transfer(source, to: target)
    return (target, true)
  }

  /// The pool of the last image; nil before the first.
  var pool: CVPixelBufferPool? { lastRequest.map(pools.pool) ?? pools.latest }

  /// The largest factor in width or height by which images are scaled up to a size that only the
  /// format description states.
  private static let maxScaled = 4

  /// The size of the images, in pixels.
  /// - Parameter decoded: A decoded picture; nil for the size that the format description and the
  ///   settings alone give.
  func outputSize(_ decoded: CVPixelBuffer?) -> (width: Int, height: Int) {
    var size = (width: format.width, height: format.height)
    if let decoded {
      let picture = (width: CVPixelBufferGetWidth(decoded), height: CVPixelBufferGetHeight(decoded))
      // The format description is not to be trusted: it must not make small pictures take a lot of
      // memory.
      if settings.allowsOtherDimensions || size.width <= 0 || size.height <= 0
        || size.width > picture.width * Self.maxScaled || size.height > picture.height * Self.maxScaled
      {
        size = picture
      }
    }
    if let reduced = settings.reducedSize {
      size = (min(reduced.width, size.width), min(reduced.height, size.height))
    }
    return (attributes.width ?? size.width, attributes.height ?? size.height)
  }

  /// Applies the field mode to an interlaced picture; other pictures are returned as they are.
  private func separateFields(_ picture: DecodedPicture) throws(StatusError) -> CVPixelBuffer {
    let buffer = picture.pixelBuffer
    guard picture.isInterlaced || (picture.hasUnknownFields && format.fieldCount == 2),
      settings.fieldMode != .both
    else { return buffer }
    var field = FieldFilter.Field.top
    switch settings.fieldMode {
    case .both, .top: break
    case .bottom: field = .bottom
    case .first: field = picture.isTopFieldFirst ? .top : .bottom
    case .blend:
      let request = PictureRequest(
        format: PictureFormat(rawValue: CVPixelBufferGetPixelFormatType(buffer)),
        width: CVPixelBufferGetWidth(buffer),
        height: CVPixelBufferGetHeight(buffer))
      guard let blended = pools.makePixelBuffer(request) else { throw StatusError(kVTAllocationFailedErr) }
      CVBufferPropagateAttachments(buffer, blended)
      guard FieldFilter.blend(buffer, to: blended) else { throw StatusError(kVTPixelTransferNotSupportedErr) }
      Self.markProgressive(blended)
      return blended
    }
    guard let half = FieldFilter.field(field, of: buffer) else {
      throw StatusError(kVTPixelTransferNotSupportedErr)
    }
    Self.markProgressive(half)
    return half
  }

  /// Removes the attachments of interlaced pictures from a picture.
  private static func markProgressive(_ buffer: CVPixelBuffer) {
    CVBufferSetAttachment(buffer, kCVImageBufferFieldCountKey, NSNumber(value: 1), .shouldPropagate)
    CVBufferRemoveAttachment(buffer, kCVImageBufferFieldDetailKey)
  }

  /// Makes a black image with the size, the pixel format and the attachments of the session's
  /// images.
  /// - Throws: `kVTParameterErr` if the size is unknown, `kVTAllocationFailedErr`,
  ///   `kVTPixelTransferNotSupportedErr`.
  func blackPicture() throws(StatusError) -> CVPixelBuffer {
    let size = outputSize(nil)
    let request = PictureRequest(
      format: PictureFormat(rawValue: attributes.format(for: format.nativePixelFormat)), width: size.width,
      height: size.height)
    guard size.width > 0, size.height > 0 else { throw StatusError(kVTParameterErr) }
    guard let buffer = pools.makePixelBuffer(request) else { throw StatusError(kVTAllocationFailedErr) }
    var picture = DecodedPicture(pixelBuffer: buffer)
    picture.isFullRange = format.samples?.isFullRange ?? false
    attachments.attach(to: picture)
    do { try BlackPicture.fill(buffer, with: PixelConverter()) } catch {
      throw StatusError(kVTPixelTransferNotSupportedErr)
    }
    return buffer
  }
}

extension PixelTransferSettings {
  /// Whether a picture that already has the right size and pixel format also has the colours and
  /// the shape of these settings.
  func isMet(by buffer: CVPixelBuffer) -> Bool {
    guard !changesShape(of: buffer) else { return false }
    func has(_ key: CFString, _ requested: String?) -> Bool {
      requested == nil || CVBufferCopyAttachment(buffer, key, nil) as? String == requested
    }
    return has(kCVImageBufferColorPrimariesKey, primaries) && has(kCVImageBufferTransferFunctionKey, transfer)
      // RGB has no matrix.
      && (!PixelConverter.isYCbCr(CVPixelBufferGetPixelFormatType(buffer))
        || has(kCVImageBufferYCbCrMatrixKey, matrix))
  }
}
