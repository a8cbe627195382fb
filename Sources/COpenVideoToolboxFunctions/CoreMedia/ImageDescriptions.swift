// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

@c @implementation
public func CMVideoFormatDescriptionCreateFromBigEndianImageDescriptionData(
  _ allocator: OpaquePointer?, _ imageDescriptionData: UnsafePointer<UInt8>?, _ size: Int,
  _ stringEncoding: UInt32, _ flavor: OpaquePointer?,
  _ formatDescriptionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  formatDescriptionOut?.pointee = nil
  guard let formatDescriptionOut else { return kCMFormatDescriptionError_InvalidParameter }
  guard let imageDescriptionData else { return kCMFormatDescriptionError_InvalidParameter }
  guard let flavor = FromC.optionalObject(flavor, NSString.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  var formatDescriptionOutObject: CMFormatDescription?
  let result = CoreMedia.CMVideoFormatDescriptionCreateFromBigEndianImageDescriptionData(
    allocator: FromC.allocator(allocator), bigEndianImageDescriptionData: imageDescriptionData, size: size,
    stringEncoding: stringEncoding, flavor: flavor.map(CMImageDescriptionFlavor.init(rawValue:)),
    formatDescriptionOut: &formatDescriptionOutObject)
  formatDescriptionOut.pointee = ToC.retained(formatDescriptionOutObject)
  return result
}

@c @implementation
public func CMVideoFormatDescriptionCreateFromBigEndianImageDescriptionBlockBuffer(
  _ allocator: OpaquePointer?, _ imageDescriptionBlockBuffer: OpaquePointer?, _ stringEncoding: UInt32,
  _ flavor: OpaquePointer?, _ formatDescriptionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  formatDescriptionOut?.pointee = nil
  guard let formatDescriptionOut else { return kCMFormatDescriptionError_InvalidParameter }
  guard let imageDescriptionBlockBuffer = FromC.object(imageDescriptionBlockBuffer, CMBlockBuffer.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  guard let flavor = FromC.optionalObject(flavor, NSString.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  var formatDescriptionOutObject: CMFormatDescription?
  let result = CoreMedia.CMVideoFormatDescriptionCreateFromBigEndianImageDescriptionBlockBuffer(
    allocator: FromC.allocator(allocator), bigEndianImageDescriptionBlockBuffer: imageDescriptionBlockBuffer,
    stringEncoding: stringEncoding, flavor: flavor.map(CMImageDescriptionFlavor.init(rawValue:)),
    formatDescriptionOut: &formatDescriptionOutObject)
  formatDescriptionOut.pointee = ToC.retained(formatDescriptionOutObject)
  return result
}

@c @implementation
public func CMVideoFormatDescriptionCopyAsBigEndianImageDescriptionBlockBuffer(
  _ allocator: OpaquePointer?, _ videoFormatDescription: OpaquePointer?, _ stringEncoding: UInt32,
  _ flavor: OpaquePointer?, _ imageDescriptionBlockBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  imageDescriptionBlockBufferOut?.pointee = nil
  guard let imageDescriptionBlockBufferOut else { return kCMFormatDescriptionError_InvalidParameter }
  guard let videoFormatDescription = FromC.object(videoFormatDescription, CMFormatDescription.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  guard let flavor = FromC.optionalObject(flavor, NSString.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  var imageDescriptionBlockBufferOutObject: CMBlockBuffer?
  let result = CoreMedia.CMVideoFormatDescriptionCopyAsBigEndianImageDescriptionBlockBuffer(
    allocator: FromC.allocator(allocator), videoFormatDescription: videoFormatDescription,
    stringEncoding: stringEncoding, flavor: flavor.map(CMImageDescriptionFlavor.init(rawValue:)),
    blockBufferOut: &imageDescriptionBlockBufferOutObject)
  imageDescriptionBlockBufferOut.pointee = ToC.retained(imageDescriptionBlockBufferOutObject)
  return result
}

@c @implementation
public func CMSwapBigEndianImageDescriptionToHost(
  _ imageDescriptionData: UnsafeMutablePointer<UInt8>?, _ size: Int
) -> Int32 {
  guard let imageDescriptionData else { return kCMFormatDescriptionBridgeError_InvalidParameter }
  return CoreMedia.CMSwapBigEndianImageDescriptionToHost(imageDescriptionData, size)
}

@c @implementation
public func CMSwapHostEndianImageDescriptionToBig(
  _ imageDescriptionData: UnsafeMutablePointer<UInt8>?, _ size: Int
) -> Int32 {
  guard let imageDescriptionData else { return kCMFormatDescriptionBridgeError_InvalidParameter }
  return CoreMedia.CMSwapHostEndianImageDescriptionToBig(imageDescriptionData, size)
}
