// SPDX-License-Identifier: Apache-2.0
import CoreVideo

/// The extensions that an image buffer has as attachments under the same keys.
nonisolated(unsafe) private let commonKeys: [CFString] = [
  kCMFormatDescriptionExtension_CleanAperture, kCMFormatDescriptionExtension_FieldCount,
  kCMFormatDescriptionExtension_FieldDetail, kCMFormatDescriptionExtension_PixelAspectRatio,
  kCMFormatDescriptionExtension_ColorPrimaries, kCMFormatDescriptionExtension_TransferFunction,
  kCMFormatDescriptionExtension_GammaLevel, kCMFormatDescriptionExtension_YCbCrMatrix,
  kCMFormatDescriptionExtension_ICCProfile, kCMFormatDescriptionExtension_ChromaLocationTopField,
  kCMFormatDescriptionExtension_ChromaLocationBottomField,
  kCMFormatDescriptionExtension_MasteringDisplayColorVolume,
  kCMFormatDescriptionExtension_ContentLightLevelInfo, kCMFormatDescriptionExtension_AlphaChannelMode,
]

/// Creates a description of an image buffer: its pixel format, its dimensions and what of its attachments
/// has a place in a format description.
@discardableResult
public func CMVideoFormatDescriptionCreateForImageBuffer(
  allocator: CFAllocator?, imageBuffer: CVImageBuffer,
  formatDescriptionOut: UnsafeMutablePointer<CMVideoFormatDescription?>
) -> OSStatus {
  formatDescriptionOut.pointee = CMFormatDescription(describing: imageBuffer)
  return noErr
}

/// The keys of the extensions that are compared with an image buffer's attachments.
@discardableResult
public func CMVideoFormatDescriptionGetExtensionKeysCommonWithImageBuffers() -> CFArray {
  commonKeys as CFArray
}

/// Whether a format description describes an image buffer: pixel format, dimensions, bytes per row, and
/// the attachments that have a place in a format description.
@discardableResult
public func CMVideoFormatDescriptionMatchesImageBuffer(
  _ desc: CMVideoFormatDescription, imageBuffer: CVImageBuffer
) -> Bool {
  guard desc.mediaTypeCode == kCMMediaType_Video,
    desc.mediaSubTypeCode == CVPixelBufferGetPixelFormatType(imageBuffer),
    Int(desc.videoDimensions.width) == CVPixelBufferGetWidth(imageBuffer),
    Int(desc.videoDimensions.height) == CVPixelBufferGetHeight(imageBuffer)
  else { return false }
  let common = desc.imageExtensions
  if let bytesPerRow = common.bytesPerRow, bytesPerRow != CVPixelBufferGetBytesPerRow(imageBuffer) {
    return false
  }
  // Each attachment that has a place here must be an extension, and each such extension an attachment.
  var found = 0
  let allMatch = imageBuffer.attachmentsSatisfy { key, attachment in
    guard let value = common.values[key] else { return !commonNames.contains(key) }
    found += 1
    return value === attachment || CFEqual(value, attachment)
  }
  return allMatch && found == common.values.count
}

private let commonNames = Set(commonKeys.map { $0 as String })

/// The extensions that an image buffer is compared with.
struct ImageExtensions {
  let values: [String: AnyObject]
  let bytesPerRow: Int?

  init(_ extensions: CFDictionary?) {
    var values: [String: AnyObject] = [:]
    extensions?.enumerateKeysAndObjects { key, value, _ in
      if let key = key as? String, commonNames.contains(key) { values[key] = value as AnyObject }
    }
    self.values = values
    bytesPerRow =
      (extensions?.object(forKey: kCMFormatDescriptionExtension_BytesPerRow) as? NSNumber)?.intValue
  }
}

extension CMFormatDescription {
  convenience init(describing imageBuffer: CVImageBuffer) {
    let extensions = NSMutableDictionary()
    _ = imageBuffer.attachmentsSatisfy { key, value in
      if commonNames.contains(key) { extensions.setObject(value, forKey: key as NSString) }
      return true
    }
    extensions[kCMFormatDescriptionExtension_BytesPerRow] = NSNumber(
      value: CVPixelBufferGetBytesPerRow(imageBuffer))
    extensions[kCMFormatDescriptionExtension_Version] = NSNumber(value: 2)
    self.init(
      mediaType: kCMMediaType_Video, mediaSubType: CVPixelBufferGetPixelFormatType(imageBuffer),
      dimensions: CMVideoDimensions(
        width: Int32(clamping: CVPixelBufferGetWidth(imageBuffer)),
        height: Int32(clamping: CVPixelBufferGetHeight(imageBuffer))),
      extensions: extensions)
  }
}
