// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import FFmpegMedia

/// Copies pictures between buffers of different sizes, pixel formats and colours. May be used from
/// any thread.
public final class VTPixelTransferSession: PropertySession, CFRuntimeObject, @unchecked Sendable, Hashable {
  // Sendable: `lock` guards what changes.
  package static let cfTypeID = CFRuntimeRegister("VTPixelTransferSession")

  private let lock = Lock()
  private var store = PropertyStore(PixelTransferProperties.table)
  private var transfer: PixelTransfer?
  private var isInvalid = false

  init() {}

  public static func == (a: VTPixelTransferSession, b: VTPixelTransferSession) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  func transferImage(_ source: CVPixelBuffer, _ target: CVPixelBuffer) -> OSStatus {
    let transfer: PixelTransfer? = lock.withLock {
      if isInvalid { return nil }
      if let transfer = self.transfer { return transfer }
      let made = PixelTransfer(PixelTransferProperties.settings(store))
      self.transfer = made
      return made
    }
    guard let transfer else { return kVTInvalidSessionErr }
    guard source !== target else { return kVTParameterErr }
    do {
      // The attachments are those of an earlier picture in the buffer.
      CVBufferRemoveAllAttachments(target)
      try transfer.transfer(source, to: target)
      return noErr
    } catch {
      return error.status
    }
  }

  func invalidate() {
    lock.withLock {
      isInvalid = true
      transfer = nil
    }
  }

  // MARK: PropertySession

  func setProperty(_ key: String, to value: AnyObject?) -> OSStatus {
    lock.withLock {
      if isInvalid { return kVTInvalidSessionErr }
      transfer = nil
      return store.set(key, to: value, ())
    }
  }

  func copyProperty(_ key: String) -> (status: OSStatus, value: AnyObject?) {
    lock.withLock {
      return isInvalid ? (kVTInvalidSessionErr, nil) : store.copy(key, ())
    }
  }

  func copySupportedProperties() -> (status: OSStatus, properties: [String: [String: Any]]) {
    lock.withLock { isInvalid ? (kVTInvalidSessionErr, [:]) : (noErr, store.supported(())) }
  }

  func copySerializableProperties() -> (status: OSStatus, properties: [String: Any]) {
    lock.withLock { isInvalid ? (kVTInvalidSessionErr, [:]) : (noErr, store.serializable(())) }
  }

  var propertyOrder: [String] { PixelTransferProperties.table.map(\.key) }
}

/// The properties of a pixel transfer.
enum PixelTransferProperties {
  typealias Row = SessionProperty<Void>

  static let table: [Row] = [
    Row(
      kVTPixelTransferPropertyKey_ScalingMode,
      .enumeration([
        kVTScalingMode_Normal as String, kVTScalingMode_CropSourceToCleanAperture as String,
        kVTScalingMode_Letterbox as String, kVTScalingMode_Trim as String,
      ]), "How the source is fitted into the destination. Default: Normal, which stretches it."
    ).with { $0.defaultValue = .text(kVTScalingMode_Normal as String) },
    Row(
      kVTPixelTransferPropertyKey_DestinationCleanAperture,
      .dictionary(
        required: [
          kCVImageBufferCleanApertureWidthKey as String, kCVImageBufferCleanApertureHeightKey as String,
          kCVImageBufferCleanApertureHorizontalOffsetKey as String,
          kCVImageBufferCleanApertureVerticalOffsetKey as String,
        ], optional: []), "The clean aperture of the destination, which is the part to display."),
    Row(
      kVTPixelTransferPropertyKey_DestinationPixelAspectRatio,
      .dictionary(
        required: [
          kCVImageBufferPixelAspectRatioHorizontalSpacingKey as String,
          kCVImageBufferPixelAspectRatioVerticalSpacingKey as String,
        ], optional: []), "The sample aspect ratio of the destination."),
    Row(
      kVTPixelTransferPropertyKey_DownsamplingMode,
      .enumeration([kVTDownsamplingMode_Decimate as String, kVTDownsamplingMode_Average as String]),
      """
      How chroma is subsampled in a picture that keeps its size; Average is also used to reduce \
      the size. A cubic filter is used if not set.
      """),
    Row(
      kVTPixelTransferPropertyKey_DestinationColorPrimaries, .enumeration(primaries),
      "The colour primaries of the destination."),
    Row(
      kVTPixelTransferPropertyKey_DestinationTransferFunction, .enumeration(transferFunctions),
      "The transfer function of the destination."),
    Row(
      kVTPixelTransferPropertyKey_DestinationYCbCrMatrix, .enumeration(matrices),
      "The matrix of a YCbCr destination."),
    Row(kVTPixelTransferPropertyKey_RealTime, .boolean, "True prefers speed to quality. Default: false.").with
    {
      $0.defaultValue = .boolean(false)
    },
  ]

  static let primaries = [
    kCVImageBufferColorPrimaries_ITU_R_709_2, kCVImageBufferColorPrimaries_EBU_3213,
    kCVImageBufferColorPrimaries_SMPTE_C, kCVImageBufferColorPrimaries_P22,
    kCVImageBufferColorPrimaries_DCI_P3,
    kCVImageBufferColorPrimaries_P3_D65, kCVImageBufferColorPrimaries_ITU_R_2020,
  ].map { $0 as String }

  static let transferFunctions = [
    kCVImageBufferTransferFunction_ITU_R_709_2, kCVImageBufferTransferFunction_SMPTE_240M_1995,
    kCVImageBufferTransferFunction_sRGB, kCVImageBufferTransferFunction_ITU_R_2020,
    kCVImageBufferTransferFunction_SMPTE_ST_428_1, kCVImageBufferTransferFunction_SMPTE_ST_2084_PQ,
    kCVImageBufferTransferFunction_ITU_R_2100_HLG, kCVImageBufferTransferFunction_Linear,
  ].map { $0 as String }

  static let matrices = [
    kCVImageBufferYCbCrMatrix_ITU_R_709_2, kCVImageBufferYCbCrMatrix_ITU_R_601_4,
    kCVImageBufferYCbCrMatrix_SMPTE_240M_1995, kCVImageBufferYCbCrMatrix_ITU_R_2020,
  ].map { $0 as String }

  static func settings(_ store: PropertyStore<Void>) -> PixelTransferSettings {
    var settings = PixelTransferSettings()
    settings.scalingMode = store[kVTPixelTransferPropertyKey_ScalingMode]?.text ?? settings.scalingMode
    settings.cleanAperture = store[kVTPixelTransferPropertyKey_DestinationCleanAperture]?.dictionary
    settings.pixelAspect = store[kVTPixelTransferPropertyKey_DestinationPixelAspectRatio]?.dictionary
    settings.primaries = store[kVTPixelTransferPropertyKey_DestinationColorPrimaries]?.text
    settings.transfer = store[kVTPixelTransferPropertyKey_DestinationTransferFunction]?.text
    settings.matrix = store[kVTPixelTransferPropertyKey_DestinationYCbCrMatrix]?.text
    if store[kVTPixelTransferPropertyKey_RealTime]?.boolean == true { settings.filter = .fastBilinear }
    if let mode = store[kVTPixelTransferPropertyKey_DownsamplingMode]?.text {
      settings.chromaFilter = mode == kVTDownsamplingMode_Decimate as String ? .nearest : .area
    }
    return settings
  }

  /// Parses a dictionary of properties, the value of
  /// `kVTDecompressionPropertyKey_PixelTransferProperties`; nil if one of them is invalid.
  static func settings(_ properties: NSDictionary) -> PixelTransferSettings? {
    values(properties).map { settings($0) }
  }

  static func settings(_ values: [String: PropertyValue]) -> PixelTransferSettings {
    var store = PropertyStore(table)
    for (key, value) in values { _ = store.set(key, to: value.object, ()) }
    return settings(store)
  }

  /// The values in a dictionary of properties; nil if one of them is invalid.
  static func values(_ properties: NSDictionary) -> [String: PropertyValue]? {
    var values: [String: PropertyValue] = [:]
    for (key, value) in properties {
      guard let key = key as? String, let row = table.first(where: { $0.key == key }),
        let parsed = row.type.parse(value as AnyObject)
      else { return nil }
      values[key] = parsed
    }
    return values
  }
}

// MARK: - Functions

/// Creates a pixel transfer session.
@discardableResult
public func VTPixelTransferSessionCreate(
  allocator: CFAllocator?, pixelTransferSessionOut: UnsafeMutablePointer<VTPixelTransferSession?>
) -> OSStatus {
  pixelTransferSessionOut.pointee = VTPixelTransferSession()
  return noErr
}

/// Ends a session: every further call gives `kVTInvalidSessionErr`.
public func VTPixelTransferSessionInvalidate(_ session: VTPixelTransferSession) { session.invalidate() }

/// The type identifier of pixel transfer sessions.
@discardableResult
public func VTPixelTransferSessionGetTypeID() -> CFTypeID { VTPixelTransferSession.cfTypeID }

/// Copies the picture in one buffer to another, in the other's size and pixel format.
///
/// The destination's attachments become the source's, changed by what the transfer does.
/// - Returns: `kVTPixelTransferNotSupportedErr` if there is no conversion between the two.
@discardableResult
public func VTPixelTransferSessionTransferImage(
  _ session: VTPixelTransferSession, from sourceBuffer: CVPixelBuffer, to destinationBuffer: CVPixelBuffer
) -> OSStatus {
  session.transferImage(sourceBuffer, destinationBuffer)
}
