// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import FFmpegMedia

/// What a pixel transfer is to do, taken out of the public properties.
struct PixelTransferSettings: Sendable, Equatable {
  var scalingMode = kVTScalingMode_Normal as String
  /// As in `kCVImageBufferCleanApertureKey`.
  var cleanAperture: [String: Double]?
  /// As in `kCVImageBufferPixelAspectRatioKey`.
  var pixelAspect: [String: Double]?
  var filter = ScalingFilter.bicubic
  /// For chroma that gets fewer samples; nil: `filter`.
  var chromaFilter: ScalingFilter?
  /// The values of the colour attachments to convert to; nil leaves a colour as it is.
  var primaries: String?
  var transfer: String?
  var matrix: String?
}

/// Copies pictures from buffer to buffer as settings say: the work behind pixel transfer sessions, and behind
/// decompression sessions whose decoder does not give what the client asked for.
final class PixelTransfer: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  let settings: PixelTransferSettings
  private let converter: PixelConverter
  /// See `usesChromaFilter`.
  private let chromaConverter: PixelConverter
  private let lock = Lock()
  /// For colours on their way through linear light.
  private var deepBuffers: [CVPixelBuffer] = []

  init(_ settings: PixelTransferSettings) {
    self.settings = settings
    converter = PixelConverter(filter: settings.filter)
    chromaConverter = settings.chromaFilter.map { PixelConverter(filter: $0) } ?? converter
  }

  /// - Parameter sets: whether the destination gets the attachments that its picture now has.
  func transfer(_ source: CVPixelBuffer, to target: CVPixelBuffer) throws(StatusError) {
    let geometry = PictureShape(source).fit(
      into: PictureShape(
        target, aperture: settings.cleanAperture.map { NSDictionary(dictionary: $0) },
        aspect: settings.pixelAspect.map { NSDictionary(dictionary: $0) }), mode: settings.scalingMode)
    let color = try colors(source, target)
    setAttachments(source, target)
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

  /// Where the picture keeps its size, the filter is chroma's alone. A mean is also what programs expect of one that gets
  /// smaller.
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
    let primaries = code(kCVImageBufferColorPrimariesKey, CVColorPrimariesGetIntegerCodePointForString)
    let transfer = code(kCVImageBufferTransferFunctionKey, CVTransferFunctionGetIntegerCodePointForString)
    let transform = ColorTransform(
      sourcePrimaries: primaries, sourceTransfer: transfer,
      targetPrimaries: settings.primaries.map {
        UInt8(clamping: CVColorPrimariesGetIntegerCodePointForString($0 as CFString))
      } ?? primaries,
      targetTransfer: settings.transfer.map {
        UInt8(clamping: CVTransferFunctionGetIntegerCodePointForString($0 as CFString))
      } ?? transfer)
    guard settings.primaries != nil || settings.transfer != nil else {
      // Nothing was asked for: whatever the colours are, they stay.
      return ColorTransform(sourcePrimaries: 1, sourceTransfer: 1, targetPrimaries: 1, targetTransfer: 1)
    }
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
    // RGB takes its matrix from the other side.
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

  /// The destination shows the source's picture: it gets the source's attachments, changed by what the transfer does.
  private func setAttachments(_ source: CVPixelBuffer, _ target: CVPixelBuffer) {
    let ownMatrix = CVBufferCopyAttachment(target, kCVImageBufferYCbCrMatrixKey, nil)
    CVBufferPropagateAttachments(source, target)
    PixelConverter.settleAlphaMode(of: target, after: source)
    let isYCbCr = PixelConverter.isYCbCr(CVPixelBufferGetPixelFormatType(target))
    if isYCbCr {
      // Without a source of its own, YCbCr that was made from RGB is what a decoder would take it for.
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
        // They were true of the brightness that the picture had.
        for key in [
          kCVImageBufferMasteringDisplayColorVolumeKey, kCVImageBufferContentLightLevelInfoKey,
          kCVImageBufferAmbientViewingEnvironmentKey,
        ] {
          CVBufferRemoveAttachment(target, key)
        }
      }
    }
    setShape(source, target)
  }

  /// A source whose matrix is known, or that has none.
  private func isKnown(_ source: CVPixelBuffer) -> Bool {
    CVBufferHasAttachment(source, kCVImageBufferYCbCrMatrixKey)
      || !PixelConverter.isYCbCr(CVPixelBufferGetPixelFormatType(source))
  }

  private func setShape(_ source: CVPixelBuffer, _ target: CVPixelBuffer) {
    let isSameSize =
      CVPixelBufferGetWidth(source) == CVPixelBufferGetWidth(target)
      && CVPixelBufferGetHeight(source) == CVPixelBufferGetHeight(target)
    let keepsShape = isSameSize && settings.scalingMode == kVTScalingMode_Normal as String
    for (key, wish) in [
      (kCVImageBufferCleanApertureKey, settings.cleanAperture),
      (kCVImageBufferPixelAspectRatioKey, settings.pixelAspect),
    ] {
      if let wish {
        CVBufferSetAttachment(target, key, NSDictionary(dictionary: wish), .shouldPropagate)
      } else if !keepsShape {
        // It was true of the source's pixels.
        CVBufferRemoveAttachment(target, key)
      }
    }
  }
}
