// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

@c @implementation
public func CMVideoFormatDescriptionCreateForImageBuffer(
  _ allocator: OpaquePointer?, _ imageBuffer: OpaquePointer?,
  _ formatDescriptionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  formatDescriptionOut?.pointee = nil
  guard let formatDescriptionOut else { return kCMFormatDescriptionError_InvalidParameter }
  guard let imageBuffer = FromC.object(imageBuffer, CVBuffer.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  var formatDescriptionOutObject: CMVideoFormatDescription?
  let result = CoreMedia.CMVideoFormatDescriptionCreateForImageBuffer(
    allocator: FromC.allocator(allocator), imageBuffer: imageBuffer,
    formatDescriptionOut: &formatDescriptionOutObject)
  formatDescriptionOut.pointee = ToC.retained(formatDescriptionOutObject)
  return result
}

@c @implementation
public func CMVideoFormatDescriptionGetExtensionKeysCommonWithImageBuffers() -> OpaquePointer? {
  ToC.interned(CoreMedia.CMVideoFormatDescriptionGetExtensionKeysCommonWithImageBuffers())
}

@c @implementation
public func CMVideoFormatDescriptionMatchesImageBuffer(_ desc: OpaquePointer?, _ imageBuffer: OpaquePointer?)
  -> UInt8
{
  guard let desc = FromC.object(desc, CMFormatDescription.self) else { return 0 }
  guard let imageBuffer = FromC.object(imageBuffer, CVBuffer.self) else { return 0 }
  return CoreMedia.CMVideoFormatDescriptionMatchesImageBuffer(desc, imageBuffer: imageBuffer) ? 1 : 0
}

@c @implementation
public func CMVideoFormatDescriptionCreate(
  _ allocator: OpaquePointer?, _ codecType: UInt32, _ width: Int32, _ height: Int32,
  _ extensions: OpaquePointer?, _ formatDescriptionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  formatDescriptionOut?.pointee = nil
  guard let formatDescriptionOut else { return kCMFormatDescriptionError_InvalidParameter }
  guard let extensions = FromC.optionalDictionary(extensions) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  var formatDescriptionOutObject: CMFormatDescription?
  let result = CoreMedia.CMVideoFormatDescriptionCreate(
    allocator: FromC.allocator(allocator), codecType: codecType, width: width, height: height,
    extensions: extensions, formatDescriptionOut: &formatDescriptionOutObject)
  formatDescriptionOut.pointee = ToC.retained(formatDescriptionOutObject)
  return result
}

@c @implementation
public func CMVideoFormatDescriptionGetH264ParameterSetAtIndex(
  _ videoDesc: OpaquePointer?, _ parameterSetIndex: Int,
  _ parameterSetPointerOut: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  _ parameterSetSizeOut: UnsafeMutablePointer<Int>?, _ parameterSetCountOut: UnsafeMutablePointer<Int>?,
  _ NALUnitHeaderLengthOut: UnsafeMutablePointer<Int32>?
) -> Int32 {
  guard let videoDesc = FromC.object(videoDesc, CMFormatDescription.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  return CoreMedia.CMVideoFormatDescriptionGetH264ParameterSetAtIndex(
    videoDesc, parameterSetIndex: parameterSetIndex, parameterSetPointerOut: parameterSetPointerOut,
    parameterSetSizeOut: parameterSetSizeOut, parameterSetCountOut: parameterSetCountOut,
    nalUnitHeaderLengthOut: NALUnitHeaderLengthOut)
}

@c @implementation
public func CMVideoFormatDescriptionGetHEVCParameterSetAtIndex(
  _ videoDesc: OpaquePointer?, _ parameterSetIndex: Int,
  _ parameterSetPointerOut: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  _ parameterSetSizeOut: UnsafeMutablePointer<Int>?, _ parameterSetCountOut: UnsafeMutablePointer<Int>?,
  _ NALUnitHeaderLengthOut: UnsafeMutablePointer<Int32>?
) -> Int32 {
  guard let videoDesc = FromC.object(videoDesc, CMFormatDescription.self) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  return CoreMedia.CMVideoFormatDescriptionGetHEVCParameterSetAtIndex(
    videoDesc, parameterSetIndex: parameterSetIndex, parameterSetPointerOut: parameterSetPointerOut,
    parameterSetSizeOut: parameterSetSizeOut, parameterSetCountOut: parameterSetCountOut,
    nalUnitHeaderLengthOut: NALUnitHeaderLengthOut)
}

@c @implementation
public func CMVideoFormatDescriptionGetDimensions(_ videoDesc: OpaquePointer?) -> C_CMVideoDimensions {
  guard let videoDesc = FromC.object(videoDesc, CMFormatDescription.self) else {
    return C_CMVideoDimensions()
  }
  return ToC.value(CoreMedia.CMVideoFormatDescriptionGetDimensions(videoDesc))
}

@c @implementation
public func CMVideoFormatDescriptionGetPresentationDimensions(
  _ videoDesc: OpaquePointer?, _ usePixelAspectRatio: UInt8, _ useCleanAperture: UInt8
) -> C_CGSize {
  guard let videoDesc = FromC.object(videoDesc, CMFormatDescription.self) else { return C_CGSize() }
  return ToC.value(
    CoreMedia.CMVideoFormatDescriptionGetPresentationDimensions(
      videoDesc, usePixelAspectRatio: usePixelAspectRatio != 0, useCleanAperture: useCleanAperture != 0))
}

@c @implementation
public func CMVideoFormatDescriptionGetCleanAperture(_ videoDesc: OpaquePointer?, _ originIsAtTopLeft: UInt8)
  -> C_CGRect
{
  guard let videoDesc = FromC.object(videoDesc, CMFormatDescription.self) else { return C_CGRect() }
  return ToC.value(
    CoreMedia.CMVideoFormatDescriptionGetCleanAperture(videoDesc, originIsAtTopLeft: originIsAtTopLeft != 0))
}
