// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Reads the pictures of a composition's track, or its stored samples: the samples of each part in
/// order, with their times converted to the composition's timeline.
final class CompositionPictureSource: InterruptibleSource, @unchecked Sendable {
  // Sendable: one caller at a time, behind the lock of the output that owns it.
  /// Creates the source that reads a part's track.
  typealias Make = (AVAssetTrack, MediaInterruption) throws -> any SampleSource

  private let parts: [(part: CompositionTimeline.Part, target: CMTimeRange)]
  private let make: Make
  /// Whether samples are delivered as they are stored. Pictures can then be cut only at key frames.
  private let isStored: Bool
  private let interruption = SourceInterruption()
  private var waiting: ArraySlice<(part: CompositionTimeline.Part, target: CMTimeRange)> = []
  private var range = CMTimeRange.invalid
  private var current: (source: any SampleSource, part: CompositionTimeline.Part, target: CMTimeRange)?
  private var isFirst = true
  /// The presentation end time of the last stored audio packet, and the last decode time stamp.
  private var stored: (end: CMTime, decode: CMTime) = (.negativeInfinity, .negativeInfinity)
  /// How much later than its mapped time the audio of the current part is placed; nil until the
  /// first packet of the part has been placed.
  private var delay: CMTime?

  init(_ timeline: CompositionTimeline, isStored: Bool, make: @escaping Make) {
    parts = timeline.timedParts.filter { $0.part.source != nil }
    self.isStored = isStored
    self.make = make
  }

  func interrupt() { interruption.pause() }
  func stop() { interruption.stop() }

  func seek(to range: CMTimeRange) throws {
    interruption.resume()
    self.range = range
    current = nil
    stored = (.negativeInfinity, .negativeInfinity)
    waiting = parts.filter { $0.target.end > range.start && $0.target.start < range.end }[...]
  }

  func next() throws -> CMSampleBuffer? {
    while !interruption.isInterrupted {
      guard let (source, part, target) = current else {
        guard let next = waiting.popFirst(), let track = next.part.source?.track else { return nil }
        let source = try make(track, interruption.begin())
        // This is the requested range, limited to the part.
        let wanted = CMTimeRange(
          start: max(range.start, next.target.start), end: min(range.end, next.target.end))
        try source.seek(
          to: CMTimeRange(
            start: Self.map(wanted.start, next.target, next.part.range),
            end: Self.map(wanted.end, next.target, next.part.range)))
        current = (source, next.part, next.target)
        isFirst = true
        delay = nil
        continue
      }
      guard let sample = try source.next() else {
        current = nil
        continue
      }
      if isStored, isFirst { try checkCut(sample, part, target) }
      isFirst = false
      if let placed = try place(sample, part, target) { return placed }
    }
    return nil
  }

  /// Adjusts the times of a stored sample so that it follows the previous part.
  ///
  /// Packets of audio are not divided, and a source delivers an additional packet before a cut for
  /// the decoder, so the first packets of a part may overlap the part before. The first packet that
  /// would be late by half its duration or less is placed at the end of the previous part, and the
  /// packets before it are left out. For pictures, decode time stamps are kept increasing across
  /// parts whose streams reorder differently.
  /// - Returns: False if the sample is to be left out.
  private func follow(_ timing: inout CMSampleTimingInfo, isAudio: Bool) -> Bool {
    if isAudio, timing.duration.isNumeric {
      // Within a part the delay is kept, so that rounded times and durations in a file do not move
      // packets.
      let late =
        delay ?? (stored.end.isNumeric ? max(.zero, stored.end - timing.presentationTimeStamp) : .zero)
      guard delay != nil || late + late <= timing.duration else { return false }
      delay = late
      timing.presentationTimeStamp = timing.presentationTimeStamp + late
      if timing.decodeTimeStamp.isNumeric { timing.decodeTimeStamp = timing.decodeTimeStamp + late }
      stored.end = timing.presentationTimeStamp + timing.duration
    } else if timing.decodeTimeStamp.isNumeric {
      let next = stored.decode.isNumeric ? stored.decode + Self.tick : .negativeInfinity
      if timing.decodeTimeStamp < next, next <= timing.presentationTimeStamp { timing.decodeTimeStamp = next }
      stored.decode = timing.decodeTimeStamp
    }
    return true
  }

  private static let tick = CMTime(value: 1, timescale: 90_000)

  private static func map(_ time: CMTime, _ from: CMTimeRange, _ to: CMTimeRange) -> CMTime {
    // Without scaling the result is exact.
    from.duration == to.duration
      ? time - from.start + to.start : CMTimeMapTimeFromRangeToRange(time, fromRange: from, toRange: to)
  }

  private func checkCut(
    _ sample: CMSampleBuffer, _ part: CompositionTimeline.Part, _ target: CMTimeRange
  ) throws {
    guard part.source?.track.mediaType == .video, target.start >= range.start else { return }
    let time = CMSampleBufferGetPresentationTimeStamp(sample)
    guard time < part.range.start else { return }
    throw AVError(
      .operationNotSupportedForAsset,
      reason: "A part of the composition begins between key frames, at \(part.range.start.seconds) s.",
      advice: "Read decoded pictures, or cut at key frames.")
  }

  /// Returns a copy of a sample with times on the composition's timeline; nil if no part of it is
  /// presented.
  private func place(
    _ sample: CMSampleBuffer, _ part: CompositionTimeline.Part, _ target: CMTimeRange
  ) throws -> CMSampleBuffer? {
    var timing = CMSampleTimingInfo()
    guard CMSampleBufferGetSampleTimingInfo(sample, at: 0, timingInfoOut: &timing) == noErr else {
      return sample
    }
    let time = timing.presentationTimeStamp
    let start = Self.map(time, part.range, target)
    let decode = timing.decodeTimeStamp
    if decode.isNumeric { timing.decodeTimeStamp = Self.map(decode, part.range, target) }
    if timing.duration.isNumeric {
      timing.duration = Self.map(time + timing.duration, part.range, target) - start
    }
    timing.presentationTimeStamp = start
    if isStored {
      guard follow(&timing, isAudio: part.source?.track.mediaType == .audio) else { return nil }
    } else {
      // A picture that is shown across a cut begins at the cut, and ends at the next cut at the
      // latest.
      let end = min(timing.duration.isNumeric ? start + timing.duration : target.end, target.end)
      timing.presentationTimeStamp = max(start, target.start)
      if timing.presentationTimeStamp >= target.end { return nil }
      if timing.duration.isNumeric { timing.duration = end - timing.presentationTimeStamp }
    }
    var copy: CMSampleBuffer?
    let status = CMSampleBufferCreateCopyWithNewTiming(
      allocator: kCFAllocatorDefault, sampleBuffer: sample, sampleTimingEntryCount: 1,
      sampleTimingArray: &timing, sampleBufferOut: &copy)
    guard status == noErr, let copy else {
      throw AVError(.outOfMemory, reason: "A sample buffer cannot be made (\(status)).")
    }
    return copy
  }
}
