// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import VideoToolbox

@c @implementation
public func VTCompressionSessionGetPixelBufferPool(_ session: OpaquePointer?) -> OpaquePointer? {
  guard let session = FromC.object(session, VTCompressionSession.self) else { return nil }
  return ToC.unretained(VideoToolbox.VTCompressionSessionGetPixelBufferPool(session))
}

@c @implementation
public func VTCompressionSessionInvalidate(_ session: OpaquePointer?) {
  guard let session = FromC.object(session, VTCompressionSession.self) else { return }
  VideoToolbox.VTCompressionSessionInvalidate(session)
}

@c @implementation
public func VTCompressionSessionGetTypeID() -> UInt {
  VideoToolbox.VTCompressionSessionGetTypeID()
}

@c @implementation
public func VTCompressionSessionPrepareToEncodeFrames(_ session: OpaquePointer?) -> Int32 {
  guard let session = FromC.object(session, VTCompressionSession.self) else { return kVTInvalidSessionErr }
  return VideoToolbox.VTCompressionSessionPrepareToEncodeFrames(session)
}

@c @implementation
public func VTCompressionSessionCompleteFrames(
  _ session: OpaquePointer?, _ completeUntilPresentationTimeStamp: C_CMTime
) -> Int32 {
  guard let session = FromC.object(session, VTCompressionSession.self) else { return kVTInvalidSessionErr }
  return VideoToolbox.VTCompressionSessionCompleteFrames(
    session, untilPresentationTimeStamp: FromC.value(completeUntilPresentationTimeStamp))
}

@c @implementation
public func VTCompressionSessionBeginPass(
  _ session: OpaquePointer?, _ beginPassFlags: UInt32, _ reserved: UnsafeMutablePointer<UInt32>?
) -> Int32 {
  guard let session = FromC.object(session, VTCompressionSession.self) else { return kVTInvalidSessionErr }
  return VideoToolbox.VTCompressionSessionBeginPass(session, flags: .init(rawValue: beginPassFlags), reserved)
}

@c @implementation
public func VTCompressionSessionEndPass(
  _ session: OpaquePointer?, _ furtherPassesRequestedOut: UnsafeMutablePointer<UInt8>?,
  _ reserved: UnsafeMutablePointer<UInt32>?
) -> Int32 {
  guard let session = FromC.object(session, VTCompressionSession.self) else { return kVTInvalidSessionErr }
  return VideoToolbox.VTCompressionSessionEndPass(
    session, furtherPassesRequestedOut: rebound(furtherPassesRequestedOut), reserved)
}
