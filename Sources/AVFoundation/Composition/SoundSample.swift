// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

extension SoundRequirements {
  /// Bytes of a frame, all channels together.
  var frameBytes: Int { format.bits / 8 * format.channels }

  /// A sample buffer of sound in this format, interleaved or one channel after the other.
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

  /// Frames of silence that stand for what a file lacks, though it says that there is something: a minute, as the decoder
  /// and the encoder of sound have it. Beyond that, time goes on without, unless pictures of the file go on.
  var longestFill: Int64 { 60 * Int64(format.sampleRate) }

  /// A time in frames.
  func frames(_ time: CMTime) -> Int64 {
    time.units(CMTimeScale(format.sampleRate), .roundHalfAwayFromZero)
  }
}
