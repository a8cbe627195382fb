// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import VideoToolbox

@c @implementation
public func VTFrameSiloGetTypeID() -> UInt {
  VideoToolbox.VTFrameSiloGetTypeID()
}

@c @implementation
public func VTFrameSiloCreate(
  _ allocator: OpaquePointer?, _ fileURL: OpaquePointer?, _ timeRange: C_CMTimeRange,
  _ options: OpaquePointer?, _ frameSiloOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  frameSiloOut?.pointee = nil
  guard let frameSiloOut else { return kVTParameterErr }
  guard let fileURL = FromC.optionalObject(fileURL, NSURL.self) else { return kVTParameterErr }
  guard let options = FromC.optionalDictionary(options) else { return kVTParameterErr }
  var frameSiloOutObject: VTFrameSilo?
  let result = VideoToolbox.VTFrameSiloCreate(
    allocator: FromC.allocator(allocator), fileURL: fileURL, timeRange: FromC.value(timeRange),
    options: options, frameSiloOut: &frameSiloOutObject)
  frameSiloOut.pointee = ToC.retained(frameSiloOutObject)
  return result
}

@c @implementation
public func VTFrameSiloAddSampleBuffer(_ silo: OpaquePointer?, _ sampleBuffer: OpaquePointer?) -> Int32 {
  guard let silo = FromC.object(silo, VTFrameSilo.self) else { return kVTParameterErr }
  guard let sampleBuffer = FromC.object(sampleBuffer, CMSampleBuffer.self) else { return kVTParameterErr }
  return VideoToolbox.VTFrameSiloAddSampleBuffer(silo, sampleBuffer: sampleBuffer)
}

@c @implementation
public func VTFrameSiloGetProgressOfCurrentPass(
  _ silo: OpaquePointer?, _ progressOut: UnsafeMutablePointer<Float>?
) -> Int32 {
  guard let silo = FromC.object(silo, VTFrameSilo.self) else { return kVTParameterErr }
  guard let progressOut else { return kVTParameterErr }
  return VideoToolbox.VTFrameSiloGetProgressOfCurrentPass(silo, progressOut: progressOut)
}
