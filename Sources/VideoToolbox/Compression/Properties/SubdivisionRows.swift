// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import Foundation

// What a program asks that cuts a movie into parts and encodes several at once.

extension CompressionProperty {
  static let subdivisionRows: [CompressionProperty] = [
    CompressionProperty(
      key: kVTCompressionPropertyKey_RecommendedParallelizationLimit as String,
      type: .integer(1...Int(Int32.max)), change: .readOnly,
      documentation: "Sessions at once beyond which more are no gain: by the processors and ThreadCount.",
      feature: .frameReordering, read: { NSNumber(value: Subdivision($0.draft).sessions) }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_RecommendedParallelizedSubdivisionMinimumFrameCount as String,
      type: .integer(1...Int(Int32.max)), change: .readOnly,
      documentation: "Fewest frames that are worth a session: shorter parts cost key frames.",
      feature: .frameReordering, read: { NSNumber(value: Subdivision($0.draft).frames) }),
    CompressionProperty(
      key: kVTCompressionPropertyKey_RecommendedParallelizedSubdivisionMinimumDuration as String,
      type: .other, change: .readOnly,
      documentation: "How long a part is at least that is worth a session; a dictionary of a time.",
      feature: .frameReordering,
      read: { CMTimeCopyAsDictionary(Subdivision($0.draft).duration, allocator: nil) }),
  ]
}

/// How a movie is best cut. A part begins with a key frame of its own and with a rate control that has learnt nothing, so
/// that it should be no shorter than what the encoder would leave between two key frames anyway.
private struct Subdivision {
  let sessions: Int
  let frames: Int
  let duration: CMTime

  /// Where nothing says how far key frames may be apart.
  private static let usualSeconds = 10.0
  private static let usualFrameRate = 30.0

  init(_ draft: CompressionDraft) {
    let processors = ProcessInfo.processInfo.activeProcessorCount
    // An encoder that is left to itself takes what there is; one thread each makes the best of it.
    sessions = max(processors / max(draft.configuration.threads, 1), 1)
    let rate = draft.configuration.frameRate.flatMap { $0 > 0 ? $0 : nil } ?? Self.usualFrameRate
    let interval = draft.configuration.allowsTemporalCompression ? draft.configuration.maxKeyFrameInterval : 1
    let longest = draft.configuration.maxKeyFrameIntervalDuration
    let distances = [interval > 0 ? Double(interval) / rate : 0, longest].filter { $0 > 0 }
    let seconds = distances.min() ?? Self.usualSeconds
    let count = (seconds * rate).rounded(.up)
    frames = Int(min(max(count, 1), 1e6))
    duration = CMTime(nearest: max(seconds, 1 / rate), preferredTimescale: CompressionDraft.timescale)
  }
}
