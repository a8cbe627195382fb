// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

// On macOS these are functions of C, refined for Swift: two underscores come before their names.

/// The session of the functions below.
public typealias __VTMotionEstimationSession = VTMotionEstimationSession
/// Options for a pair of pictures.
public typealias __VTMotionEstimationFrameFlags = VTMotionEstimationSession.FrameFlags

/// Information about an estimation; there is none at present.
public struct VTMotionEstimationInfoFlags: OptionSet, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// Receives a status, which is `noErr` or says why there are no vectors; information flags;
/// additional information, which is nil; and the vectors, or nil if there are none. See
/// ``VTMotionEstimationSession`` for their layout.
public typealias VTMotionEstimationOutputHandler =
  @Sendable (
    _ status: OSStatus, _ infoFlags: VTMotionEstimationInfoFlags, _ additionalInfo: CFDictionary?,
    _ motionVectorPixelBuffer: CVPixelBuffer?
  ) -> Void

/// The edge of the blocks in pixels, a number: 4, or 16 unless given.
public nonisolated(unsafe) let kVTMotionEstimationSessionCreationOption_MotionVectorSize: CFString =
  "MotionVectorSize"
/// Whether vectors point to quarters of a pixel, a Boolean: false unless given.
public nonisolated(unsafe) let kVTMotionEstimationSessionCreationOption_UseMultiPassSearch: CFString =
  "UseMultiPassSearch"
/// The former name of `kVTMotionEstimationSessionCreationOption_UseMultiPassSearch`.
public nonisolated(unsafe) let kVTMotionEstimationSessionCreationOption_DetectTrueMotion: CFString =
  "UseMultiPassSearch"
/// A text by which the program recognises the session, a string.
public nonisolated(unsafe) let kVTMotionEstimationSessionCreationOption_Label: CFString = "Label"

/// Creates a session.
/// - Parameters:
///   - allocator: Ignored, as all memory is Swift's.
///   - motionVectorProcessorSelectionOptions: The options of creation, or nil.
///   - width: The width of the pictures, 1 to 16384 pixels.
///   - height: Their height, 1 to 16384 pixels.
///   - motionEstimationSessionOut: Receives the session.
/// - Returns: `kVTParameterErr` for another size, or an option of another type or value.
@discardableResult
public func __VTMotionEstimationSessionCreate(
  _ allocator: CFAllocator?, _ motionVectorProcessorSelectionOptions: CFDictionary?, _ width: UInt32,
  _ height: UInt32, _ motionEstimationSessionOut: UnsafeMutablePointer<VTMotionEstimationSession?>
) -> OSStatus {
  motionEstimationSessionOut.pointee = nil
  var size = VTMotionEstimationSession.BlockSize.blockSize16x16
  var isMultiPass = false
  var label: String?
  if let options = motionVectorProcessorSelectionOptions {
    if let value = options[kVTMotionEstimationSessionCreationOption_MotionVectorSize] {
      guard let number = value as? NSNumber,
        let known = VTMotionEstimationSession.BlockSize(rawValue: number.intValue)
      else { return kVTParameterErr }
      size = known
    }
    if let value = options[kVTMotionEstimationSessionCreationOption_UseMultiPassSearch] {
      guard let number = value as? NSNumber else { return kVTParameterErr }
      isMultiPass = number.boolValue
    }
    if let value = options[kVTMotionEstimationSessionCreationOption_Label] {
      guard let text = value as? String else { return kVTParameterErr }
      label = text
    }
  }
  guard
    let made = try? VTMotionEstimationSession(
      width: width, height: height, motionVectorSize: size, useMultiPassSearch: isMultiPass, label: label)
  else { return kVTParameterErr }
  motionEstimationSessionOut.pointee = made
  return noErr
}

/// Ends a session: every further call returns `kVTInvalidSessionErr`. Handlers of earlier calls are
/// still called.
public func __VTMotionEstimationSessionInvalidate(_ session: VTMotionEstimationSession) {
  session.invalidate()
}

/// The type identifier of motion estimation sessions.
@discardableResult
public func VTMotionEstimationSessionGetTypeID() -> CFTypeID { VTMotionEstimationSession.cfTypeID }

/// Copies the size and the pixel format that suit the session best.
@discardableResult
public func __VTMotionEstimationSessionCopySourcePixelBufferAttributes(
  _ motionEstimationSession: VTMotionEstimationSession,
  _ attributesOut: UnsafeMutablePointer<CFDictionary?>
) -> OSStatus {
  attributesOut.pointee = motionEstimationSession.sourcePixelBufferAttributes as NSDictionary
  return noErr
}

/// Estimates the motion of a picture, and calls a handler on the session's queue.
/// - Parameters:
///   - session: The session.
///   - referenceImage: The picture in which the blocks of the other are searched for.
///   - currentImage: The picture whose blocks are searched for, of the same pixel format.
///   - motionEstimationFrameFlags: Options for this pair.
///   - additionalFrameOptions: Nil; it is not read.
///   - outputHandler: Receives the vectors. It is not called if the function returns an error.
/// - Returns: `kVTParameterErr` for pictures of another size or of two pixel formats,
///   `kVTPixelTransferNotSupportedErr` for a pixel format that cannot be converted, and
///   `kVTInvalidSessionErr` after the session has been ended.
@discardableResult
public func __VTMotionEstimationSessionEstimateMotionVectors(
  _ session: VTMotionEstimationSession, _ referenceImage: CVPixelBuffer, _ currentImage: CVPixelBuffer,
  _ motionEstimationFrameFlags: VTMotionEstimationSession.FrameFlags,
  _ additionalFrameOptions: CFDictionary?, _ outputHandler: @escaping VTMotionEstimationOutputHandler
) -> OSStatus {
  session.estimate(currentImage, comparedTo: referenceImage, motionEstimationFrameFlags) { status, vectors in
    outputHandler(status, [], nil, vectors)
  }
}

/// Waits until the handlers of all earlier calls have returned; in a handler it returns at once.
@discardableResult
public func __VTMotionEstimationSessionCompleteFrames(_ session: VTMotionEstimationSession) -> OSStatus {
  session.completeFrames()
}
