// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// MARK: - All samples

/// Returns the number of samples.
@discardableResult
public func CMSampleBufferGetNumSamples(_ sbuf: CMSampleBuffer) -> CMItemCount { sbuf.sampleCount }

/// Returns the sum of the durations of all samples, without gaps between them.
@discardableResult
public func CMSampleBufferGetDuration(_ sbuf: CMSampleBuffer) -> CMTime {
  sbuf.timings.duration(sampleCount: sbuf.sampleCount)
}

/// Returns the earliest presentation time of all samples.
@discardableResult
public func CMSampleBufferGetPresentationTimeStamp(_ sbuf: CMSampleBuffer) -> CMTime {
  sbuf.timings.earliest(\.presentationTimeStamp)
}

/// Returns the earliest decode time of all samples; invalid if they are in presentation order.
@discardableResult
public func CMSampleBufferGetDecodeTimeStamp(_ sbuf: CMSampleBuffer) -> CMTime {
  sbuf.timings.earliest(\.decodeTimeStamp)
}

// MARK: - Output: after trimming, change of speed and reversal

/// The trimming, speed and reversal that the attachments of a sample buffer specify.
private struct OutputTiming {
  let trimAtStart: CMTime
  let trimAtEnd: CMTime
  let speed: Double
  let isReversed: Bool

  init(_ sbuf: CMSampleBuffer) {
    let table = sbuf.withAttachmentTable { $0 }
    func time(_ key: CFString) -> CMTime {
      guard let dictionary = table[key as String]?.value as? NSDictionary else { return .zero }
      let time = CMTimeMakeFromDictionary(dictionary)
      return time.isNumeric ? time : .zero
    }
    if table.isEmpty {
      (trimAtStart, trimAtEnd, speed, isReversed) = (.zero, .zero, 1, false)
    } else {
      trimAtStart = time(kCMSampleBufferAttachmentKey_TrimDurationAtStart)
      trimAtEnd = time(kCMSampleBufferAttachmentKey_TrimDurationAtEnd)
      let factor =
        (table[kCMSampleBufferAttachmentKey_SpeedMultiplier as String]?.value as? NSNumber)?.doubleValue ?? 1
      speed = factor.isFinite && factor != 0 ? abs(factor) : 1
      isReversed =
        (table[kCMSampleBufferAttachmentKey_Reverse as String]?.value as? NSNumber)?.boolValue ?? false
    }
  }

  func scale(_ time: CMTime) -> CMTime {
    speed == 1 ? time : CMTimeMultiplyByFloat64(time, multiplier: 1 / speed)
  }

  /// The time of the media at which the output begins.
  func start(_ sbuf: CMSampleBuffer) -> CMTime {
    let time = CMSampleBufferGetPresentationTimeStamp(sbuf)
    return isReversed ? time + CMSampleBufferGetDuration(sbuf) - trimAtEnd : time + trimAtStart
  }
}

/// Returns the duration after trimming, divided by the speed.
@discardableResult
public func CMSampleBufferGetOutputDuration(_ sbuf: CMSampleBuffer) -> CMTime {
  let output = OutputTiming(sbuf)
  return output.scale(CMSampleBufferGetDuration(sbuf) - output.trimAtStart - output.trimAtEnd)
}

/// Returns the output presentation time that was set, or else the presentation time after trimming
/// at the start. For reversed media the latter is the end of the presentation before trimming at
/// the end.
@discardableResult
public func CMSampleBufferGetOutputPresentationTimeStamp(_ sbuf: CMSampleBuffer) -> CMTime {
  let explicit = sbuf.explicitOutputTime
  return explicit.isValid ? explicit : OutputTiming(sbuf).start(sbuf)
}

/// Sets the output presentation time. After an invalid time it follows from the samples again.
@discardableResult
public func CMSampleBufferSetOutputPresentationTimeStamp(
  _ sbuf: CMSampleBuffer, newValue outputPresentationTimeStamp: CMTime
) -> OSStatus {
  if sbuf.isInvalidated { return kCMSampleBufferError_Invalidated }
  sbuf.explicitOutputTime = outputPresentationTimeStamp
  return noErr
}

/// Returns the output decode time: the output presentation time minus the difference between
/// presentation and decode time, divided by the speed.
@discardableResult
public func CMSampleBufferGetOutputDecodeTimeStamp(_ sbuf: CMSampleBuffer) -> CMTime {
  let decode = CMSampleBufferGetDecodeTimeStamp(sbuf)
  guard decode.isValid else { return .invalid }
  return CMSampleBufferGetOutputPresentationTimeStamp(sbuf)
    + OutputTiming(sbuf).scale(decode - CMSampleBufferGetPresentationTimeStamp(sbuf))
}

// MARK: - Each sample

/// Gets the timing entries as they were given: one that applies to all samples, or one for each.
///
/// - Parameters:
///   - sbuf: The sample buffer.
///   - numSampleTimingEntries: The number of entries for which the array has space.
///   - timingArrayOut: Receives the entries; nil to get their number only.
///   - timingArrayEntriesNeededOut: Receives the number of entries.
/// - Returns: `kCMSampleBufferError_BufferHasNoSampleTimingInfo` or
///   `kCMSampleBufferError_ArrayTooSmall`.
@discardableResult
public func CMSampleBufferGetSampleTimingInfoArray(
  _ sbuf: CMSampleBuffer, entryCount numSampleTimingEntries: CMItemCount,
  arrayToFill timingArrayOut: UnsafeMutablePointer<CMSampleTimingInfo>?,
  entriesNeededOut timingArrayEntriesNeededOut: UnsafeMutablePointer<CMItemCount>?
) -> OSStatus {
  fill(
    timingArrayOut, numSampleTimingEntries, with: sbuf.timings.entries,
    entriesNeeded: timingArrayEntriesNeededOut,
    ifEmpty: sbuf.isInvalidated
      ? kCMSampleBufferError_Invalidated : kCMSampleBufferError_BufferHasNoSampleTimingInfo)
}

/// Gets the timing entries after trimming, change of speed and reversal; see
/// `CMSampleBufferGetSampleTimingInfoArray`.
@discardableResult
public func CMSampleBufferGetOutputSampleTimingInfoArray(
  _ sbuf: CMSampleBuffer, entryCount timingArrayEntries: CMItemCount,
  arrayToFill timingArrayOut: UnsafeMutablePointer<CMSampleTimingInfo>?,
  entriesNeededOut timingArrayEntriesNeededOut: UnsafeMutablePointer<CMItemCount>?
) -> OSStatus {
  let output = OutputTiming(sbuf)
  let mediaStart = output.start(sbuf)
  let outputStart = CMSampleBufferGetOutputPresentationTimeStamp(sbuf)
  func moved(_ time: CMTime) -> CMTime {
    guard time.isValid else { return .invalid }
    return outputStart + output.scale(output.isReversed ? mediaStart - time : time - mediaStart)
  }
  var entries = sbuf.timings.entries
  if output.isReversed, entries.count == 1, sbuf.sampleCount > 1 {
    // Decreasing times cannot be expressed with one entry.
    guard sbuf.canBeListed else { return kCMSampleBufferError_InvalidEntryCount }
    entries = (0..<sbuf.sampleCount).compactMap(sbuf.timings.timing(at:))
  }
  let moved_ = entries.map { entry in
    CMSampleTimingInfo(
      duration: output.scale(entry.duration),
      presentationTimeStamp: moved(
        output.isReversed && entry.duration.isNumeric
          ? entry.presentationTimeStamp + entry.duration : entry.presentationTimeStamp),
      decodeTimeStamp: entry.decodeTimeStamp.isValid
        ? outputStart + output.scale(entry.decodeTimeStamp - mediaStart) : .invalid)
  }
  return fill(
    timingArrayOut, timingArrayEntries, with: moved_, entriesNeeded: timingArrayEntriesNeededOut,
    ifEmpty: kCMSampleBufferError_BufferHasNoSampleTimingInfo)
}

/// Gets the timing of one sample, even if a single entry was given for all samples.
@discardableResult
public func CMSampleBufferGetSampleTimingInfo(
  _ sbuf: CMSampleBuffer, at sampleIndex: CMItemIndex, timingInfoOut: UnsafeMutablePointer<CMSampleTimingInfo>
) -> OSStatus {
  if sbuf.isInvalidated { return kCMSampleBufferError_Invalidated }
  guard sampleIndex >= 0, sampleIndex < sbuf.sampleCount else {
    return kCMSampleBufferError_SampleIndexOutOfRange
  }
  guard let timing = sbuf.timings.timing(at: sampleIndex) else {
    return kCMSampleBufferError_BufferHasNoSampleTimingInfo
  }
  timingInfoOut.pointee = timing
  return noErr
}

// MARK: - Sizes

/// Gets the size entries as they were given, in bytes: one that applies to all samples, or one for
/// each.
@discardableResult
public func CMSampleBufferGetSampleSizeArray(
  _ sbuf: CMSampleBuffer, entryCount sizeArrayEntries: CMItemCount,
  arrayToFill sizeArrayOut: UnsafeMutablePointer<Int>?,
  entriesNeededOut sizeArrayEntriesNeededOut: UnsafeMutablePointer<CMItemCount>?
) -> OSStatus {
  fill(
    sizeArrayOut, sizeArrayEntries, with: sbuf.sizes.entries, entriesNeeded: sizeArrayEntriesNeededOut,
    ifEmpty: sbuf.isInvalidated
      ? kCMSampleBufferError_Invalidated : kCMSampleBufferError_BufferHasNoSampleSizes)
}

/// Returns the size of one sample in bytes; 0 if it is unknown or there is no such sample.
@discardableResult
public func CMSampleBufferGetSampleSize(_ sbuf: CMSampleBuffer, at sampleIndex: CMItemIndex) -> Int {
  guard sampleIndex >= 0, sampleIndex < sbuf.sampleCount else { return 0 }
  return sbuf.sizes.size(at: sampleIndex)
}

/// Returns the size of all samples in bytes; 0 if it is unknown.
@discardableResult
public func CMSampleBufferGetTotalSampleSize(_ sbuf: CMSampleBuffer) -> Int {
  sbuf.sizes.offset(of: sbuf.sampleCount) ?? 0
}

private func fill<T>(
  _ array: UnsafeMutablePointer<T>?, _ capacity: Int, with entries: [T],
  entriesNeeded: UnsafeMutablePointer<CMItemCount>?, ifEmpty: OSStatus
) -> OSStatus {
  entriesNeeded?.pointee = entries.count
  if entries.isEmpty { return ifEmpty }
  guard let array else { return noErr }
  guard capacity >= entries.count else { return kCMSampleBufferError_ArrayTooSmall }
  array.update(from: entries, count: entries.count)
  return noErr
}
