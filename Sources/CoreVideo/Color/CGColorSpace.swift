// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A colour space, identified by a well-known name or by an ICC profile.
///
/// It can be compared, attached to buffers and passed on. `VTPixelTransferSession` converts between
/// spaces.
public final class CGColorSpace: Sendable, Hashable {
  private let identity: Identity

  private enum Identity: Hashable {
    case named(String)
    case profile(Data)
  }

  /// The space with one of the names below; nil if the name is another.
  public init?(name: CFString) {
    guard Self.names.contains(name as String) else { return nil }
    identity = .named(name as String)
  }

  /// The space of an ICC profile; nil if the data is not one.
  public init?(iccData: CFTypeRef) {
    // The header has 128 bytes, with a signature at 36.
    guard let data = iccData as? NSData, data.length >= 128,
      (data as Data)[36..<40].elementsEqual("acsp".utf8)
    else { return nil }
    identity = .profile(data as Data)
  }

  /// The name, nil for a space that an ICC profile describes.
  public var name: CFString? {
    if case .named(let name) = identity { name as CFString } else { nil }
  }

  /// The number of components of a colour, without alpha.
  public var numberOfComponents: Int {
    switch identity {
    case .named(let name): name == Self.linearGray as String ? 1 : 3
    case .profile(let data):
      data[16..<20].elementsEqual("GRAY".utf8) ? 1 : data[16..<20].elementsEqual("CMYK".utf8) ? 4 : 3
    }
  }

  /// The ICC profile that the space was created from; nil for a named space.
  public func copyICCData() -> CFData? {
    if case .profile(let data) = identity { data as CFData } else { nil }
  }

  public static func == (a: CGColorSpace, b: CGColorSpace) -> Bool { a.identity == b.identity }
  public func hash(into hasher: inout Hasher) { hasher.combine(identity) }

  public nonisolated(unsafe) static let sRGB: CFString = "kCGColorSpaceSRGB"
  public nonisolated(unsafe) static let linearSRGB: CFString = "kCGColorSpaceLinearSRGB"
  public nonisolated(unsafe) static let linearGray: CFString = "kCGColorSpaceLinearGray"
  public nonisolated(unsafe) static let itur_709: CFString = "kCGColorSpaceITUR_709"
  public nonisolated(unsafe) static let itur_709_HLG: CFString = "kCGColorSpaceITUR_709_HLG"
  public nonisolated(unsafe) static let itur_709_PQ: CFString = "kCGColorSpaceITUR_709_PQ"
  public nonisolated(unsafe) static let itur_2020: CFString = "kCGColorSpaceITUR_2020"
  public nonisolated(unsafe) static let itur_2100_HLG: CFString = "kCGColorSpaceITUR_2100_HLG"
  public nonisolated(unsafe) static let itur_2100_PQ: CFString = "kCGColorSpaceITUR_2100_PQ"
  public nonisolated(unsafe) static let linearITUR_2020: CFString = "kCGColorSpaceLinearITUR_2020"
  public nonisolated(unsafe) static let dcip3: CFString = "kCGColorSpaceDCIP3"
  public nonisolated(unsafe) static let displayP3: CFString = "kCGColorSpaceDisplayP3"
  public nonisolated(unsafe) static let displayP3_HLG: CFString = "kCGColorSpaceDisplayP3_HLG"
  public nonisolated(unsafe) static let displayP3_PQ: CFString = "kCGColorSpaceDisplayP3_PQ"
  public nonisolated(unsafe) static let linearDisplayP3: CFString = "kCGColorSpaceLinearDisplayP3"

  private static let names = Set(
    [
      sRGB, linearSRGB, linearGray, itur_709, itur_709_HLG, itur_709_PQ, itur_2020, itur_2100_HLG,
      itur_2100_PQ,
      linearITUR_2020, dcip3, displayP3, displayP3_HLG, displayP3_PQ, linearDisplayP3,
    ].map { $0 as String })
}

extension CGColorSpace: CFRuntimeObject {
  package static let cfTypeID = CFRuntimeRegister("CGColorSpace")
  package func cfIsEqual(to other: AnyObject) -> Bool { (other as? CGColorSpace) == self }
  package var cfHash: CFHashCode { CFHashCode(bitPattern: hashValue) }
}

/// Creates the colour space that an image's attachments describe: by an ICC profile, or by
/// primaries and transfer function.
/// - Returns: Nil if the attachments are incomplete, or there is no space with that combination.
@discardableResult
public func CVImageBufferCreateColorSpaceFromAttachments(_ attachments: CFDictionary) -> Unmanaged<
  CGColorSpace
>? {
  colorSpace(attachments).map(Unmanaged.passRetained)
}

/// Gets the colour space that is attached to an image, or else the one that its other attachments
/// describe.
@discardableResult
public func CVImageBufferGetColorSpace(_ imageBuffer: CVImageBuffer) -> Unmanaged<CGColorSpace>? {
  if let attached = CVBufferCopyAttachment(imageBuffer, kCVImageBufferCGColorSpaceKey, nil) as? CGColorSpace {
    return Unmanaged.passUnretained(attached)
  }
  // The space is attached to the buffer, which keeps it alive, as the caller does not own it.
  guard
    let space = CVBufferCopyAttachments(imageBuffer, .shouldPropagate).flatMap(colorSpace)
      ?? CVBufferCopyAttachments(imageBuffer, .shouldNotPropagate).flatMap(colorSpace)
  else { return nil }
  CVBufferSetAttachment(imageBuffer, kCVImageBufferCGColorSpaceKey, space, .shouldNotPropagate)
  return Unmanaged.passUnretained(space)
}

private func colorSpace(_ attachments: CFDictionary) -> CGColorSpace? {
  if let profile = attachments[kCVImageBufferICCProfileKey] as? NSData {
    return CGColorSpace(iccData: profile)
  }
  guard let primaries = attachments[kCVImageBufferColorPrimariesKey] as? NSString,
    let transfer = attachments[kCVImageBufferTransferFunctionKey] as? NSString
  else { return nil }
  let name: CFString? =
    switch (primaries, transfer) {
    case (kCVImageBufferColorPrimaries_ITU_R_709_2, kCVImageBufferTransferFunction_ITU_R_709_2),
      (kCVImageBufferColorPrimaries_ITU_R_709_2, kCVImageBufferTransferFunction_ITU_R_2020):
      CGColorSpace.itur_709
    case (kCVImageBufferColorPrimaries_ITU_R_709_2, kCVImageBufferTransferFunction_sRGB): CGColorSpace.sRGB
    case (kCVImageBufferColorPrimaries_ITU_R_709_2, kCVImageBufferTransferFunction_Linear):
      CGColorSpace.linearSRGB
    case (kCVImageBufferColorPrimaries_ITU_R_709_2, kCVImageBufferTransferFunction_ITU_R_2100_HLG):
      CGColorSpace.itur_709_HLG
    case (kCVImageBufferColorPrimaries_ITU_R_709_2, kCVImageBufferTransferFunction_SMPTE_ST_2084_PQ):
      CGColorSpace.itur_709_PQ
    case (kCVImageBufferColorPrimaries_ITU_R_2020, kCVImageBufferTransferFunction_ITU_R_709_2),
      (kCVImageBufferColorPrimaries_ITU_R_2020, kCVImageBufferTransferFunction_ITU_R_2020):
      CGColorSpace.itur_2020
    case (kCVImageBufferColorPrimaries_ITU_R_2020, kCVImageBufferTransferFunction_ITU_R_2100_HLG):
      CGColorSpace.itur_2100_HLG
    case (kCVImageBufferColorPrimaries_ITU_R_2020, kCVImageBufferTransferFunction_SMPTE_ST_2084_PQ):
      CGColorSpace.itur_2100_PQ
    case (kCVImageBufferColorPrimaries_ITU_R_2020, kCVImageBufferTransferFunction_Linear):
      CGColorSpace.linearITUR_2020
    case (kCVImageBufferColorPrimaries_P3_D65, kCVImageBufferTransferFunction_sRGB),
      (kCVImageBufferColorPrimaries_P3_D65, kCVImageBufferTransferFunction_ITU_R_709_2):
      CGColorSpace.displayP3
    case (kCVImageBufferColorPrimaries_P3_D65, kCVImageBufferTransferFunction_ITU_R_2100_HLG):
      CGColorSpace.displayP3_HLG
    case (kCVImageBufferColorPrimaries_P3_D65, kCVImageBufferTransferFunction_SMPTE_ST_2084_PQ):
      CGColorSpace.displayP3_PQ
    case (kCVImageBufferColorPrimaries_P3_D65, kCVImageBufferTransferFunction_Linear):
      CGColorSpace.linearDisplayP3
    case (kCVImageBufferColorPrimaries_DCI_P3, kCVImageBufferTransferFunction_SMPTE_ST_428_1):
      CGColorSpace.dcip3
    default: nil
    }
  return name.flatMap(CGColorSpace.init(name:))
}
