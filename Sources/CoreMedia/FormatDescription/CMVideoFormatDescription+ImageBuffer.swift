// SPDX-License-Identifier: Apache-2.0
import CoreVideo

/// The keys of extensions that image buffers have as attachments.
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

/// Creates a description of an image buffer: its pixel format, its dimensions, the attachments that
/// have a key in common with extensions, and the number of bytes per row.
@discardableResult
public func CMVideoFormatDescriptionCreateForImageBuffer(
  allocator: CFAllocator?, imageBuffer: CVImageBuffer,
  formatDescriptionOut: UnsafeMutablePointer<CMVideoFormatDescription?>
) -> OSStatus {
  formatDescriptionOut.pointee = CMFormatDescription(describing: imageBuffer)
  return noErr
}

/// Returns the keys of the extensions that are compared with the attachments of image buffers.
@discardableResult
public func CMVideoFormatDescriptionGetExtensionKeysCommonWithImageBuffers() -> CFArray {
  commonKeys as CFArray
}

/// Returns whether a format description describes an image buffer. The pixel format, the
/// dimensions, the number of bytes per row and the attachments that have a key in common with
/// extensions must be equal.
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
  // Each attachment with a common key must be an extension, and each extension with a common key
  // must be an attachment.
  var found = 0
  let allMatch = imageBuffer.attachmentsSatisfy { key, attachment in
    guard let value = common.values[key] else { return !commonNames.contains(key) }
    found += 1
    return value === attachment || CFEqual(value, attachment)
  }
  return allMatch && found == common.values.count
}

private let commonNames = Set(commonKeys.map { $0 as String })

/// The extensions that are compared with an image buffer.
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
