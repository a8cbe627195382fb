// SPDX-License-Identifier: Apache-2.0
import CoreVideo

/// The type identifier of sample buffers.
@discardableResult
public func CMSampleBufferGetTypeID() -> CFTypeID { CMSampleBuffer.cfTypeID }

// MARK: - Data

/// Gives a sample buffer its data, once. It does not become ready by that.
///
/// - Returns: `kCMSampleBufferError_AlreadyHasDataBuffer` if it has data or an image.
@discardableResult
public func CMSampleBufferSetDataBuffer(_ sbuf: CMSampleBuffer, newValue dataBuffer: CMBlockBuffer)
  -> OSStatus
{
  sbuf.setBlockBuffer(dataBuffer)
}

/// The data of all samples, one after the other; nil if there is none.
@discardableResult
public func CMSampleBufferGetDataBuffer(_ sbuf: CMSampleBuffer) -> CMBlockBuffer? { sbuf.blockBuffer }

/// The image; nil if this is not a sample buffer of an image.
@discardableResult
public func CMSampleBufferGetImageBuffer(_ sbuf: CMSampleBuffer) -> CVImageBuffer? {
  sbuf.isInvalidated ? nil : sbuf.image
}

/// The format of all samples.
@discardableResult
public func CMSampleBufferGetFormatDescription(_ sbuf: CMSampleBuffer) -> CMFormatDescription? { sbuf.format }

// MARK: - Readiness

/// Says that the data is ready now.
@discardableResult
public func CMSampleBufferSetDataReady(_ sbuf: CMSampleBuffer) -> OSStatus { sbuf.setReadiness(.ready) }

/// Whether the data is ready, of this sample buffer or the one that it tracks.
@discardableResult
public func CMSampleBufferDataIsReady(_ sbuf: CMSampleBuffer) -> Bool { sbuf.currentReadiness == .ready }

/// Says that the data will never be ready, and why.
@discardableResult
public func CMSampleBufferSetDataFailed(_ sbuf: CMSampleBuffer, status: OSStatus) -> OSStatus {
  sbuf.setReadiness(.failed(status))
}

/// Whether the data will never be ready, and why.
@discardableResult
public func CMSampleBufferHasDataFailed(_ sbuf: CMSampleBuffer, statusOut: UnsafeMutablePointer<OSStatus>?)
  -> Bool
{
  guard case .failed(let status) = sbuf.currentReadiness else { return false }
  statusOut?.pointee = status
  return true
}

/// Has the data made ready by the function that was given for it.
///
/// - Returns: That function's error; `kCMSampleBufferError_BufferNotReady` if there is none.
@discardableResult
public func CMSampleBufferMakeDataReady(_ sbuf: CMSampleBuffer) -> OSStatus { sbuf.makeReadyNow() }

/// Makes a sample buffer ready whenever another one is.
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

/// Sets the function to call when the sample buffer is invalidated, instead of an earlier one.
@discardableResult
@preconcurrency public func CMSampleBufferSetInvalidateCallback(
  _ sbuf: CMSampleBuffer, callback invalidateCallback: @escaping CMSampleBufferInvalidateCallback,
  refcon invalidateRefCon: UInt64
) -> OSStatus {
  sbuf.setOnInvalidate { invalidateCallback($0, invalidateRefCon) }
}

/// Sets the function to call when the sample buffer is invalidated, instead of an earlier one.
@discardableResult
public func CMSampleBufferSetInvalidateHandler(
  _ sbuf: CMSampleBuffer, invalidateHandler: @escaping CMSampleBufferInvalidateHandler
) -> OSStatus {
  sbuf.setOnInvalidate(invalidateHandler)
}

/// Whether a sample buffer was not invalidated.
@discardableResult
public func CMSampleBufferIsValid(_ sbuf: CMSampleBuffer) -> Bool { !sbuf.isInvalidated }
