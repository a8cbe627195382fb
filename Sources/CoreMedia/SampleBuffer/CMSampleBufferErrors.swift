// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// There is not enough memory.
public let kCMSampleBufferError_AllocationFailed: OSStatus = -12730
/// A required parameter is missing.
public let kCMSampleBufferError_RequiredParameterMissing: OSStatus = -12731
/// The sample buffer has its data already.
public let kCMSampleBufferError_AlreadyHasDataBuffer: OSStatus = -12732
/// The data is not ready, and there is no function that makes it ready.
public let kCMSampleBufferError_BufferNotReady: OSStatus = -12733
/// There is no sample with this index.
public let kCMSampleBufferError_SampleIndexOutOfRange: OSStatus = -12734
/// The sizes of the samples are unknown.
public let kCMSampleBufferError_BufferHasNoSampleSizes: OSStatus = -12735
/// The timing of the samples is unknown.
public let kCMSampleBufferError_BufferHasNoSampleTimingInfo: OSStatus = -12736
/// The array does not have space for all entries.
public let kCMSampleBufferError_ArrayTooSmall: OSStatus = -12737
/// The number of entries is not 0, 1 or the number of samples.
public let kCMSampleBufferError_InvalidEntryCount: OSStatus = -12738
/// The sample buffer cannot be divided into samples.
public let kCMSampleBufferError_CannotSubdivide: OSStatus = -12739
/// The timing is invalid.
public let kCMSampleBufferError_SampleTimingInfoInvalid: OSStatus = -12740
/// The operation is not available for this media type.
public let kCMSampleBufferError_InvalidMediaTypeForOperation: OSStatus = -12741
/// The data does not match the sizes.
public let kCMSampleBufferError_InvalidSampleData: OSStatus = -12742
/// The format does not describe the media.
public let kCMSampleBufferError_InvalidMediaFormat: OSStatus = -12743
/// The sample buffer has been invalidated.
public let kCMSampleBufferError_Invalidated: OSStatus = -12744
/// The data has failed and will never be ready.
public let kCMSampleBufferError_DataFailed: OSStatus = -16750
/// Making the data ready was cancelled.
public let kCMSampleBufferError_DataCanceled: OSStatus = -16751

extension CMSampleBuffer {
  /// The errors that sample buffers throw, in `NSOSStatusErrorDomain`.
  public struct Error: Sendable {
    public static let allocationFailed = osStatusError(kCMSampleBufferError_AllocationFailed)
    public static let requiredParameterMissing = osStatusError(kCMSampleBufferError_RequiredParameterMissing)
    public static let alreadyHasDataBuffer = osStatusError(kCMSampleBufferError_AlreadyHasDataBuffer)
    public static let bufferNotReady = osStatusError(kCMSampleBufferError_BufferNotReady)
    public static let sampleIndexOutOfRange = osStatusError(kCMSampleBufferError_SampleIndexOutOfRange)
    public static let bufferHasNoSampleSizes = osStatusError(kCMSampleBufferError_BufferHasNoSampleSizes)
    public static let bufferHasNoSampleTimingInfo = osStatusError(
      kCMSampleBufferError_BufferHasNoSampleTimingInfo)
    public static let arrayTooSmall = osStatusError(kCMSampleBufferError_ArrayTooSmall)
    public static let invalidEntryCount = osStatusError(kCMSampleBufferError_InvalidEntryCount)
    public static let cannotSubdivide = osStatusError(kCMSampleBufferError_CannotSubdivide)
    public static let sampleTimingInfoInvalid = osStatusError(kCMSampleBufferError_SampleTimingInfoInvalid)
    public static let invalidMediaTypeForOperation = osStatusError(
      kCMSampleBufferError_InvalidMediaTypeForOperation)
    public static let invalidSampleData = osStatusError(kCMSampleBufferError_InvalidSampleData)
    public static let invalidMediaFormat = osStatusError(kCMSampleBufferError_InvalidMediaFormat)
    public static let invalidated = osStatusError(kCMSampleBufferError_Invalidated)
    public static let dataFailed = osStatusError(kCMSampleBufferError_DataFailed)
    public static let dataCanceled = osStatusError(kCMSampleBufferError_DataCanceled)
  }
}

/// Data of lists of audio buffers begins at addresses that are multiples of 16 bytes.
public let kCMSampleBufferFlag_AudioBufferList_Assure16ByteAlignment: UInt32 = 1 << 0
