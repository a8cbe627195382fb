// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import Foundation

/// The attachments of a stream's images: colours, aspect ratio, fields, alpha mode and HDR
/// metadata.
struct ImageAttachments {
  /// The properties of a decoded picture that its attachments depend on.
  private struct Key: Equatable {
    var color: ColorDescription
    var chromaLocation: UInt8?
    var pixelAspect: PixelAspect?
    var isInterlaced: Bool
    var isTopFieldFirst: Bool
    var hasStraightAlpha: Bool
    var masteringDisplay: Data?
    var contentLightLevel: Data?
  }

  /// The attachments that the format description determines.
  private let fromDescription: NSDictionary
  /// The attachments of the last picture: in most streams they are the same for all pictures.
  private var last: (Key, CVAttachmentSet)?

  init(_ format: StreamFormat) {
    let extensions = CMFormatDescriptionGetExtensions(format.description) ?? [:]
    let result = NSMutableDictionary()
    // These extensions and the attachments have the same names.
    for key in CMVideoFormatDescriptionGetExtensionKeysCommonWithImageBuffers() {
      if let key = key as? String, let value = extensions[key as NSString] { result[key as NSString] = value }
    }
    fromDescription = result
  }

  /// Attaches to a picture's buffer what is known about it. Extensions of the format description
  /// take precedence over what the decoder found in the stream.
  mutating func attach(to picture: DecodedPicture) {
    let key = Key(
      color: picture.color, chromaLocation: picture.chromaLocation, pixelAspect: picture.pixelAspect,
      isInterlaced: picture.isInterlaced, isTopFieldFirst: picture.isTopFieldFirst,
      hasStraightAlpha: picture.hasStraightAlpha, masteringDisplay: picture.masteringDisplay,
      contentLightLevel: picture.contentLightLevel)
    let attachments: CVAttachmentSet
    if let (lastKey, lastSet) = last, lastKey == key {
      attachments = lastSet
    } else {
      attachments = make(key)
      last = (key, attachments)
    }
    attachments.attach(to: picture.pixelBuffer)
  }

  private func make(_ key: Key) -> CVAttachmentSet {
    let result: NSMutableDictionary = [:]
    for (name, value) in fromDescription.entries { result[name as NSString] = value }
    func add(_ name: CFString, _ value: Any?) {
      if result[name] == nil, let value { result[name] = value }
    }
    add(
      kCVImageBufferColorPrimariesKey,
      CVColorPrimariesGetStringForIntegerCodePoint(Int32(key.color.primaries))?.takeUnretainedValue())
    add(
      kCVImageBufferTransferFunctionKey,
      CVTransferFunctionGetStringForIntegerCodePoint(Int32(key.color.transfer))?.takeUnretainedValue())
    add(
      kCVImageBufferYCbCrMatrixKey,
      CVYCbCrMatrixGetStringForIntegerCodePoint(Int32(key.color.matrix))?.takeUnretainedValue())
    let locations = [
      kCVImageBufferChromaLocation_Left, kCVImageBufferChromaLocation_Center,
      kCVImageBufferChromaLocation_TopLeft,
      kCVImageBufferChromaLocation_Top, kCVImageBufferChromaLocation_BottomLeft,
      kCVImageBufferChromaLocation_Bottom,
    ]
    if let location = key.chromaLocation, Int(location) < locations.count {
      add(kCVImageBufferChromaLocationTopFieldKey, locations[Int(location)])
      add(kCVImageBufferChromaLocationBottomFieldKey, locations[Int(location)])
    }
    if let aspect = key.pixelAspect, aspect.horizontal != aspect.vertical {
      let value: NSDictionary = [
        kCVImageBufferPixelAspectRatioHorizontalSpacingKey: NSNumber(value: aspect.horizontal),
        kCVImageBufferPixelAspectRatioVerticalSpacingKey: NSNumber(value: aspect.vertical),
      ]
      add(kCVImageBufferPixelAspectRatioKey, value)
    }
    add(kCVImageBufferMasteringDisplayColorVolumeKey, key.masteringDisplay.map { $0 as NSData })
    add(kCVImageBufferContentLightLevelInfoKey, key.contentLightLevel.map { $0 as NSData })
    if key.hasStraightAlpha {
      add(kCVImageBufferAlphaChannelModeKey, kCVImageBufferAlphaChannelMode_StraightAlpha)
    }
    if key.isInterlaced {
      result[kCVImageBufferFieldCountKey] = NSNumber(value: 2)
      add(
        kCVImageBufferFieldDetailKey,
        key.isTopFieldFirst
          ? kCVImageBufferFieldDetailTemporalTopFirst : kCVImageBufferFieldDetailTemporalBottomFirst)
    }
    return CVAttachmentSet(result)
  }
}
