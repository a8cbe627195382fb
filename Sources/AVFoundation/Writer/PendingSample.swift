// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// A sample that waits to be written. Times are on the movie's time line.
struct PendingSample {
  let block: CMBlockBuffer
  let offset: Int
  let size: Int
  let presentation: CMTime
  let decode: CMTime
  /// Invalid if the sample lasts until the next one.
  let duration: CMTime
  let isSync: Bool
  let isDisposable: Bool
  /// NAL units to write before the sample: parameter sets that the track's sample description does
  /// not contain.
  var prefix: Data?
  /// The format from this sample on, if it differs from that of the previous sample.
  var format: CMFormatDescription?

  var hasDuration: Bool { duration.isNumeric && duration > .zero }

  /// The part of a text sample that is shown after the movie begins; nil if there is none.
  var fromStart: PendingSample? {
    guard presentation < .zero else { return self }
    guard duration.isNumeric else { return shown(at: .zero, for: duration) }
    let end = presentation + duration
    return end > .zero ? shown(at: .zero, for: end) : nil
  }

  private func shown(at time: CMTime, for duration: CMTime) -> PendingSample {
    PendingSample(
      block: block, offset: offset, size: size, presentation: time, decode: time, duration: duration,
      isSync: isSync, isDisposable: isDisposable, prefix: prefix, format: format)
  }
}

extension PendingSample {
  /// The samples of a buffer, with times on the movie's time line.
  /// - Parameters:
  ///   - buffer: A buffer with data that is ready.
  ///   - offset: The source time at which the movie begins.
  /// - Throws: `AVError(.invalidSourceMedia)` for a buffer without data or times, or with sizes
  ///   that do not fit the data.
  static func samples(of buffer: CMSampleBuffer, shiftedBy offset: CMTime) throws -> [PendingSample] {
    guard let block = CMSampleBufferGetDataBuffer(buffer) else {
      throw AVError(
        .invalidSourceMedia, reason: "The sample buffer contains no data.",
        advice: "Append buffers whose data is ready.")
    }
    let count = CMSampleBufferGetNumSamples(buffer)
    guard count > 0 else { return [] }
    let isAudio =
      CMSampleBufferGetFormatDescription(buffer).map(CMFormatDescriptionGetMediaType) == kCMMediaType_Audio
    let isUncompressed =
      CMSampleBufferGetFormatDescription(buffer).map(CMFormatDescriptionGetMediaSubType)
      == kAudioFormatLinearPCM
    if isAudio, isUncompressed {
      // All frames of the buffer are written as one packet.
      let size = CMBlockBufferGetDataLength(block)
      guard block.canBeCopied(size) else { throw notThere }
      return [
        PendingSample(
          block: block, offset: 0, size: size,
          presentation: try numeric(CMSampleBufferGetPresentationTimeStamp(buffer)) - offset,
          decode: try numeric(CMSampleBufferGetPresentationTimeStamp(buffer)) - offset,
          duration: CMSampleBufferGetDuration(buffer), isSync: true, isDisposable: false)
      ]
    }
    let attachments = CMSampleBufferGetSampleAttachmentsArray(buffer, createIfNecessary: false)
    // Each of several samples has at least one byte. The check bounds the memory that a wrong
    // number of samples reserves.
    guard count == 1 || count <= CMBlockBufferGetDataLength(block) else {
      throw AVError(.invalidSourceMedia, reason: "The sample buffer has more samples than bytes.")
    }
    var samples: [PendingSample] = []
    samples.reserveCapacity(count)
    var position = 0
    for index in 0..<count {
      var timing = CMSampleTimingInfo()
      guard CMSampleBufferGetSampleTimingInfo(buffer, at: index, timingInfoOut: &timing) == noErr else {
        throw AVError(.invalidSourceMedia, reason: "The sample buffer has no times.")
      }
      let size =
        count == 1 ? CMBlockBufferGetDataLength(block) : CMSampleBufferGetSampleSize(buffer, at: index)
      guard size <= CMBlockBufferGetDataLength(block) - position, size > 0 || count == 1 else {
        throw AVError(.invalidSourceMedia, reason: "The sample buffer's sizes do not fit its data.")
      }
      guard block.canBeCopied(size, at: position) else { throw notThere }
      let presentation = try numeric(timing.presentationTimeStamp) - offset
      let decode = timing.decodeTimeStamp.isNumeric ? timing.decodeTimeStamp - offset : presentation
      let attributes = attachments.flatMap { index < $0.count ? $0.object(at: index) as? NSDictionary : nil }
      func flag(_ key: CFString) -> Bool? { (attributes?.object(forKey: key) as? NSNumber)?.boolValue }
      samples.append(
        PendingSample(
          block: block, offset: position, size: size, presentation: presentation, decode: decode,
          duration: timing.duration, isSync: !(flag(kCMSampleAttachmentKey_NotSync) ?? false),
          isDisposable: flag(kCMSampleAttachmentKey_IsDependedOnByOthers) == false))
      position += size
    }
    return samples
  }

  private static var notThere: AVError {
    AVError(.invalidSourceMedia, reason: "The sample's data is not in memory, or more than a packet holds.")
  }

  private static func numeric(_ time: CMTime) throws -> CMTime {
    guard time.isNumeric else {
      throw AVError(
        .invalidSourceMedia, reason: "The sample has no presentation time.",
        advice: "Give every sample a numeric presentation time stamp.")
    }
    return time
  }

  /// Calls `body` with the bytes to write: the prefix, if any, and the sample.
  func withBytes(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    if let prefix {
      var whole = [UInt8](prefix)
      let start = whole.count
      whole.append(contentsOf: repeatElement(0, count: size))
      let status = whole.withUnsafeMutableBytes { bytes -> OSStatus in
        guard let base = bytes.baseAddress else { return noErr }
        return CMBlockBufferCopyDataBytes(
          block, atOffset: offset, dataLength: size, destination: base + start)
      }
      guard status == noErr else { throw Self.unreadable(status) }
      return try whole.withUnsafeBytes(body)
    }
    var length = 0
    var pointer: UnsafeMutablePointer<CChar>?
    let status = CMBlockBufferGetDataPointer(
      block, atOffset: offset, lengthAtOffsetOut: &length, totalLengthOut: nil, dataPointerOut: &pointer)
    if status == noErr, let pointer, length >= size {
      return try body(UnsafeRawBufferPointer(start: pointer, count: size))
    }
    var copy = [UInt8](repeating: 0, count: size)
    let copied = copy.withUnsafeMutableBytes { bytes -> OSStatus in
      guard let base = bytes.baseAddress else { return noErr }
      return CMBlockBufferCopyDataBytes(block, atOffset: offset, dataLength: size, destination: base)
    }
    guard copied == noErr else { throw Self.unreadable(copied) }
    try copy.withUnsafeBytes(body)
  }

  private static func unreadable(_ status: OSStatus) -> AVError {
    AVError(.invalidSourceMedia, reason: "The sample's data cannot be read (\(status)).")
  }
}

extension CMBlockBuffer {
  /// Whether the given number of bytes is in memory, and not more than a packet of libavcodec can
  /// hold. A block buffer may state any length before it has memory, so callers check before they
  /// allocate a copy.
  func canBeCopied(_ count: Int, at offset: Int = 0) -> Bool {
    guard count <= Int(Int32.max) - 64 else { return false }
    var position = offset
    while position - offset < count {
      var length = 0
      let status = CMBlockBufferGetDataPointer(
        self, atOffset: position, lengthAtOffsetOut: &length, totalLengthOut: nil, dataPointerOut: nil)
      guard status == noErr, length > 0 else { return false }
      position = position.addingClamped(length)
    }
    return true
  }
}
