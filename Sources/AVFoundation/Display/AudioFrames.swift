// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// The audio of a sample buffer of linear PCM, as interleaved floating-point samples.
struct AudioFrames {
  let sampleRate: Double
  let channels: Int
  /// The presentation time of the first frame.
  let time: CMTime
  let samples: [Float]

  var count: Int { samples.count / channels }

  /// Converts the samples.
  /// - Parameter sample: A sample buffer of linear PCM in any layout.
  /// - Throws: `AVError` if the format is not linear PCM that can be played, or data is missing.
  init(_ sample: CMSampleBuffer) throws {
    func configurationError(_ reason: String) -> AVError {
      AVError(
        .formatUnsupported, reason: reason, advice: "Enqueue linear PCM of up to 32 channels, with its times."
      )
    }
    guard let format = CMSampleBufferGetFormatDescription(sample),
      let basic = CMAudioFormatDescriptionGetStreamBasicDescription(format)?.pointee,
      basic.mFormatID == kAudioFormatLinearPCM
    else { throw configurationError("The sample is not linear PCM.") }
    channels = Int(basic.mChannelsPerFrame)
    sampleRate = basic.mSampleRate
    time = CMSampleBufferGetPresentationTimeStamp(sample)
    guard (1...32).contains(channels), (1...768_000).contains(sampleRate), time.isNumeric,
      let layout = PCMLayout(basic)
    else { throw configurationError("The sample's format cannot be played.") }
    guard let block = CMSampleBufferGetDataBuffer(sample) else {
      throw configurationError("The sample has no data.")
    }
    let frames = CMSampleBufferGetNumSamples(sample)
    let (length, overflow) = frames.multipliedReportingOverflow(by: channels * layout.width)
    guard !overflow, frames >= 0, CMBlockBufferGetDataLength(block) >= length else {
      throw configurationError("The sample has fewer data than it says.")
    }
    let found = try block.withContiguousStorage {
      layout.floats(UnsafeRawBufferPointer(rebasing: $0.prefix(length)))
    }
    let channels = channels
    samples =
      layout.isPlanar && channels > 1
      ? (0..<found.count).map { found[$0 % channels * frames + $0 / channels] } : found
  }
}
