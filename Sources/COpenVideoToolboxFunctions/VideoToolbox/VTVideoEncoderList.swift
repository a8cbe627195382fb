// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import VideoToolbox

@c @implementation
public func VTCopyVideoEncoderList(
  _ options: OpaquePointer?, _ listOfVideoEncodersOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  listOfVideoEncodersOut?.pointee = nil
  guard let listOfVideoEncodersOut else { return kVTParameterErr }
  guard let options = FromC.optionalDictionary(options) else { return kVTParameterErr }
  var listOfVideoEncodersOutObject: CFArray?
  let result = VideoToolbox.VTCopyVideoEncoderList(options, &listOfVideoEncodersOutObject)
  listOfVideoEncodersOut.pointee = ToC.retained(listOfVideoEncodersOutObject)
  return result
}

@c @implementation
public func VTCopySupportedPropertyDictionaryForEncoder(
  _ width: Int32, _ height: Int32, _ codecType: UInt32, _ encoderSpecification: OpaquePointer?,
  _ encoderIDOut: UnsafeMutablePointer<OpaquePointer?>?,
  _ supportedPropertiesOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  supportedPropertiesOut?.pointee = nil
  encoderIDOut?.pointee = nil
  guard let encoderSpecification = FromC.optionalDictionary(encoderSpecification) else {
    return kVTParameterErr
  }
  var encoderIDOutObject: CFString?
  var supportedPropertiesOutObject: CFDictionary?
  let result = VideoToolbox.VTCopySupportedPropertyDictionaryForEncoder(
    width: width, height: height, codecType: codecType, encoderSpecification: encoderSpecification,
    encoderIDOut: &encoderIDOutObject, supportedPropertiesOut: &supportedPropertiesOutObject)
  encoderIDOut?.pointee = ToC.retained(encoderIDOutObject)
  supportedPropertiesOut?.pointee = ToC.retained(supportedPropertiesOutObject)
  return result
}
