// SPDX-License-Identifier: Apache-2.0
import CoreVideo

/// The type identifier of sample buffers.
@discardableResult
public func CMSampleBufferGetTypeID() -> CFTypeID { CMSampleBuffer.cfTypeID }

// MARK: - Data

/// Sets the data of a sample buffer, which can be done once. The sample buffer does not become
/// ready by it.
///
/// - Returns: `kCMSampleBufferError_AlreadyHasDataBuffer` if it has data or an image.
@discardableResult
public func CMSampleBufferSetDataBuffer(_ sbuf: CMSampleBuffer, newValue dataBuffer: CMBlockBuffer)
  -> OSStatus
{
  sbuf.setBlockBuffer(dataBuffer)
}

/// Returns the data of all samples, one after the other; nil if there is none.
@discardableResult
public func CMSampleBufferGetDataBuffer(_ sbuf: CMSampleBuffer) -> CMBlockBuffer? { sbuf.blockBuffer }

/// Returns the image; nil if there is none.
@discardableResult
public func CMSampleBufferGetImageBuffer(_ sbuf: CMSampleBuffer) -> CVImageBuffer? {
  sbuf.isInvalidated ? nil : sbuf.image
}

/// Returns the format of all samples; nil if there is none.
@discardableResult
public func CMSampleBufferGetFormatDescription(_ sbuf: CMSampleBuffer) -> CMFormatDescription? { sbuf.format }

// MARK: - Readiness

/// Marks the data as ready.
@discardableResult
public func CMSampleBufferSetDataReady(_ sbuf: CMSampleBuffer) -> OSStatus { sbuf.setReadiness(.ready) }

/// Returns whether the data of this sample buffer, or of the one that it tracks, is ready.
@discardableResult
public func CMSampleBufferDataIsReady(_ sbuf: CMSampleBuffer) -> Bool { sbuf.currentReadiness == .ready }

/// Marks the data as failed with a status: it will never be ready.
@discardableResult
public func CMSampleBufferSetDataFailed(_ sbuf: CMSampleBuffer, status: OSStatus) -> OSStatus {
  sbuf.setReadiness(.failed(status))
}

/// Returns whether the data has failed, and the status with which it did.
@discardableResult
public func CMSampleBufferHasDataFailed(_ sbuf: CMSampleBuffer, statusOut: UnsafeMutablePointer<OSStatus>?)
  -> Bool
{
  guard case .failed(let status) = sbuf.currentReadiness else { return false }
  statusOut?.pointee = status
  return true
}

/// Makes the data ready by calling the function that was given for it.
///
/// - Returns: The error of that function; `kCMSampleBufferError_BufferNotReady` if there is none.
@discardableResult
public func CMSampleBufferMakeDataReady(_ sbuf: CMSampleBuffer) -> OSStatus { sbuf.makeReadyNow() }

/// Makes a sample buffer ready whenever another one is ready.
@discardableResult
public func CMSampleBufferTrackDataReadiness(_ sbuf: CMSampleBuffer, sampleBufferToTrack: CMSampleBuffer)
  -> OSStatus
{
  sbuf.track(sampleBufferToTrack)
}

// MARK: - Validity

/// Called when a sample buffer is invalidated.
public typealias CMSampleBufferInvalidateCallback = @Sendable (CMSampleBuffer, UInt64) -> Void
/// Called when a sample buffer is invalidated.
public typealias CMSampleBufferInvalidateHandler = (CMSampleBuffer) -> Void

/// Makes a sample buffer unusable, releases its data and calls its invalidation function.
@discardableResult
public func CMSampleBufferInvalidate(_ sbuf: CMSampleBuffer) -> OSStatus { sbuf.invalidateNow() }

/// Sets the function that is called when the sample buffer is invalidated, in place of an earlier
/// one.
@discardableResult
@preconcurrency public func CMSampleBufferSetInvalidateCallback(
  _ sbuf: CMSampleBuffer, callback invalidateCallback: @escaping CMSampleBufferInvalidateCallback,
  refcon invalidateRefCon: UInt64
) -> OSStatus {
  sbuf.setOnInvalidate { invalidateCallback($0, invalidateRefCon) }
}

/// Sets the function that is called when the sample buffer is invalidated, in place of an earlier
/// one.
@discardableResult
public func CMSampleBufferSetInvalidateHandler(
  _ sbuf: CMSampleBuffer, invalidateHandler: @escaping CMSampleBufferInvalidateHandler
) -> OSStatus {
  sbuf.setOnInvalidate(invalidateHandler)
}

/// Returns whether a sample buffer has not been invalidated.
@discardableResult
public func CMSampleBufferIsValid(_ sbuf: CMSampleBuffer) -> Bool { !sbuf.isInvalidated }
