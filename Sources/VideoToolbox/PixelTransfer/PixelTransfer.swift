// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import FFmpegMedia

/// Settings of a pixel transfer, parsed from the properties.
struct PixelTransferSettings: Sendable, Equatable {
  var scalingMode = kVTScalingMode_Normal as String
  /// The clean aperture of the destination, as in `kCVImageBufferCleanApertureKey`; nil for the
  /// whole picture.
  var cleanAperture: [String: Double]?
  /// The pixel aspect ratio of the destination, as in `kCVImageBufferPixelAspectRatioKey`; nil for
  /// the source's where the picture's shape is kept, and square pixels otherwise.
  var pixelAspect: [String: Double]?
  var filter = ScalingFilter.bicubic
  /// The filter where only chroma is subsampled; nil for `filter`.
  var chromaFilter: ScalingFilter?
  /// The colours to convert to, as values of the colour attachments; nil keeps a picture's own.
  var primaries: String?
  var transfer: String?
  var matrix: String?
}

/// Copies pictures between pixel buffers and converts them on the way, for pixel transfer sessions,
/// and for decompression sessions whose decoder does not output what the client asked for.
final class PixelTransfer: @unchecked Sendable {
  // Sendable: `lock` guards `deepBuffers`.
  let settings: PixelTransferSettings
  private let converter: PixelConverter
  /// The converter with the settings' `chromaFilter`; see `usesChromaFilter`.
  private let chromaConverter: PixelConverter
  private let lock = Lock()
  /// A buffer of 16 bits per component that the last conversion of colours has used, for the next
  /// one; at most one.
  private var deepBuffers: [CVPixelBuffer] = []

  init(_ settings: PixelTransferSettings) {
    self.settings = settings
    converter = PixelConverter(filter: settings.filter)
    chromaConverter = settings.chromaFilter.map { PixelConverter(filter: $0) } ?? converter
  }

  /// Copies a picture, with its attachments.
  /// - Parameters:
  ///   - source: The picture to copy.
  ///   - target: The destination.
  /// - Throws: `kVTPixelTransferNotSupportedErr` if there is no conversion, `kVTParameterErr` for
  ///   an invalid rectangle.
  func transfer(_ source: CVPixelBuffer, to target: CVPixelBuffer) throws(StatusError) {
    let shape = TransferredShape(settings, source, target)
    let geometry = PictureAspect(source).fit(
      into: PictureAspect(target, aperture: shape.fittedAperture, aspect: shape.pixelAspect),
      mode: settings.scalingMode)
    let color = try colors(source, target)
    setAttachments(source, target)
    shape.attach(to: target)
    let converter = usesChromaFilter(source, target, geometry) ? chromaConverter : converter
    do {
      if color.isIdentity {
        try converter.convert(source, sourceRect: geometry.source, to: target, targetRect: geometry.target)
      } else {
        let scaler = isSameSize(source, target, geometry) ? self.converter : converter
        try convertColors(source, target, geometry, color, scaler, converter)
      }
      if settings.scalingMode == kVTScalingMode_Letterbox as String, let rect = geometry.target {
        try BlackPicture.fill(target, around: rect, with: converter)
      }
    } catch {
      throw StatusError(error == .invalidRectangle ? kVTParameterErr : kVTPixelTransferNotSupportedErr)
    }
  }

  /// Whether a transfer uses the chroma filter: where the picture keeps its size and only chroma is
  /// subsampled, and, if the filter is a mean, where the picture is scaled down, because programs
  /// expect a mean there too.
  private func usesChromaFilter(
    _ source: CVPixelBuffer, _ target: CVPixelBuffer, _ geometry: TransferGeometry
  ) -> Bool {
    if isSameSize(source, target, geometry) {
      return PixelConverter.reducesChroma(
        CVPixelBufferGetPixelFormatType(source), CVPixelBufferGetPixelFormatType(target))
    }
    let (before, after) = (size(geometry.source, source), size(geometry.target, target))
    return settings.chromaFilter == .area && after.width <= before.width && after.height <= before.height
  }

  private func isSameSize(
    _ source: CVPixelBuffer, _ target: CVPixelBuffer, _ geometry: TransferGeometry
  ) -> Bool {
    size(geometry.source, source) == size(geometry.target, target)
  }

  private func size(_ rect: PixelRect?, _ buffer: CVPixelBuffer) -> (width: Int, height: Int) {
    (rect?.width ?? CVPixelBufferGetWidth(buffer), rect?.height ?? CVPixelBufferGetHeight(buffer))
  }

  private func colors(_ source: CVPixelBuffer, _ target: CVPixelBuffer) throws(StatusError) -> ColorTransform
  {
    func code(_ key: CFString, _ number: (CFString?) -> Int32) -> UInt8 {
      UInt8(clamping: number(CVBufferCopyAttachment(source, key, nil) as? CFString))
    }
    guard settings.primaries != nil || settings.transfer != nil else {
      // No conversion is asked for: the colours stay, even where they are unknown.
      return ColorTransform(sourcePrimaries: 1, sourceTransfer: 1, targetPrimaries: 1, targetTransfer: 1)
    }
    // Colour properties that a buffer does not declare are taken to be those that the session asks
    // for, or that of BT.709, so that pictures without attachments are not refused. Samples that
    // say nothing are not taken for ones of a high dynamic range.
    func codes(
      _ key: CFString, _ wanted: String?, _ number: (CFString?) -> Int32
    ) -> (source: UInt8, target: UInt8) {
      let unknown: UInt8 = 2
      let signalled = code(key, number)
      let target =
        wanted.map { UInt8(clamping: number($0 as CFString)) } ?? (signalled == unknown ? 1 : signalled)
      // PQ and HLG are transfer functions alone: no primaries have these numbers.
      let defaultCode: UInt8 = target == 16 || target == 18 ? 1 : target
      return (signalled == unknown ? defaultCode : signalled, target)
    }
    let primaries = codes(
      kCVImageBufferColorPrimariesKey, settings.primaries, CVColorPrimariesGetIntegerCodePointForString)
    let transfer = codes(
      kCVImageBufferTransferFunctionKey, settings.transfer, CVTransferFunctionGetIntegerCodePointForString)
    let transform = ColorTransform(
      sourcePrimaries: primaries.source, sourceTransfer: transfer.source,
      targetPrimaries: primaries.target, targetTransfer: transfer.target)
    guard transform.isSupported else { throw StatusError(kVTPixelTransferNotSupportedErr) }
    return transform
  }

  private func convertColors(
    _ source: CVPixelBuffer, _ target: CVPixelBuffer, _ geometry: TransferGeometry, _ color: ColorTransform,
    _ scaler: PixelConverter, _ last: PixelConverter
  ) throws(PixelConversionError) {
    let width = geometry.target?.width ?? CVPixelBufferGetWidth(target)
    let height = geometry.target?.height ?? CVPixelBufferGetHeight(target)
    guard let deep = takeDeepBuffer(width, height) else { throw .failed }
    defer { lock.withLock { deepBuffers = [deep] } }
    // Conversions between YCbCr and RGB use the matrix of the YCbCr side.
    try scaler.convert(source, sourceRect: geometry.source, to: deep)
    guard color.apply(to: deep) else { throw .failed }
    try last.convert(deep, to: target, targetRect: geometry.target)
  }

  private func takeDeepBuffer(_ width: Int, _ height: Int) -> CVPixelBuffer? {
    let spare = lock.withLock { deepBuffers.popLast() }
    if let spare, CVPixelBufferGetWidth(spare) == width, CVPixelBufferGetHeight(spare) == height {
      return spare
    }
    var made: CVPixelBuffer?
    guard CVPixelBufferCreate(nil, width, height, kCVPixelFormatType_64RGBALE, nil, &made) == kCVReturnSuccess
    else { return nil }
    return made
  }

  // MARK: Attachments

  /// Copies the source's attachments to the destination and adapts them to the transfer.
  private func setAttachments(_ source: CVPixelBuffer, _ target: CVPixelBuffer) {
    let ownMatrix = CVBufferCopyAttachment(target, kCVImageBufferYCbCrMatrixKey, nil)
    CVBufferPropagateAttachments(source, target)
    PixelConverter.correctAlphaMode(of: target, after: source)
    let isYCbCr = PixelConverter.isYCbCr(CVPixelBufferGetPixelFormatType(target))
    if isYCbCr {
      // Where neither the settings nor the buffers name a matrix, the one that a decoder would
      // assume for a picture of this height is used.
      let matrix: AnyObject? =
        settings.matrix.map { $0 as NSString } ?? ownMatrix
        ?? CVBufferCopyAttachment(source, kCVImageBufferYCbCrMatrixKey, nil)
        ?? (CVPixelBufferGetHeight(target) >= 720
          ? kCVImageBufferYCbCrMatrix_ITU_R_709_2 : kCVImageBufferYCbCrMatrix_ITU_R_601_4)
      if let matrix, isKnown(source) || settings.matrix != nil || ownMatrix != nil {
        CVBufferSetAttachment(target, kCVImageBufferYCbCrMatrixKey, matrix, .shouldPropagate)
      }
    } else {
      CVBufferRemoveAttachment(target, kCVImageBufferYCbCrMatrixKey)
      for key in [kCVImageBufferChromaLocationTopFieldKey, kCVImageBufferChromaLocationBottomFieldKey] {
        CVBufferRemoveAttachment(target, key)
      }
    }
    if let primaries = settings.primaries {
      CVBufferSetAttachment(target, kCVImageBufferColorPrimariesKey, primaries as CFString, .shouldPropagate)
    }
    if let transfer = settings.transfer {
      CVBufferSetAttachment(target, kCVImageBufferTransferFunctionKey, transfer as CFString, .shouldPropagate)
      let own = CVBufferCopyAttachment(source, kCVImageBufferTransferFunctionKey, nil) as? NSString
      if own != transfer as NSString {
        // The HDR metadata applied to the source's transfer function.
        for key in [
          kCVImageBufferMasteringDisplayColorVolumeKey, kCVImageBufferContentLightLevelInfoKey,
          kCVImageBufferAmbientViewingEnvironmentKey,
        ] {
          CVBufferRemoveAttachment(target, key)
        }
      }
    }
  }

  /// Whether the source's matrix is known, or the source is RGB.
  private func isKnown(_ source: CVPixelBuffer) -> Bool {
    CVBufferHasAttachment(source, kCVImageBufferYCbCrMatrixKey)
      || !PixelConverter.isYCbCr(CVPixelBufferGetPixelFormatType(source))
  }
}
