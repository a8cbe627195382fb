// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import Foundation

extension MediaStream {
  /// Converts a time in units of the time base to a `CMTime`: exactly, unless it overflows; nil
  /// becomes `.invalid`.
  package func time(_ value: Int64?) -> CMTime {
    guard let value else { return .invalid }
    let (scaled, overflow) = value.multipliedReportingOverflow(by: Int64(timeBase.num))
    return overflow
      ? CMTime(
        nearest: Double(value) * Double(timeBase.num) / Double(timeBase.den), preferredTimescale: timeBase.den
      )
      : CMTime(value: scaled, timescale: timeBase.den)
  }

  /// Converts a `CMTime` to units of the time base, rounded down. Infinite and invalid times become
  /// limits that leave room for arithmetic.
  package func units(_ time: CMTime) -> Int64 {
    guard time.isNumeric else { return time == .positiveInfinity ? Int64.max / 4 : Int64.min / 4 }
    let scaled = CMTimeConvertScale(time, timescale: timeBase.den, method: .roundTowardNegativeInfinity)
    guard scaled.isNumeric else { return time > .zero ? Int64.max / 4 : Int64.min / 4 }
    let (quotient, rest) = scaled.value.quotientAndRemainder(dividingBy: Int64(max(1, timeBase.num)))
    return rest < 0 ? quotient - 1 : quotient
  }
}

extension TimedText {
  /// Makes a sample buffer of the text.
  /// - Parameters:
  ///   - stream: The stream in whose time base `start` and `end` are.
  ///   - description: The format of the sample.
  package func makeSampleBuffer(
    of stream: MediaStream, description: CMFormatDescription?
  ) throws -> CMSampleBuffer {
    let block = try CMBlockBuffer(length: sample.count, flags: .assureMemoryNow)
    try sample.withUnsafeBytes { try block.replaceDataBytes(with: $0) }
    return try CMSampleBuffer(
      dataBuffer: block, formatDescription: description, numSamples: 1,
      sampleTimings: [
        CMSampleTimingInfo(
          duration: end.map { stream.time($0.subtractingClamped(start)) } ?? .invalid,
          presentationTimeStamp: stream.time(start), decodeTimeStamp: .invalid)
      ], sampleSizes: [sample.count])
  }
}

extension MediaPacket {
  /// Makes a sample buffer that references the packet's memory and keeps the packet alive; nothing
  /// is copied.
  /// - Parameters:
  ///   - stream: The stream that the packet belongs to.
  ///   - description: The format of the sample.
  package func makeSampleBuffer(
    of stream: MediaStream, description: CMFormatDescription?
  ) throws -> CMSampleBuffer {
    let memory = bytes
    let block = try CMBlockBuffer(buffer: memory, deallocator: { _, _ in withExtendedLifetime(self) {} })
    var timing = CMSampleTimingInfo(
      duration: duration > 0 ? stream.time(duration) : .invalid,
      presentationTimeStamp: stream.time(pts ?? dts), decodeTimeStamp: .invalid)
    if stream.kind == .video { timing.decodeTimeStamp = stream.time(dts) }
    var count = 1
    var size = memory.count
    if stream.kind == .audio {
      let layout = stream.audioLayout
      if layout.mFormatID == kAudioFormatLinearPCM, layout.mBytesPerFrame > 0 {
        // Uncompressed audio: every frame is a sample.
        size = Int(layout.mBytesPerFrame)
        count = memory.count / size
        timing.duration = CMTime(value: 1, timescale: CMTimeScale(clamping: max(1, layout.mSampleRate)))
      }
    }
    var made: CMSampleBuffer?
    let status = CMSampleBufferCreateReady(
      allocator: kCFAllocatorDefault, dataBuffer: block, formatDescription: description, sampleCount: count,
      sampleTimingEntryCount: 1, sampleTimingArray: &timing, sampleSizeEntryCount: 1, sampleSizeArray: &size,
      sampleBufferOut: &made)
    guard status == noErr, let made else {
      throw MediaFileError(.outOfMemory, "a sample buffer cannot be made (\(status))")
    }
    attach(to: made, stream)
    attachDecoderData(to: made, stream)
    return made
  }

  nonisolated(unsafe) private static let paletteKey: CFString = "OpenVideoToolbox.Palette"
  nonisolated(unsafe) private static let recordKey: CFString = "OpenVideoToolbox.ConfigurationRecord"

  /// The palette that the demuxer attached to a sample because it is valid from there on; nil if
  /// there is none.
  package static func palette(of sample: CMSampleBuffer) -> [UInt8]? {
    (CMGetAttachment(sample, key: paletteKey, attachmentModeOut: nil) as? Data).map { [UInt8]($0) }
  }

  /// The configuration record that the demuxer attached to a sample because it is valid from there
  /// on; nil if there is none.
  package static func configurationRecord(of sample: CMSampleBuffer) -> [UInt8]? {
    (CMGetAttachment(sample, key: recordKey, attachmentModeOut: nil) as? Data).map { [UInt8]($0) }
  }

  /// Copies the palette and the configuration record from a sample to a buffer that begins with the
  /// same sample.
  package static func copyDecoderData(from sample: CMSampleBuffer, to other: CMSampleBuffer) {
    for key in [paletteKey, recordKey] {
      guard let value = CMGetAttachment(sample, key: key, attachmentModeOut: nil) else { continue }
      CMSetAttachment(
        other, key: key, value: value, attachmentMode: kCMAttachmentMode_ShouldNotPropagate)
    }
  }

  private func attachDecoderData(to buffer: CMSampleBuffer, _ stream: MediaStream) {
    guard stream.kind == .video, pointer.pointee.side_data_elems > 0 else { return }
    func attach(_ type: AVPacketSideDataType, _ key: CFString) {
      var size = 0
      guard let side = av_packet_get_side_data(pointer, type, &size), size > 0 else { return }
      CMSetAttachment(
        buffer, key: key, value: Data(bytes: side, count: size) as NSData,
        attachmentMode: kCMAttachmentMode_ShouldNotPropagate)
    }
    attach(AV_PKT_DATA_PALETTE, Self.paletteKey)
    // The record of an Annex B stream does not fit its converted samples, which keep their
    // parameter sets instead.
    if !stream.isAnnexB { attach(AV_PKT_DATA_NEW_EXTRADATA, Self.recordKey) }
  }

  private func attach(to buffer: CMSampleBuffer, _ stream: MediaStream) {
    if stream.kind == .video {
      guard !isKeyFrame || isDiscarded || isDisposable else { return }
      let array = CMSampleBufferGetSampleAttachmentsArray(buffer, createIfNecessary: true)
      guard let attachments = array?.firstObject as? NSMutableDictionary else { return }
      if !isKeyFrame {
        attachments.setObject(NSNumber(value: true), forKey: kCMSampleAttachmentKey_NotSync)
        attachments.setObject(NSNumber(value: true), forKey: kCMSampleAttachmentKey_DependsOnOthers)
      }
      if isDisposable {
        attachments.setObject(NSNumber(value: false), forKey: kCMSampleAttachmentKey_IsDependedOnByOthers)
      }
      if isDiscarded {
        attachments.setObject(NSNumber(value: true), forKey: kCMSampleAttachmentKey_DoNotDisplay)
      }
    } else if stream.kind == .audio {
      let skipped = skippedAudio
      let rate = CMTimeScale(max(1, stream.codec.pointer.pointee.sample_rate))
      func trim(_ key: CFString, _ frames: Int) {
        guard frames > 0 else { return }
        let time = CMTimeCopyAsDictionary(
          CMTime(value: Int64(frames), timescale: rate), allocator: kCFAllocatorDefault)
        CMSetAttachment(buffer, key: key, value: time, attachmentMode: kCMAttachmentMode_ShouldNotPropagate)
      }
      let whole =
        isDiscarded
        ? Int(stream.time(duration).units(rate, .default)) : 0
      trim(kCMSampleBufferAttachmentKey_TrimDurationAtStart, max(skipped.start, whole))
      trim(kCMSampleBufferAttachmentKey_TrimDurationAtEnd, skipped.end)
    }
  }
}
