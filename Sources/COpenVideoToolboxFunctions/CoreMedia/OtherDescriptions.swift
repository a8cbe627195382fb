// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

@c @implementation
public func CMMetadataFormatDescriptionCreateFromBigEndianMetadataDescriptionData(
  _ allocator: OpaquePointer?, _ metadataDescriptionData: UnsafePointer<UInt8>?, _ size: Int,
  _ flavor: OpaquePointer?, _ formatDescriptionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  formatDescriptionOut?.pointee = nil
  guard let formatDescriptionOut else { return kCMFormatDescriptionError_InvalidParameter }
  guard let metadataDescriptionData else { return kCMFormatDescriptionError_InvalidParameter }
  guard let flavor = FromC.optionalObject(flavor, NSString.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  var formatDescriptionOutObject: CMMetadataFormatDescription?
  let result = CoreMedia.CMMetadataFormatDescriptionCreateFromBigEndianMetadataDescriptionData(
    allocator: FromC.allocator(allocator), bigEndianMetadataDescriptionData: metadataDescriptionData,
    size: size, flavor: flavor.map(CMMetadataDescriptionFlavor.init(rawValue:)),
    formatDescriptionOut: &formatDescriptionOutObject)
  formatDescriptionOut.pointee = ToC.retained(formatDescriptionOutObject)
  return result
}

@c @implementation
public func CMMetadataFormatDescriptionCreateFromBigEndianMetadataDescriptionBlockBuffer(
  _ allocator: OpaquePointer?, _ metadataDescription: OpaquePointer?, _ flavor: OpaquePointer?,
  _ formatDescriptionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  formatDescriptionOut?.pointee = nil
  guard let formatDescriptionOut else { return kCMFormatDescriptionError_InvalidParameter }
  guard let metadataDescription = FromC.object(metadataDescription, CMBlockBuffer.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  guard let flavor = FromC.optionalObject(flavor, NSString.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  var formatDescriptionOutObject: CMMetadataFormatDescription?
  let result = CoreMedia.CMMetadataFormatDescriptionCreateFromBigEndianMetadataDescriptionBlockBuffer(
    allocator: FromC.allocator(allocator), bigEndianMetadataDescriptionBlockBuffer: metadataDescription,
    flavor: flavor.map(CMMetadataDescriptionFlavor.init(rawValue:)),
    formatDescriptionOut: &formatDescriptionOutObject)
  formatDescriptionOut.pointee = ToC.retained(formatDescriptionOutObject)
  return result
}

@c @implementation
public func CMMetadataFormatDescriptionCopyAsBigEndianMetadataDescriptionBlockBuffer(
  _ allocator: OpaquePointer?, _ metadataFormatDescription: OpaquePointer?, _ flavor: OpaquePointer?,
  _ metadataDescriptionBlockBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  metadataDescriptionBlockBufferOut?.pointee = nil
  guard let metadataDescriptionBlockBufferOut else { return kCMFormatDescriptionError_InvalidParameter }
  guard let metadataFormatDescription = FromC.object(metadataFormatDescription, CMFormatDescription.self)
  else { return kCMFormatDescriptionError_InvalidParameter }
  guard let flavor = FromC.optionalObject(flavor, NSString.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  var metadataDescriptionBlockBufferOutObject: CMBlockBuffer?
  let result = CoreMedia.CMMetadataFormatDescriptionCopyAsBigEndianMetadataDescriptionBlockBuffer(
    allocator: FromC.allocator(allocator), metadataFormatDescription: metadataFormatDescription,
    flavor: flavor.map(CMMetadataDescriptionFlavor.init(rawValue:)),
    blockBufferOut: &metadataDescriptionBlockBufferOutObject)
  metadataDescriptionBlockBufferOut.pointee = ToC.retained(metadataDescriptionBlockBufferOutObject)
  return result
}

@c @implementation
public func CMTextFormatDescriptionCreateFromBigEndianTextDescriptionData(
  _ allocator: OpaquePointer?, _ textDescriptionData: UnsafePointer<UInt8>?, _ size: Int,
  _ flavor: OpaquePointer?, _ mediaType: UInt32, _ formatDescriptionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  formatDescriptionOut?.pointee = nil
  guard let formatDescriptionOut else { return kCMFormatDescriptionError_InvalidParameter }
  guard let textDescriptionData else { return kCMFormatDescriptionError_InvalidParameter }
  guard let flavor = FromC.optionalObject(flavor, NSString.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  var formatDescriptionOutObject: CMTextFormatDescription?
  let result = CoreMedia.CMTextFormatDescriptionCreateFromBigEndianTextDescriptionData(
    allocator: FromC.allocator(allocator), bigEndianTextDescriptionData: textDescriptionData, size: size,
    flavor: flavor.map(CMTextDescriptionFlavor.init(rawValue:)), mediaType: mediaType,
    formatDescriptionOut: &formatDescriptionOutObject)
  formatDescriptionOut.pointee = ToC.retained(formatDescriptionOutObject)
  return result
}

@c @implementation
public func CMTextFormatDescriptionCreateFromBigEndianTextDescriptionBlockBuffer(
  _ allocator: OpaquePointer?, _ textDescription: OpaquePointer?, _ flavor: OpaquePointer?,
  _ mediaType: UInt32, _ formatDescriptionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  formatDescriptionOut?.pointee = nil
  guard let formatDescriptionOut else { return kCMFormatDescriptionError_InvalidParameter }
  guard let textDescription = FromC.object(textDescription, CMBlockBuffer.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  guard let flavor = FromC.optionalObject(flavor, NSString.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  var formatDescriptionOutObject: CMTextFormatDescription?
  let result = CoreMedia.CMTextFormatDescriptionCreateFromBigEndianTextDescriptionBlockBuffer(
    allocator: FromC.allocator(allocator), bigEndianTextDescriptionBlockBuffer: textDescription,
    flavor: flavor.map(CMTextDescriptionFlavor.init(rawValue:)), mediaType: mediaType,
    formatDescriptionOut: &formatDescriptionOutObject)
  formatDescriptionOut.pointee = ToC.retained(formatDescriptionOutObject)
  return result
}

@c @implementation
public func CMTextFormatDescriptionCopyAsBigEndianTextDescriptionBlockBuffer(
  _ allocator: OpaquePointer?, _ textFormatDescription: OpaquePointer?, _ flavor: OpaquePointer?,
  _ textDescriptionBlockBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  textDescriptionBlockBufferOut?.pointee = nil
  guard let textDescriptionBlockBufferOut else { return kCMFormatDescriptionError_InvalidParameter }
  guard let textFormatDescription = FromC.object(textFormatDescription, CMFormatDescription.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  guard let flavor = FromC.optionalObject(flavor, NSString.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  var textDescriptionBlockBufferOutObject: CMBlockBuffer?
  let result = CoreMedia.CMTextFormatDescriptionCopyAsBigEndianTextDescriptionBlockBuffer(
    allocator: FromC.allocator(allocator), textFormatDescription: textFormatDescription,
    flavor: flavor.map(CMTextDescriptionFlavor.init(rawValue:)),
    blockBufferOut: &textDescriptionBlockBufferOutObject)
  textDescriptionBlockBufferOut.pointee = ToC.retained(textDescriptionBlockBufferOutObject)
  return result
}

@c @implementation
public func CMTimeCodeFormatDescriptionCreateFromBigEndianTimeCodeDescriptionData(
  _ allocator: OpaquePointer?, _ timeCodeDescriptionData: UnsafePointer<UInt8>?, _ size: Int,
  _ flavor: OpaquePointer?, _ formatDescriptionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  formatDescriptionOut?.pointee = nil
  guard let formatDescriptionOut else { return kCMFormatDescriptionError_InvalidParameter }
  guard let timeCodeDescriptionData else { return kCMFormatDescriptionError_InvalidParameter }
  guard let flavor = FromC.optionalObject(flavor, NSString.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  var formatDescriptionOutObject: CMTimeCodeFormatDescription?
  let result = CoreMedia.CMTimeCodeFormatDescriptionCreateFromBigEndianTimeCodeDescriptionData(
    allocator: FromC.allocator(allocator), bigEndianTimeCodeDescriptionData: timeCodeDescriptionData,
    size: size, flavor: flavor.map(CMTimeCodeDescriptionFlavor.init(rawValue:)),
    formatDescriptionOut: &formatDescriptionOutObject)
  formatDescriptionOut.pointee = ToC.retained(formatDescriptionOutObject)
  return result
}

@c @implementation
public func CMTimeCodeFormatDescriptionCreateFromBigEndianTimeCodeDescriptionBlockBuffer(
  _ allocator: OpaquePointer?, _ timeCodeDescription: OpaquePointer?, _ flavor: OpaquePointer?,
  _ formatDescriptionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  formatDescriptionOut?.pointee = nil
  guard let formatDescriptionOut else { return kCMFormatDescriptionError_InvalidParameter }
  guard let timeCodeDescription = FromC.object(timeCodeDescription, CMBlockBuffer.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  guard let flavor = FromC.optionalObject(flavor, NSString.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  var formatDescriptionOutObject: CMTimeCodeFormatDescription?
  let result = CoreMedia.CMTimeCodeFormatDescriptionCreateFromBigEndianTimeCodeDescriptionBlockBuffer(
    allocator: FromC.allocator(allocator), bigEndianTimeCodeDescriptionBlockBuffer: timeCodeDescription,
    flavor: flavor.map(CMTimeCodeDescriptionFlavor.init(rawValue:)),
    formatDescriptionOut: &formatDescriptionOutObject)
  formatDescriptionOut.pointee = ToC.retained(formatDescriptionOutObject)
  return result
}

@c @implementation
public func CMTimeCodeFormatDescriptionCopyAsBigEndianTimeCodeDescriptionBlockBuffer(
  _ allocator: OpaquePointer?, _ timeCodeFormatDescription: OpaquePointer?, _ flavor: OpaquePointer?,
  _ timeCodeDescriptionBlockBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  timeCodeDescriptionBlockBufferOut?.pointee = nil
  guard let timeCodeDescriptionBlockBufferOut else { return kCMFormatDescriptionError_InvalidParameter }
  guard let timeCodeFormatDescription = FromC.object(timeCodeFormatDescription, CMFormatDescription.self)
  else { return kCMFormatDescriptionError_InvalidParameter }
  guard let flavor = FromC.optionalObject(flavor, NSString.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  var timeCodeDescriptionBlockBufferOutObject: CMBlockBuffer?
  let result = CoreMedia.CMTimeCodeFormatDescriptionCopyAsBigEndianTimeCodeDescriptionBlockBuffer(
    allocator: FromC.allocator(allocator), timeCodeFormatDescription: timeCodeFormatDescription,
    flavor: flavor.map(CMTimeCodeDescriptionFlavor.init(rawValue:)),
    blockBufferOut: &timeCodeDescriptionBlockBufferOutObject)
  timeCodeDescriptionBlockBufferOut.pointee = ToC.retained(timeCodeDescriptionBlockBufferOutObject)
  return result
}

@c @implementation
public func CMDoesBigEndianSoundDescriptionRequireLegacyCBRSampleTableLayout(
  _ soundDescriptionBlockBuffer: OpaquePointer?, _ flavor: OpaquePointer?
) -> UInt8 {
  guard let soundDescriptionBlockBuffer = FromC.object(soundDescriptionBlockBuffer, CMBlockBuffer.self) else {
    return 0
  }
  guard let flavor = FromC.optionalObject(flavor, NSString.self) else { return 0 }
  return CoreMedia.CMDoesBigEndianSoundDescriptionRequireLegacyCBRSampleTableLayout(
    soundDescriptionBlockBuffer, flavor: flavor.map(CMSoundDescriptionFlavor.init(rawValue:))) ? 1 : 0
}

@c @implementation
public func CMSwapBigEndianSoundDescriptionToHost(
  _ soundDescriptionData: UnsafeMutablePointer<UInt8>?, _ size: Int
) -> Int32 {
  guard let soundDescriptionData else { return kCMFormatDescriptionBridgeError_InvalidParameter }
  return CoreMedia.CMSwapBigEndianSoundDescriptionToHost(soundDescriptionData, size)
}

@c @implementation
public func CMSwapHostEndianSoundDescriptionToBig(
  _ soundDescriptionData: UnsafeMutablePointer<UInt8>?, _ size: Int
) -> Int32 {
  guard let soundDescriptionData else { return kCMFormatDescriptionBridgeError_InvalidParameter }
  return CoreMedia.CMSwapHostEndianSoundDescriptionToBig(soundDescriptionData, size)
}
