// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import VideoToolbox

@c @implementation
public func VTDecompressionSessionInvalidate(_ session: OpaquePointer?) {
  guard let session = FromC.object(session, VTDecompressionSession.self) else { return }
  VideoToolbox.VTDecompressionSessionInvalidate(session)
}

@c @implementation
public func VTDecompressionSessionGetTypeID() -> UInt {
  VideoToolbox.VTDecompressionSessionGetTypeID()
}

@c @implementation
public func VTDecompressionSessionFinishDelayedFrames(_ session: OpaquePointer?) -> Int32 {
  guard let session = FromC.object(session, VTDecompressionSession.self) else { return kVTInvalidSessionErr }
  return VideoToolbox.VTDecompressionSessionFinishDelayedFrames(session)
}

@c @implementation
public func VTDecompressionSessionCanAcceptFormatDescription(
  _ session: OpaquePointer?, _ newFormatDesc: OpaquePointer?
) -> UInt8 {
  guard let session = FromC.object(session, VTDecompressionSession.self) else { return 0 }
  guard let newFormatDesc = FromC.object(newFormatDesc, CMFormatDescription.self) else { return 0 }
  return VideoToolbox.VTDecompressionSessionCanAcceptFormatDescription(
    session, formatDescription: newFormatDesc) ? 1 : 0
}

@c @implementation
public func VTDecompressionSessionWaitForAsynchronousFrames(_ session: OpaquePointer?) -> Int32 {
  guard let session = FromC.object(session, VTDecompressionSession.self) else { return kVTInvalidSessionErr }
  return VideoToolbox.VTDecompressionSessionWaitForAsynchronousFrames(session)
}

@c @implementation
public func VTDecompressionSessionCopyBlackPixelBuffer(
  _ session: OpaquePointer?, _ pixelBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  pixelBufferOut?.pointee = nil
  guard let pixelBufferOut else { return kVTParameterErr }
  guard let session = FromC.object(session, VTDecompressionSession.self) else { return kVTInvalidSessionErr }
  var pixelBufferOutObject: CVPixelBuffer?
  let result = VideoToolbox.VTDecompressionSessionCopyBlackPixelBuffer(
    session, pixelBufferOut: &pixelBufferOutObject)
  pixelBufferOut.pointee = ToC.retained(pixelBufferOutObject)
  return result
}

@c @implementation
public func VTRegisterSupplementalVideoDecoderIfAvailable(_ codecType: UInt32) {
  VideoToolbox.VTRegisterSupplementalVideoDecoderIfAvailable(codecType)
}

@c @implementation
public func VTRegisterProfessionalVideoWorkflowVideoDecoders() {
  VideoToolbox.VTRegisterProfessionalVideoWorkflowVideoDecoders()
}

@c @implementation
public func VTRegisterProfessionalVideoWorkflowVideoEncoders() {
  VideoToolbox.VTRegisterProfessionalVideoWorkflowVideoEncoders()
}

@c @implementation
public func VTIsHardwareDecodeSupported(_ codecType: UInt32) -> UInt8 {
  VideoToolbox.VTIsHardwareDecodeSupported(codecType) ? 1 : 0
}
