// SPDX-License-Identifier: Apache-2.0
import CoreVideo

/// Makes the data of a sample buffer ready. Returns `noErr`, or the error because of which it
/// cannot.
public typealias CMSampleBufferMakeDataReadyCallback =
  @Sendable (CMSampleBuffer, UnsafeMutableRawPointer?) -> OSStatus
/// Makes the data of a sample buffer ready. Returns `noErr`, or the error because of which it
/// cannot.
public typealias CMSampleBufferMakeDataReadyHandler = (CMSampleBuffer) -> OSStatus

/// Binds the context pointer to a callback.
private func handler(
  _ callback: CMSampleBufferMakeDataReadyCallback?, _ refcon: UnsafeMutableRawPointer?
) -> CMSampleBufferMakeDataReadyHandler? {
  callback.map { callback in { callback($0, refcon) } }
}

// MARK: - Compressed or other data

/// Creates a sample buffer with data that may become ready later.
///
/// - Parameters:
///   - allocator: Not used.
///   - dataBuffer: The data of all samples, one after the other. It may be set later with
///     `CMSampleBufferSetDataBuffer`.
///   - dataReady: Whether the data is ready.
///   - makeDataReadyCallback: Called by `CMSampleBufferMakeDataReady`.
///   - makeDataReadyRefcon: A context pointer that is passed to the callback.
///   - formatDescription: The format of the samples.
///   - numSamples: The number of samples; 0 for a marker.
///   - numSampleTimingEntries: The number of timing entries: 0 for unknown timing, 1 for the timing
///     of the first sample, after which each sample follows at the distance of its duration, or the
///     number of samples.
///   - sampleTimingArray: The timing entries.
///   - numSampleSizeEntries: The number of size entries: 0 for unknown sizes, 1 if all samples have
///     the same size, or the number of samples.
///   - sampleSizeArray: The sizes in bytes.
///   - sampleBufferOut: Receives the sample buffer.
/// - Returns: `kCMSampleBufferError_InvalidEntryCount` for another number of entries,
///   `kCMSampleBufferError_RequiredParameterMissing` for a missing array,
///   `kCMSampleBufferError_InvalidSampleData` for a negative size.
@discardableResult
@preconcurrency public func CMSampleBufferCreate(
  allocator: CFAllocator?, dataBuffer: CMBlockBuffer?, dataReady: Bool,
  makeDataReadyCallback: CMSampleBufferMakeDataReadyCallback?,
  refcon makeDataReadyRefcon: UnsafeMutableRawPointer?, formatDescription: CMFormatDescription?,
  sampleCount numSamples: CMItemCount, sampleTimingEntryCount numSampleTimingEntries: CMItemCount,
  sampleTimingArray: UnsafePointer<CMSampleTimingInfo>?,
  sampleSizeEntryCount numSampleSizeEntries: CMItemCount, sampleSizeArray: UnsafePointer<Int>?,
  sampleBufferOut: UnsafeMutablePointer<CMSampleBuffer?>
) -> OSStatus {
  CMSampleBufferCreateWithMakeDataReadyHandler(
    allocator, dataBuffer, dataReady, formatDescription, numSamples, numSampleTimingEntries,
    sampleTimingArray, numSampleSizeEntries, sampleSizeArray, sampleBufferOut,
    handler(makeDataReadyCallback, makeDataReadyRefcon))
}

/// Creates a sample buffer with data that may become ready later; see `CMSampleBufferCreate`.
@discardableResult
public func CMSampleBufferCreateWithMakeDataReadyHandler(
  _ allocator: CFAllocator?, _ dataBuffer: CMBlockBuffer?, _ dataReady: Bool,
  _ formatDescription: CMFormatDescription?, _ numSamples: CMItemCount,
  _ numSampleTimingEntries: CMItemCount, _ sampleTimingArray: UnsafePointer<CMSampleTimingInfo>?,
  _ numSampleSizeEntries: CMItemCount, _ sampleSizeArray: UnsafePointer<Int>?,
  _ sampleBufferOut: UnsafeMutablePointer<CMSampleBuffer?>,
  _ makeDataReadyHandler: CMSampleBufferMakeDataReadyHandler?
) -> OSStatus {
  sampleBufferOut.pointee = nil
  guard numSamples >= 0, numSampleTimingEntries >= 0, numSampleSizeEntries >= 0 else {
    return kCMSampleBufferError_InvalidEntryCount
  }
  if numSampleTimingEntries > 0 && sampleTimingArray == nil
    || numSampleSizeEntries > 0 && sampleSizeArray == nil
  {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  guard
    let timings = SampleTimings(
      sampleTimingArray, entryCount: numSampleTimingEntries, sampleCount: numSamples),
    let sizes = SampleSizes(sampleSizeArray, entryCount: numSampleSizeEntries, sampleCount: numSamples)
  else { return kCMSampleBufferError_InvalidEntryCount }
  if sizes.hasNegative { return kCMSampleBufferError_InvalidSampleData }
  sampleBufferOut.pointee = CMSampleBuffer(
    data: dataBuffer, image: nil, isReady: dataReady, format: formatDescription, sampleCount: numSamples,
    timings: timings, sizes: sizes, makeReady: makeDataReadyHandler)
  return noErr
}

/// Creates a sample buffer with data that is ready; see `CMSampleBufferCreate`.
@discardableResult
public func CMSampleBufferCreateReady(
  allocator: CFAllocator?, dataBuffer: CMBlockBuffer?, formatDescription: CMFormatDescription?,
  sampleCount numSamples: CMItemCount, sampleTimingEntryCount numSampleTimingEntries: CMItemCount,
  sampleTimingArray: UnsafePointer<CMSampleTimingInfo>?,
  sampleSizeEntryCount numSampleSizeEntries: CMItemCount, sampleSizeArray: UnsafePointer<Int>?,
  sampleBufferOut: UnsafeMutablePointer<CMSampleBuffer?>
) -> OSStatus {
  CMSampleBufferCreateWithMakeDataReadyHandler(
    allocator, dataBuffer, true, formatDescription, numSamples, numSampleTimingEntries, sampleTimingArray,
    numSampleSizeEntries, sampleSizeArray, sampleBufferOut, nil)
}

// MARK: - Images

/// Creates a sample buffer with an image, whose pixels may become ready later.
///
/// - Returns: `kCMSampleBufferError_InvalidMediaFormat` if the format description does not describe
///   the image.
@discardableResult
@preconcurrency public func CMSampleBufferCreateForImageBuffer(
  allocator: CFAllocator?, imageBuffer: CVImageBuffer, dataReady: Bool,
  makeDataReadyCallback: CMSampleBufferMakeDataReadyCallback?,
  refcon makeDataReadyRefcon: UnsafeMutableRawPointer?, formatDescription: CMVideoFormatDescription,
  sampleTiming: UnsafePointer<CMSampleTimingInfo>, sampleBufferOut: UnsafeMutablePointer<CMSampleBuffer?>
) -> OSStatus {
  CMSampleBufferCreateForImageBufferWithMakeDataReadyHandler(
    allocator, imageBuffer, dataReady, formatDescription, sampleTiming, sampleBufferOut,
    handler(makeDataReadyCallback, makeDataReadyRefcon))
}

/// Creates a sample buffer with an image; see `CMSampleBufferCreateForImageBuffer`.
@discardableResult
public func CMSampleBufferCreateForImageBufferWithMakeDataReadyHandler(
  _ allocator: CFAllocator?, _ imageBuffer: CVImageBuffer, _ dataReady: Bool,
  _ formatDescription: CMVideoFormatDescription, _ sampleTiming: UnsafePointer<CMSampleTimingInfo>,
  _ sampleBufferOut: UnsafeMutablePointer<CMSampleBuffer?>,
  _ makeDataReadyHandler: CMSampleBufferMakeDataReadyHandler?
) -> OSStatus {
  sampleBufferOut.pointee = nil
  guard CMVideoFormatDescriptionMatchesImageBuffer(formatDescription, imageBuffer: imageBuffer) else {
    return kCMSampleBufferError_InvalidMediaFormat
  }
  sampleBufferOut.pointee = CMSampleBuffer(
    data: nil, image: imageBuffer, isReady: dataReady, format: formatDescription, sampleCount: 1,
    timings: .uniform(sampleTiming.pointee), sizes: .unknown, makeReady: makeDataReadyHandler)
  return noErr
}

/// Creates a sample buffer with an image that is ready; see `CMSampleBufferCreateForImageBuffer`.
@discardableResult
public func CMSampleBufferCreateReadyWithImageBuffer(
  allocator: CFAllocator?, imageBuffer: CVImageBuffer, formatDescription: CMVideoFormatDescription,
  sampleTiming: UnsafePointer<CMSampleTimingInfo>, sampleBufferOut: UnsafeMutablePointer<CMSampleBuffer?>
) -> OSStatus {
  CMSampleBufferCreateForImageBufferWithMakeDataReadyHandler(
    allocator, imageBuffer, true, formatDescription, sampleTiming, sampleBufferOut, nil)
}
