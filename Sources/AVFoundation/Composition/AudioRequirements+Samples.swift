// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

extension AudioRequirements {
  /// The size in bytes of a frame of all channels.
  var frameBytes: Int { format.bits / 8 * format.channels }

  /// Creates a sample buffer of PCM in this format.
  /// - Parameters:
  ///   - data: The frames, interleaved or with the channels one after the other, as the format
  ///     says.
  ///   - frames: The number of frames.
  ///   - time: The frame number of the first frame.
  ///   - description: The format description of the sample buffer.
  /// - Throws: `AVError.Code.outOfMemory`.
  func makeSample(
    _ data: Data, frames: Int, at time: Int64, _ description: CMFormatDescription
  ) throws -> CMSampleBuffer {
    let block = try CMBlockBuffer(length: data.count, flags: .assureMemoryNow)
    let copied = data.withUnsafeBytes { bytes -> OSStatus in
      guard let base = bytes.baseAddress else { return noErr }
      return CMBlockBufferReplaceDataBytes(
        with: base, blockBuffer: block, offsetIntoDestination: 0, dataLength: bytes.count)
    }
    let scale = CMTimeScale(format.sampleRate)
    var timing = CMSampleTimingInfo(
      duration: CMTime(value: 1, timescale: scale),
      presentationTimeStamp: CMTime(value: time, timescale: scale), decodeTimeStamp: .invalid)
    var size = data.count / max(1, frames)
    var made: CMSampleBuffer?
    let status = CMSampleBufferCreateReady(
      allocator: kCFAllocatorDefault, dataBuffer: block, formatDescription: description, sampleCount: frames,
      sampleTimingEntryCount: 1, sampleTimingArray: &timing,
      sampleSizeEntryCount: format.isInterleaved ? 1 : 0, sampleSizeArray: &size, sampleBufferOut: &made)
    guard copied == noErr, status == noErr, let made else {
      throw AVError(.outOfMemory, reason: "A sample buffer cannot be made (\(status)).")
    }
    return made
  }

  /// The most frames of silence that are inserted in place of missing media: one minute, which is
  /// also the limit of the decoder and the encoder of audio. After that the time is skipped, unless
  /// the file has pictures in it.
  var longestFill: Int64 { 60 * Int64(format.sampleRate) }

  /// Returns a time as a number of frames, rounded to the nearest.
  func frames(_ time: CMTime) -> Int64 {
    time.units(CMTimeScale(format.sampleRate), .roundHalfAwayFromZero)
  }
}
