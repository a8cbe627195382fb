// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import FFmpegMedia

/// Turns and mirrors pictures. May be used from any thread.
public final class VTPixelRotationSession: PropertySession, CFRuntimeObject, @unchecked Sendable, Hashable {
  // Sendable: `lock` guards `store` and `isInvalid`.
  package static let cfTypeID = CFRuntimeRegister("VTPixelRotationSession")

  private let lock = Lock()
  private var store = PropertyStore(VTPixelRotationSession.table)
  private var isInvalid = false
  private let converter = PixelConverter()

  init() {}

  public static func == (a: VTPixelRotationSession, b: VTPixelRotationSession) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  private static let table: [SessionProperty<Void>] = [
    SessionProperty(
      kVTPixelRotationPropertyKey_Rotation,
      .enumeration(
        [kVTRotation_0, kVTRotation_CW90, kVTRotation_180, kVTRotation_CCW90].map { $0 as String }),
      "The rotation. Default: none."
    ).with { $0.defaultValue = .text(kVTRotation_0 as String) },
    SessionProperty(
      kVTPixelRotationPropertyKey_FlipHorizontalOrientation, .boolean,
      "Whether left and right are exchanged. Default: false."
    ).with { $0.defaultValue = .boolean(false) },
    SessionProperty(
      kVTPixelRotationPropertyKey_FlipVerticalOrientation, .boolean,
      "Whether top and bottom are exchanged. Default: false."
    ).with { $0.defaultValue = .boolean(false) },
  ]

  func rotateImage(_ source: CVPixelBuffer, _ target: CVPixelBuffer) -> OSStatus {
    let rotation: PixelRotation? = lock.withLock { isInvalid ? nil : currentRotation() }
    guard let rotation else { return kVTInvalidSessionErr }
    guard source !== target else { return kVTParameterErr }
    let sides = (CVPixelBufferGetWidth(source), CVPixelBufferGetHeight(source))
    let rotated = rotation.swapsSides ? (sides.1, sides.0) : sides
    guard rotated == (CVPixelBufferGetWidth(target), CVPixelBufferGetHeight(target)) else {
      return kVTParameterErr
    }
    let format = CVPixelBufferGetPixelFormatType(target)
    guard let working = PixelRotation.workingFormat(format) else { return kVTImageRotationNotSupportedErr }
    do throws(StatusError) {
      let input = try convert(source, to: working)
      CVBufferPropagateAttachments(source, target)
      PixelConverter.correctAlphaMode(of: target, after: source)
      rotateGeometry(target, rotation)
      if working == format {
        return rotation.rotate(input, to: target) ? noErr : kVTImageRotationNotSupportedErr
      }
      let middle = try makePixelBuffer(rotated.0, rotated.1, working)
      CVBufferPropagateAttachments(input, middle)
      guard rotation.rotate(input, to: middle) else { return kVTImageRotationNotSupportedErr }
      do { try converter.convert(middle, to: target) } catch { return kVTImageRotationNotSupportedErr }
      return noErr
    } catch {
      return error.status
    }
  }

  private func currentRotation() -> PixelRotation {
    let angle: PixelRotation.Angle =
      switch store[kVTPixelRotationPropertyKey_Rotation]?.text as NSString? {
      case kVTRotation_CW90: .clockwise90
      case kVTRotation_180: .half
      case kVTRotation_CCW90: .counterclockwise90
      default: .none
      }
    return PixelRotation(
      angle: angle,
      flipsHorizontally: store[kVTPixelRotationPropertyKey_FlipHorizontalOrientation]?.boolean ?? false,
      flipsVertically: store[kVTPixelRotationPropertyKey_FlipVerticalOrientation]?.boolean ?? false)
  }

  private func convert(_ source: CVPixelBuffer, to format: OSType) throws(StatusError) -> CVPixelBuffer {
    if CVPixelBufferGetPixelFormatType(source) == format { return source }
    let made = try makePixelBuffer(CVPixelBufferGetWidth(source), CVPixelBufferGetHeight(source), format)
    CVBufferPropagateAttachments(source, made)
    do { try converter.convert(source, to: made) } catch {
      throw StatusError(kVTImageRotationNotSupportedErr)
    }
    return made
  }

  /// Rotates the pixel aspect ratio and the clean aperture among the destination's attachments.
  private func rotateGeometry(_ target: CVPixelBuffer, _ rotation: PixelRotation) {
    func number(_ dictionary: NSDictionary, _ key: CFString) -> Double {
      (dictionary[key] as? NSNumber)?.doubleValue ?? 0
    }
    if rotation.swapsSides,
      let aspect = CVBufferCopyAttachment(target, kCVImageBufferPixelAspectRatioKey, nil) as? NSDictionary
    {
      let rotated: NSDictionary = [
        kCVImageBufferPixelAspectRatioHorizontalSpacingKey: NSNumber(
          value: number(aspect, kCVImageBufferPixelAspectRatioVerticalSpacingKey)),
        kCVImageBufferPixelAspectRatioVerticalSpacingKey: NSNumber(
          value: number(aspect, kCVImageBufferPixelAspectRatioHorizontalSpacingKey)),
      ]
      CVBufferSetAttachment(target, kCVImageBufferPixelAspectRatioKey, rotated, .shouldPropagate)
    }
    guard let aperture = CVBufferCopyAttachment(target, kCVImageBufferCleanApertureKey, nil) as? NSDictionary
    else {
      return
    }
    var width = number(aperture, kCVImageBufferCleanApertureWidthKey)
    var height = number(aperture, kCVImageBufferCleanApertureHeightKey)
    var x = number(aperture, kCVImageBufferCleanApertureHorizontalOffsetKey)
    var y = number(aperture, kCVImageBufferCleanApertureVerticalOffsetKey)
    switch rotation.angle {
    case .none: break
    case .clockwise90: (width, height, x, y) = (height, width, -y, x)
    case .half: (x, y) = (-x, -y)
    case .counterclockwise90: (width, height, x, y) = (height, width, y, -x)
    }
    if rotation.flipsHorizontally { x = -x }
    if rotation.flipsVertically { y = -y }
    let rotated: NSDictionary = [
      kCVImageBufferCleanApertureWidthKey: NSNumber(value: width),
      kCVImageBufferCleanApertureHeightKey: NSNumber(value: height),
      kCVImageBufferCleanApertureHorizontalOffsetKey: NSNumber(value: x),
      kCVImageBufferCleanApertureVerticalOffsetKey: NSNumber(value: y),
    ]
    CVBufferSetAttachment(target, kCVImageBufferCleanApertureKey, rotated, .shouldPropagate)
  }

  func invalidate() { lock.withLock { isInvalid = true } }

  // MARK: PropertySession

  func setProperty(_ key: String, to value: AnyObject?) -> OSStatus {
    lock.withLock { isInvalid ? kVTInvalidSessionErr : store.set(key, to: value, ()) }
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

  var propertyOrder: [String] { Self.table.map(\.key) }
}

// MARK: - Functions

/// Creates a pixel rotation session.
@discardableResult
public func VTPixelRotationSessionCreate(
  _ allocator: CFAllocator?, _ pixelRotationSessionOut: UnsafeMutablePointer<VTPixelRotationSession?>
) -> OSStatus {
  pixelRotationSessionOut.pointee = VTPixelRotationSession()
  return noErr
}

/// Ends a session: every further call gives `kVTInvalidSessionErr`.
public func VTPixelRotationSessionInvalidate(_ session: VTPixelRotationSession) { session.invalidate() }

/// The type identifier of pixel rotation sessions.
@discardableResult
public func VTPixelRotationSessionGetTypeID() -> CFTypeID { VTPixelRotationSession.cfTypeID }

/// Turns the picture in one buffer into another, as the session's properties say.
/// - Returns: `kVTParameterErr` if the destination does not have the turned picture's sides,
///   `kVTImageRotationNotSupportedErr` if pictures of its pixel format cannot be turned.
@discardableResult
public func VTPixelRotationSessionRotateImage(
  _ session: VTPixelRotationSession, _ sourceBuffer: CVPixelBuffer, _ destinationBuffer: CVPixelBuffer
) -> OSStatus {
  session.rotateImage(sourceBuffer, destinationBuffer)
}
