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
  if let bytesPerRow = desc.extensionValue(kCMFormatDescriptionExtension_BytesPerRow) as? NSNumber,
    bytesPerRow.intValue != CVPixelBufferGetBytesPerRow(imageBuffer)
  {
    return false
  }
  let attachments = imageBuffer.describingAttachments
  for key in commonKeys {
    let extensionValue = desc.extensionDictionary?.object(forKey: key) as AnyObject?
    let attachment = attachments?.object(forKey: key) as AnyObject?
    switch (extensionValue, attachment) {
    case (nil, nil): continue
    case (let one?, let other?): if !CFEqual(one, other) { return false }
    default: return false
    }
  }
  return true
}

extension CVBuffer {
  /// All attachments of both modes; nil if there are none.
  fileprivate var describingAttachments: CFDictionary? {
    let propagated = CVBufferCopyAttachments(self, .shouldPropagate)
    guard let others = CVBufferCopyAttachments(self, .shouldNotPropagate), others.count > 0 else {
      return propagated
    }
    guard let propagated, propagated.count > 0 else { return others }
    let all = NSMutableDictionary()
    for part in [propagated, others] {
      part.enumerateKeysAndObjects { key, value, _ in
        if let key = key as? String { all[key as NSString] = value }
      }
    }
    return all
  }
}

extension CMFormatDescription {
  convenience init(describing imageBuffer: CVImageBuffer) {
    let extensions = NSMutableDictionary()
    if let attachments = imageBuffer.describingAttachments {
      for key in commonKeys {
        if let value = attachments.object(forKey: key) { extensions[key] = value }
      }
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
