// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// The clean aperture and the pixel aspect ratio that a transfer gives a picture. What the
/// destination had before does not count.
struct TransferredShape {
  /// The clean aperture, as in `kCVImageBufferCleanApertureKey`; nil for the whole picture.
  private let cleanAperture: NSDictionary?
  /// The pixel aspect ratio, as in `kCVImageBufferPixelAspectRatioKey`; nil for square pixels.
  let pixelAspect: NSDictionary?
  /// The clean aperture that the source is fitted into; nil for the whole picture.
  let fittedAperture: NSDictionary?

  init(_ settings: PixelTransferSettings, _ source: CVPixelBuffer, _ target: CVPixelBuffer) {
    func attachment(_ key: CFString) -> NSDictionary? {
      CVBufferCopyAttachment(source, key, nil) as? NSDictionary
    }
    let mode = settings.scalingMode as NSString
    guard mode != kVTScalingMode_Normal as NSString else {
      // Both properties are ignored, and the attachments are stretched as the picture is.
      let from = (CVPixelBufferGetWidth(source), CVPixelBufferGetHeight(source))
      let to = (CVPixelBufferGetWidth(target), CVPixelBufferGetHeight(target))
      cleanAperture = attachment(kCVImageBufferCleanApertureKey).map { Self.stretch($0, from, to) }
      pixelAspect = attachment(kCVImageBufferPixelAspectRatioKey).map { Self.squeeze($0, from, to) }
      fittedAperture = nil
      return
    }
    cleanAperture = settings.cleanAperture.map { NSDictionary(dictionary: $0) }
    fittedAperture = cleanAperture
    let keepsAspect =
      mode == kVTScalingMode_Letterbox as NSString || mode == kVTScalingMode_Trim as NSString
    pixelAspect =
      settings.pixelAspect.map { NSDictionary(dictionary: $0) }
      ?? (keepsAspect ? attachment(kCVImageBufferPixelAspectRatioKey) : nil)
  }

  /// Sets or removes the attachments of the destination.
  func attach(to target: CVPixelBuffer) {
    for (key, value) in [
      (kCVImageBufferCleanApertureKey, cleanAperture), (kCVImageBufferPixelAspectRatioKey, pixelAspect),
    ] {
      if let value {
        CVBufferSetAttachment(target, key, value, .shouldPropagate)
      } else {
        CVBufferRemoveAttachment(target, key)
      }
    }
  }

  private typealias Size = (width: Int, height: Int)

  /// A clean aperture in a picture of another size.
  private static func stretch(_ aperture: NSDictionary, _ from: Size, _ to: Size) -> NSDictionary {
    guard from != to else { return aperture }
    guard let stretched = aperture.mutableCopy() as? NSMutableDictionary else { return aperture }
    for (keys, before, after) in [
      (
        [kCVImageBufferCleanApertureWidthKey, kCVImageBufferCleanApertureHorizontalOffsetKey], from.width,
        to.width
      ),
      (
        [kCVImageBufferCleanApertureHeightKey, kCVImageBufferCleanApertureVerticalOffsetKey], from.height,
        to.height
      ),
    ] {
      for key in keys {
        guard let value = (aperture[key] as? NSNumber)?.doubleValue else { continue }
        stretched[key] = NSNumber(value: value * Double(after) / Double(max(before, 1)))
      }
    }
    return stretched
  }

  /// The pixel aspect ratio with which a picture of another size has the same shape; the same ratio
  /// if it does not fit into 31 bits.
  private static func squeeze(_ aspect: NSDictionary, _ from: Size, _ to: Size) -> NSDictionary {
    let keys = (
      kCVImageBufferPixelAspectRatioHorizontalSpacingKey, kCVImageBufferPixelAspectRatioVerticalSpacingKey
    )
    guard from != to, let (across, down) = Self.spacings(aspect, keys) else { return aspect }
    if across != across.rounded() || down != down.rounded() {
      let ratio = Double(max(from.width, 1)) * Double(max(to.height, 1)) / Double(max(to.width, 1))
      return [
        keys.0: NSNumber(value: across / down * ratio / Double(max(from.height, 1))),
        keys.1: NSNumber(value: 1.0),
      ] as NSDictionary
    }
    guard let horizontal = (aspect[keys.0] as? NSNumber)?.int64Value,
      let vertical = (aspect[keys.1] as? NSNumber)?.int64Value,
      (1...Int64(UInt16.max)).contains(horizontal), (1...Int64(UInt16.max)).contains(vertical),
      [from.width, from.height, to.width, to.height].allSatisfy({ (1...Int(UInt16.max)).contains($0) })
    else { return aspect }
    var (a, b) = (
      horizontal * Int64(from.width) * Int64(to.height), vertical * Int64(to.width) * Int64(from.height)
    )
    var (x, y) = (a, b)
    while y != 0 { (x, y) = (y, x % y) }
    (a, b) = (a / x, b / x)
    guard a <= Int64(Int32.max), b <= Int64(Int32.max) else { return aspect }
    return [keys.0: NSNumber(value: a), keys.1: NSNumber(value: b)] as NSDictionary
  }

  /// The two spacings of a pixel aspect ratio; nil if they are not positive numbers.
  private static func spacings(_ aspect: NSDictionary, _ keys: (CFString, CFString)) -> (Double, Double)? {
    guard let across = (aspect[keys.0] as? NSNumber)?.doubleValue,
      let down = (aspect[keys.1] as? NSNumber)?.doubleValue, across.isFinite, down.isFinite, across > 0,
      down > 0
    else { return nil }
    return (across, down)
  }
}
