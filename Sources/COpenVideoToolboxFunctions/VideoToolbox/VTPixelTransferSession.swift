// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import VideoToolbox

@c @implementation
public func VTPixelTransferSessionCreate(
  _ allocator: OpaquePointer?, _ pixelTransferSessionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  pixelTransferSessionOut?.pointee = nil
  guard let pixelTransferSessionOut else { return kVTParameterErr }
  var pixelTransferSessionOutObject: VTPixelTransferSession?
  let result = VideoToolbox.VTPixelTransferSessionCreate(
    allocator: FromC.allocator(allocator), pixelTransferSessionOut: &pixelTransferSessionOutObject)
  pixelTransferSessionOut.pointee = ToC.retained(pixelTransferSessionOutObject)
  return result
}

@c @implementation
public func VTPixelTransferSessionInvalidate(_ session: OpaquePointer?) {
  guard let session = FromC.object(session, VTPixelTransferSession.self) else { return }
  VideoToolbox.VTPixelTransferSessionInvalidate(session)
}

@c @implementation
public func VTPixelTransferSessionGetTypeID() -> UInt {
  VideoToolbox.VTPixelTransferSessionGetTypeID()
}

@c @implementation
public func VTPixelTransferSessionTransferImage(
  _ session: OpaquePointer?, _ sourceBuffer: OpaquePointer?, _ destinationBuffer: OpaquePointer?
) -> Int32 {
  guard let session = FromC.object(session, VTPixelTransferSession.self) else { return kVTInvalidSessionErr }
  guard let sourceBuffer = FromC.object(sourceBuffer, CVBuffer.self) else { return kVTParameterErr }
  guard let destinationBuffer = FromC.object(destinationBuffer, CVBuffer.self) else { return kVTParameterErr }
  return VideoToolbox.VTPixelTransferSessionTransferImage(session, from: sourceBuffer, to: destinationBuffer)
}
