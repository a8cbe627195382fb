// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import Foundation

/// What is attached to the images of a stream.
struct ImageAttachments {
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

  private let fromDescription: NSDictionary
  /// Most streams say the same of all their pictures.
  private var last: (Key, CVAttachmentSet)?

  init(_ format: StreamFormat) {
    let extensions = CMFormatDescriptionGetExtensions(format.description) ?? [:]
    let result = NSMutableDictionary()
    // These extensions have the names of the attachments.
    for key in CMVideoFormatDescriptionGetExtensionKeysCommonWithImageBuffers() {
      if let key = key as? String, let value = extensions[key as NSString] { result[key as NSString] = value }
    }
    fromDescription = result
  }

  /// What the file says counts more than what the stream says.
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
    let places = [
      kCVImageBufferChromaLocation_Left, kCVImageBufferChromaLocation_Center,
      kCVImageBufferChromaLocation_TopLeft,
      kCVImageBufferChromaLocation_Top, kCVImageBufferChromaLocation_BottomLeft,
      kCVImageBufferChromaLocation_Bottom,
    ]
    if let place = key.chromaLocation, Int(place) < places.count {
      add(kCVImageBufferChromaLocationTopFieldKey, places[Int(place)])
      add(kCVImageBufferChromaLocationBottomFieldKey, places[Int(place)])
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
