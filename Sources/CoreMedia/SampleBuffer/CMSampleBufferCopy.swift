// SPDX-License-Identifier: Apache-2.0
import CoreVideo

extension CMSampleBuffer {
  /// Creates a sample buffer with the same data as another one, or with a part of it.
  ///
  /// - Parameters:
  ///   - original: The other sample buffer.
  ///   - data: The data.
  ///   - sampleRange: The samples, which must not be empty; nil for all.
  ///   - timings: The timing of these samples.
  ///   - sizes: The sizes of these samples.
  convenience init(
    derivedFrom original: CMSampleBuffer, data: CMBlockBuffer?, sampleRange: Range<Int>? = nil,
    timings: SampleTimings, sizes: SampleSizes
  ) {
    let readiness = original.currentReadiness
    self.init(
      data: data, image: original.image, taggedBuffers: original.tagged, isReady: readiness == .ready,
      format: original.format, sampleCount: sampleRange?.count ?? original.sampleCount, timings: timings,
      sizes: sizes)
    switch readiness {
    case .ready: break
    // A copy of data that is not ready becomes ready with the original.
    case .notReady: beginTracking(original)
    case .failed: adoptReadiness(readiness)
    }
    copyAttachments(of: original, samples: sampleRange ?? 0..<original.sampleCount)
    let table = original.withAttachmentTable { $0 }
    if !table.isEmpty { withAttachmentTable { $0.propagate(from: table) } }
  }

  /// Returns the data of a range of samples, and their sizes.
  /// - Parameters:
  ///   - range: The range.
  ///   - knownOffset: The offset of the data of the first sample, if it is known already.
  /// - Returns: An error if the samples cannot be separated.
  func subdivide(
    _ range: Range<Int>, offset knownOffset: Int? = nil
  ) -> Result<(data: CMBlockBuffer?, sizes: SampleSizes), SampleError> {
    guard range.lowerBound >= 0, range.upperBound <= sampleCount, !range.isEmpty else {
      return .failure(.init(kCMSampleBufferError_SampleIndexOutOfRange))
    }
    let data = blockBuffer
    if range.count == sampleCount { return .success((data, sizes)) }
    // If the channels are one after the other, the frames of a part are not contiguous.
    if image != nil || format?.hasChannelsOneAfterTheOther == true {
      return .failure(.init(kCMSampleBufferError_CannotSubdivide))
    }
    var sizes = sizes
    if case .unknown = sizes {
      // In interleaved PCM each frame has the size that the format states.
      guard let bytes = format?.uncompressedBytesPerFrame else {
        return .failure(.init(kCMSampleBufferError_BufferHasNoSampleSizes))
      }
      sizes = .uniform(bytes)
    }
    let partSizes = sizes.range(range)
    guard let data else { return .success((nil, partSizes)) }
    guard let offset = knownOffset ?? sizes.offset(of: range.lowerBound),
      let length = partSizes.offset(of: range.count), length <= CMBlockBufferGetDataLength(data)
    else {
      return .failure(.init(kCMSampleBufferError_InvalidSampleData))
    }
    let part = CMBlockBuffer(subBlockCapacity: 1)
    // A length of zero would mean all bytes: samples without bytes refer to an empty block buffer
    // instead.
    let status =
      length == 0
      ? noErr : part.append(reference: data, offset: offset, dataLength: length, flags: 0)
    return status == noErr
      ? .success((part, partSizes)) : .failure(.init(kCMSampleBufferError_InvalidSampleData))
  }

  /// Returns the number of bytes of a sample, as `subdivide` determines it.
  func dataSize(at index: Int) -> Int {
    if case .unknown = sizes { return format?.uncompressedBytesPerFrame ?? 0 }
    return sizes.size(at: index)
  }

  /// Returns a sample buffer with a range of the samples.
  func part(_ range: Range<Int>, offset: Int? = nil) -> Result<CMSampleBuffer, SampleError> {
    if isInvalidated { return .failure(.init(kCMSampleBufferError_Invalidated)) }
    return subdivide(range, offset: offset).map {
      CMSampleBuffer(
        derivedFrom: self, data: $0.data, sampleRange: range, timings: timings.range(range), sizes: $0.sizes)
    }
  }
}

/// The status of a failed call, as an error.
struct SampleError: Error {
  let status: OSStatus
  init(_ status: OSStatus) { self.status = status }
}

// MARK: - Functions

/// Creates a copy that shares the data. Attachments whose mode is to propagate, and attachments of
/// the samples, are copied.
///
/// If the data is not ready, the copy becomes ready with the original.
@discardableResult
public func CMSampleBufferCreateCopy(
  allocator: CFAllocator?, sampleBuffer sbuf: CMSampleBuffer,
  sampleBufferOut: UnsafeMutablePointer<CMSampleBuffer?>
) -> OSStatus {
  sampleBufferOut.pointee = nil
  if sbuf.isInvalidated { return kCMSampleBufferError_Invalidated }
  let copy = CMSampleBuffer(
    derivedFrom: sbuf, data: sbuf.blockBuffer, timings: sbuf.timings, sizes: sbuf.sizes)
  copy.explicitOutputTime = sbuf.explicitOutputTime
  sampleBufferOut.pointee = copy
  return noErr
}

/// Creates a copy as `CMSampleBufferCreateCopy` does, but with other timing and without an explicit
/// output presentation time.
///
/// - Parameters:
///   - allocator: Not used.
///   - originalSBuf: The sample buffer.
///   - numSampleTimingEntries: The number of entries: 0 for unknown timing, 1 for the timing of the
///     first sample, after which each sample follows at the distance of its duration, or the number
///     of samples.
///   - sampleTimingArray: The entries.
///   - sampleBufferOut: Receives the copy.
/// - Returns: `kCMSampleBufferError_InvalidEntryCount` for another number of entries.
@discardableResult
public func CMSampleBufferCreateCopyWithNewTiming(
  allocator: CFAllocator?, sampleBuffer originalSBuf: CMSampleBuffer,
  sampleTimingEntryCount numSampleTimingEntries: CMItemCount,
  sampleTimingArray: UnsafePointer<CMSampleTimingInfo>?,
  sampleBufferOut: UnsafeMutablePointer<CMSampleBuffer?>
) -> OSStatus {
  sampleBufferOut.pointee = nil
  if originalSBuf.isInvalidated { return kCMSampleBufferError_Invalidated }
  guard numSampleTimingEntries >= 0 else { return kCMSampleBufferError_InvalidEntryCount }
  if numSampleTimingEntries > 0, sampleTimingArray == nil {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  guard
    let timings = SampleTimings(
      sampleTimingArray, entryCount: numSampleTimingEntries, sampleCount: originalSBuf.sampleCount)
  else { return kCMSampleBufferError_InvalidEntryCount }
  sampleBufferOut.pointee = CMSampleBuffer(
    derivedFrom: originalSBuf, data: originalSBuf.blockBuffer, timings: timings, sizes: originalSBuf.sizes)
  return noErr
}

/// Creates a sample buffer with a range of the samples, which shares their data.
///
/// - Returns: `kCMSampleBufferError_SampleIndexOutOfRange` for a range that is empty or exceeds the
///   samples, `kCMSampleBufferError_BufferHasNoSampleSizes` or
///   `kCMSampleBufferError_CannotSubdivide` if the samples cannot be separated.
@discardableResult
public func CMSampleBufferCopySampleBufferForRange(
  allocator: CFAllocator?, sampleBuffer sbuf: CMSampleBuffer, sampleRange: CFRange,
  sampleBufferOut: UnsafeMutablePointer<CMSampleBuffer?>
) -> OSStatus {
  sampleBufferOut.pointee = nil
  guard sampleRange.location >= 0, sampleRange.length > 0,
    sampleRange.length <= sbuf.sampleCount - sampleRange.location
  else { return kCMSampleBufferError_SampleIndexOutOfRange }
  switch sbuf.part(sampleRange.location..<sampleRange.location + sampleRange.length) {
  case .success(let part):
    sampleBufferOut.pointee = part
    return noErr
  case .failure(let error): return error.status
  }
}

/// Calls a function with a sample buffer for each sample, in order, until it returns an error.
///
/// - Returns: The error of the function, or an error if the samples cannot be separated, such as
///   `kCMSampleBufferError_CannotSubdivide`; `kCMSampleBufferError_InvalidEntryCount` for more than
///   2^20 samples without individual entries or bytes.
@discardableResult
public func CMSampleBufferCallForEachSample(
  _ sbuf: CMSampleBuffer, callback: (CMSampleBuffer, CMItemCount, UnsafeMutableRawPointer?) -> OSStatus,
  refcon: UnsafeMutableRawPointer?
) -> OSStatus {
  CMSampleBufferCallBlockForEachSample(sbuf) { callback($0, $1, refcon) }
}

/// Calls a function with a sample buffer for each sample; see `CMSampleBufferCallForEachSample`.
@discardableResult
public func CMSampleBufferCallBlockForEachSample(
  _ sbuf: CMSampleBuffer, _ handler: (CMSampleBuffer, CMItemCount) -> OSStatus
) -> OSStatus {
  if sbuf.isInvalidated { return kCMSampleBufferError_Invalidated }
  guard sbuf.canBeListed else { return kCMSampleBufferError_InvalidEntryCount }
  // The offset of the data of the sample, which is summed incrementally.
  var offset = 0
  for index in 0..<sbuf.sampleCount {
    defer { offset = offset.addingClamped(sbuf.dataSize(at: index)) }
    switch sbuf.part(index..<index + 1, offset: offset) {
    case .success(let part):
      let status = handler(part, index)
      if status != noErr { return status }
    case .failure(let error): return error.status
    }
  }
  return noErr
}
