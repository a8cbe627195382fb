// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import VideoToolbox

@c @implementation
public func VTMultiPassStorageGetTypeID() -> UInt {
  VideoToolbox.VTMultiPassStorageGetTypeID()
}

@c @implementation
public func VTMultiPassStorageCreate(
  _ allocator: OpaquePointer?, _ fileURL: OpaquePointer?, _ timeRange: C_CMTimeRange,
  _ options: OpaquePointer?, _ multiPassStorageOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  multiPassStorageOut?.pointee = nil
  guard let multiPassStorageOut else { return kVTParameterErr }
  guard let fileURL = FromC.optionalObject(fileURL, NSURL.self) else { return kVTParameterErr }
  guard let options = FromC.optionalDictionary(options) else { return kVTParameterErr }
  var multiPassStorageOutObject: VTMultiPassStorage?
  let result = VideoToolbox.VTMultiPassStorageCreate(
    allocator: FromC.allocator(allocator), fileURL: fileURL, timeRange: FromC.value(timeRange),
    options: options, multiPassStorageOut: &multiPassStorageOutObject)
  multiPassStorageOut.pointee = ToC.retained(multiPassStorageOutObject)
  return result
}

@c @implementation
public func VTMultiPassStorageClose(_ multiPassStorage: OpaquePointer?) -> Int32 {
  guard let multiPassStorage = FromC.object(multiPassStorage, VTMultiPassStorage.self) else {
    return kVTParameterErr
  }
  return VideoToolbox.VTMultiPassStorageClose(multiPassStorage)
}
