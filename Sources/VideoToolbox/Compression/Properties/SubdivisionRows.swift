// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import Foundation

// Properties that advise a program that divides a movie into parts and encodes several of them at a
// time.

extension CompressionProperty {
  static let subdivisionRows: [CompressionProperty] = [
    CompressionProperty(
      key: kVTCompressionPropertyKey_RecommendedParallelizationLimit as String,
      type: .integer(1...Int(Int32.max)), change: .readOnly,
      documentation: """
        The number of simultaneous sessions above which more sessions give no speed-up, from the \
        number of processors and ThreadCount.
        """,
      feature: .frameReordering, read: { NSNumber(value: Subdivision($0.draft).sessions) }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_RecommendedParallelizedSubdivisionMinimumFrameCount as String,
      type: .integer(1...Int(Int32.max)), change: .readOnly,
      documentation: """
        The least number of frames for which a session of its own is worthwhile: shorter parts \
        need more key frames.
        """,
      feature: .frameReordering, read: { NSNumber(value: Subdivision($0.draft).frames) }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_RecommendedParallelizedSubdivisionMinimumDuration as String,
      type: .other, change: .readOnly,
      documentation: """
        The least duration of a part for which a session of its own is worthwhile, as a dictionary \
        of a CMTime.
        """,
      feature: .frameReordering,
      read: { CMTimeCopyAsDictionary(Subdivision($0.draft).duration, allocator: nil) }),
  ]
}

/// The recommended division of a movie into parts. A part begins with a key frame of its own and
/// with a rate control that has learnt nothing, so that it should be no shorter than the distance
/// of two key frames.
private struct Subdivision {
  /// The number of sessions beyond which more give no higher speed.
  let sessions: Int
  /// The least number of frames of a part.
  let frames: Int
  /// The least duration of a part.
  let duration: CMTime

  /// The assumed distance of key frames in seconds, where no property sets it.
  private static let defaultSeconds = 10.0
  private static let defaultFrameRate = 30.0

  init(_ draft: CompressionDraft) {
    let processors = ProcessInfo.processInfo.activeProcessorCount
    // Without a thread count, one thread per session uses the processors best.
    sessions = max(processors / max(draft.configuration.threads, 1), 1)
    let rate = draft.configuration.frameRate.flatMap { $0 > 0 ? $0 : nil } ?? Self.defaultFrameRate
    let interval = draft.configuration.allowsTemporalCompression ? draft.configuration.maxKeyFrameInterval : 1
    let longest = draft.configuration.maxKeyFrameIntervalDuration
    let distances = [interval > 0 ? Double(interval) / rate : 0, longest].filter { $0 > 0 }
    let seconds = distances.min() ?? Self.defaultSeconds
    let count = (seconds * rate).rounded(.up)
    frames = Int(min(max(count, 1), 1e6))
    duration = CMTime(nearest: max(seconds, 1 / rate), preferredTimescale: CompressionDraft.timescale)
  }
}
