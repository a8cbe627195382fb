// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import VideoToolbox

@c @implementation
public func VTPixelRotationSessionCreate(
  _ allocator: OpaquePointer?, _ pixelRotationSessionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  pixelRotationSessionOut?.pointee = nil
  guard let pixelRotationSessionOut else { return kVTParameterErr }
  var pixelRotationSessionOutObject: VTPixelRotationSession?
  let result = VideoToolbox.VTPixelRotationSessionCreate(
    FromC.allocator(allocator), &pixelRotationSessionOutObject)
  pixelRotationSessionOut.pointee = ToC.retained(pixelRotationSessionOutObject)
  return result
}

@c @implementation
public func VTPixelRotationSessionInvalidate(_ session: OpaquePointer?) {
  guard let session = FromC.object(session, VTPixelRotationSession.self) else { return }
  VideoToolbox.VTPixelRotationSessionInvalidate(session)
}

@c @implementation
public func VTPixelRotationSessionGetTypeID() -> UInt {
  VideoToolbox.VTPixelRotationSessionGetTypeID()
}

@c @implementation
public func VTPixelRotationSessionRotateImage(
  _ session: OpaquePointer?, _ sourceBuffer: OpaquePointer?, _ destinationBuffer: OpaquePointer?
) -> Int32 {
  guard let session = FromC.object(session, VTPixelRotationSession.self) else { return kVTInvalidSessionErr }
  guard let sourceBuffer = FromC.object(sourceBuffer, CVBuffer.self) else { return kVTParameterErr }
  guard let destinationBuffer = FromC.object(destinationBuffer, CVBuffer.self) else { return kVTParameterErr }
  return VideoToolbox.VTPixelRotationSessionRotateImage(session, sourceBuffer, destinationBuffer)
}
