// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import FFmpegMedia

/// How decoded pictures are to be given out, taken out of the public properties.
struct ImageOutputSettings {
  enum FieldMode { case both, top, bottom, first, blend }

  var fieldMode = FieldMode.both
  /// A smaller size for the output.
  var reducedSize: (width: Int, height: Int)?
  var allowsOtherDimensions = false
  /// The least number of buffers that a pool keeps.
  var minimumBuffers = 0
  var transfer = PixelTransferSettings()
}

/// Makes what the client asked for out of what the decoder gives. What fits is passed on as it is.
/// Used from one thread at a time.
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
  /// The last buffer was the decoder's own.
  private(set) var isDirect = true
  /// The kind of the last buffer, if it was made by a conversion.
  private var lastRequest: PictureRequest?

  init(_ format: StreamFormat, _ attributes: OutputAttributes, _ pools: OutputPools) {
    self.format = format
    self.attributes = attributes
    self.pools = pools
    attachments = ImageAttachments(format)
  }

  func change(to format: StreamFormat) {
    self.format = format
    attachments = ImageAttachments(format)
  }

  /// - Returns: the buffer to give out, and whether the client may write to it.
  func finish(_ picture: DecodedPicture) throws(StatusError) -> (buffer: CVPixelBuffer, isModifiable: Bool) {
    attachments.attach(to: picture)
    let decoded = picture.pixelBuffer
    let source = try separateFields(picture)
    let size = outputSize(decoded)
    let wish = attributes.format(for: CVPixelBufferGetPixelFormatType(decoded))
    if source === decoded, CVPixelBufferGetPixelFormatType(decoded) == wish,
      settings.transfer.isMet(by: decoded),
      CVPixelBufferGetWidth(decoded) == size.width, CVPixelBufferGetHeight(decoded) == size.height
    {
      isDirect = true
      lastRequest = nil
      return (decoded, !picture.isReference)
    }
    isDirect = false
    let request = PictureRequest(
      format: PictureFormat(rawValue: wish), width: size.width, height: size.height)
    lastRequest = request
    guard let target = pools.makePixelBuffer(request) else { throw StatusError(kVTAllocationFailedErr) }
    let transfer = self.transfer ?? PixelTransfer(settings.transfer)
    self.transfer = transfer
    try transfer.transfer(source, to: target)
    return (target, true)
  }

  /// The pool of the last buffer; nil before the first.
  var pool: CVPixelBufferPool? { lastRequest.map(pools.pool) ?? pools.latest }

  /// How many times as wide or high as the stream's pictures those that are given out may be, where only its description says so.
  private static let mostScaled = 4

  func outputSize(_ decoded: CVPixelBuffer?) -> (width: Int, height: Int) {
    var size = (width: format.width, height: format.height)
    if let decoded {
      let picture = (width: CVPixelBufferGetWidth(decoded), height: CVPixelBufferGetHeight(decoded))
      // A description may say anything: it is not to decide how much memory small pictures take.
      if settings.allowsOtherDimensions || size.width <= 0 || size.height <= 0
        || size.width > picture.width * Self.mostScaled || size.height > picture.height * Self.mostScaled
      {
        size = picture
      }
    }
    if let reduced = settings.reducedSize {
      size = (min(reduced.width, size.width), min(reduced.height, size.height))
    }
    return (attributes.width ?? size.width, attributes.height ?? size.height)
  }

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

  private static func markProgressive(_ buffer: CVPixelBuffer) {
    CVBufferSetAttachment(buffer, kCVImageBufferFieldCountKey, NSNumber(value: 1), .shouldPropagate)
    CVBufferRemoveAttachment(buffer, kCVImageBufferFieldDetailKey)
  }

  /// A black picture like those that are given out.
  func blackPicture() throws(StatusError) -> CVPixelBuffer {
    let size = outputSize(nil)
    let request = PictureRequest(
      format: PictureFormat(rawValue: attributes.format(for: format.nativePixelFormat)), width: size.width,
      height: size.height)
    guard size.width > 0, size.height > 0 else { throw StatusError(kVTParameterErr) }
    guard let buffer = pools.makePixelBuffer(request) else { throw StatusError(kVTAllocationFailedErr) }
    var picture = DecodedPicture(pixelBuffer: buffer)
    picture.color.isFullRange = format.samples?.isFullRange ?? false
    attachments.attach(to: picture)
    do { try BlackPicture.fill(buffer, with: PixelConverter()) } catch {
      throw StatusError(kVTPixelTransferNotSupportedErr)
    }
    return buffer
  }
}

extension PixelTransferSettings {
  /// Whether a picture of the right size and format has the colours and the shape already that are asked for.
  func isMet(by buffer: CVPixelBuffer) -> Bool {
    guard !changesShape(of: buffer) else { return false }
    func has(_ key: CFString, _ wish: String?) -> Bool {
      wish == nil || CVBufferCopyAttachment(buffer, key, nil) as? String == wish
    }
    return has(kCVImageBufferColorPrimariesKey, primaries) && has(kCVImageBufferTransferFunctionKey, transfer)
      // RGB has none.
      && (!PixelConverter.isYCbCr(CVPixelBufferGetPixelFormatType(buffer))
        || has(kCVImageBufferYCbCrMatrixKey, matrix))
  }
}
