// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Reads the audio of a composition's track, decoded: the frames of each part at their time, and
/// silence in gaps.
///
/// A part whose duration differs from its source range is played slower or faster, with its pitch
/// preserved or, with `.varispeed`, with its pitch changed in proportion.
final class CompositionAudioSource: SampleSource {
  private typealias TimedPart = (part: CompositionTimeline.Part, target: CMTimeRange)

  private let parts: [TimedPart]
  /// For each part, by its start: the duration of the gap before it that is missing media; see
  /// `CompositionTimeline.Part.missing`.
  private let missingByEnd: [CMTime: CMTime]
  private let requirements: AudioRequirements
  private let pitch: AVAudioTimePitchAlgorithm
  private let damage: DamageLog
  private let description: CMFormatDescription
  private let end: CMTime
  private var waiting: ArraySlice<TimedPart> = []
  /// The source of the current part, the frame number in the composition of the source's frame 0,
  /// and the frame number at which the part ends.
  private var current: (source: any SampleSource, offset: Int64, end: Int64)?
  private var position: Int64 = 0
  private var last: Int64 = 0
  private var pending: CMSampleBuffer?
  /// The frame number at which the current part ends, if its file ended before; otherwise nil.
  private var missing: Int64?
  /// The number of frames of silence inserted since the last audio in place of missing media.
  private var filled: Int64 = 0
  /// For a part that is played without pitch-preserving scaling: a reader of the file's pictures,
  /// the frame number in the composition of the source's frame 0, and the format that is read.
  private var origin: (probe: PictureProbe, offset: Int64, requirements: AudioRequirements)?
  private let interruption = SourceInterruption()
  /// Interrupts the search for pictures in the files of the parts.
  private let probeInterruption = SourceInterruption()

  init(
    _ timeline: CompositionTimeline, _ requirements: AudioRequirements, pitch: AVAudioTimePitchAlgorithm,
    damage: DamageLog = DamageLog()
  ) throws {
    self.damage = damage
    self.pitch = pitch
    let timedParts = timeline.timedParts
    parts = timedParts.filter { $0.part.source != nil }
    missingByEnd = timedParts.reduce(into: [:]) { missingByEnd, item in
      if item.part.missing > .zero { missingByEnd[item.target.end] = item.part.missing }
    }
    end = timeline.duration
    self.requirements = requirements
    description = try CMFormatDescription(audioStreamBasicDescription: requirements.description)
  }

  func stop() {
    interruption.stop()
    probeInterruption.stop()
  }

  func seek(to range: CMTimeRange) throws {
    position = requirements.frames(max(.zero, range.start))
    last = requirements.frames(min(range.end, end))
    current = nil
    pending = nil
    missing = nil
    filled = 0
    origin = nil
    waiting = parts.filter { $0.target.end > range.start && $0.target.start < range.end }[...]
  }

  func next() throws -> CMSampleBuffer? {
    while position < last {
      if let end = missing {
        if let silence = try fill(until: end) { return silence }
        missing = nil
        continue
      }
      if let (source, offset, partEnd) = current {
        let sample = try pending ?? source.next()
        pending = nil
        guard let sample else {
          // The file ends before the part does.
          if let stretched = source as? TimeStretchedAudioSource { filled = stretched.filled }
          current = nil
          missing = min(partEnd, last)
          continue
        }
        if let placed = try place(sample, offset, min(partEnd, last)) { return placed }
        continue
      }
      guard let next = waiting.first else { return try silence(until: last) }
      let start = requirements.frames(next.target.start)
      if position < start {
        let wanted = start.subtractingClamped(excess(before: next.target))
        if position < wanted { return try silence(until: min(wanted, last)) }
        position = min(start, last)
        continue
      }
      waiting.removeFirst()
      filled = 0
      try open(next.part, next.target)
    }
    return nil
  }

  private func open(_ part: CompositionTimeline.Part, _ target: CMTimeRange) throws {
    guard let track = part.source?.track else { return }
    let start = requirements.frames(target.start)
    let partEnd = requirements.frames(target.end)
    var own = requirements
    let probe = PictureProbe(track.file, interruption: probeInterruption)
    origin = nil
    if part.isScaled, pitch != .varispeed {
      // The filter starts at the source time that corresponds to the current position.
      let tempo = part.range.duration.seconds / target.duration.seconds
      guard tempo.isFinite, tempo > 0 else { return }
      var range = part.range
      if position > start {
        let current = CMTime(value: position, timescale: CMTimeScale(requirements.format.sampleRate))
        let from = CMTimeMapTimeFromRangeToRange(current, fromRange: target, toRange: part.range)
        range = CMTimeRange(start: min(from, part.range.end), end: part.range.end)
      }
      let first = max(position, start)
      let stretched = try TimeStretchedAudioSource(
        track, range: range, tempo: tempo, count: partEnd - first, requirements, damage: damage,
        probe: probe, interruption: interruption.begin())
      current = (stretched, first, partEnd)
      return
    }
    if part.isScaled {
      // The source is read at the sample rate at which its duration gives as many frames as the
      // part has.
      let rate =
        Double(requirements.format.sampleRate) * target.duration.seconds / part.range.duration.seconds
      guard rate.isFinite, (1...384_000).contains(rate.rounded()) else {
        throw AVError(
          .operationNotSupportedForAsset,
          reason: "The scaled audio would have to be resampled to a rate outside 1 to 384,000 Hz.",
          advice: "Choose a duration that is nearer to the source's.")
      }
      own = AudioRequirements(requirements, sampleRate: Int(rate.rounded()))
    }
    let properties = try track.file.properties()
    let source = try AudioSource(
      Demuxer(again: properties.demuxer, interruption: interruption.begin()), track.properties, own,
      damage: damage)
    let skipped = position - start
    var from = part.range.start
    if skipped > 0 { from = from + CMTime(value: skipped, timescale: CMTimeScale(own.format.sampleRate)) }
    try source.seek(to: CMTimeRange(start: from, end: part.range.end))
    let offset = start.subtractingClamped(own.frames(part.range.start))
    current = (source, offset, partEnd)
    origin = (probe, offset, own)
  }

  /// Returns the frames of a sample that belong to the part, at their time, or silence if the
  /// sample begins later than the current position. Nil if the sample has none.
  private func place(_ sample: CMSampleBuffer, _ offset: Int64, _ end: Int64) throws -> CMSampleBuffer? {
    let count = CMSampleBufferGetNumSamples(sample)
    // The time stamp's value is a number of frames, whatever its timescale is.
    let first = CMSampleBufferGetPresentationTimeStamp(sample).value.addingClamped(offset)
    if first > position, position < end {
      pending = sample
      // A scaled source leaves a gap only after it has inserted the longest permitted silence.
      if current?.source is TimeStretchedAudioSource {
        position = min(first, end)
        return nil
      }
      return try fill(until: min(first, end))
    }
    let from = Int(min(Int64(count), max(0, position.subtractingClamped(first))))
    let to = Int(min(Int64(count), max(0, end.subtractingClamped(first))))
    guard from < to, let block = CMSampleBufferGetDataBuffer(sample) else {
      if first.addingClamped(Int64(count)) >= end {
        current = nil
        position = max(position, end)
      }
      return nil
    }
    let all = try block.dataBytes()
    let data = requirements.format.part(of: all, frames: count, from..<to)
    let made = try requirements.makeSample(data, frames: to - from, at: position, description)
    filled = 0
    position += Int64(to - from)
    if position >= end { current = nil }
    return made
  }

  /// The number of frames before a part that are skipped, without silence, because missing media
  /// exceeds the longest silence.
  private func excess(before target: CMTimeRange) -> Int64 {
    guard let missingDuration = missingByEnd[target.start] else { return 0 }
    return max(0, requirements.frames(missingDuration).subtractingClamped(requirements.longestFill))
  }

  /// Returns silence in place of missing media, up to `end`. Nil at `end`, and when the longest
  /// permitted silence has been inserted; the position then moves to `end`.
  private func fill(until end: Int64) throws -> CMSampleBuffer? {
    if position < end, filled >= requirements.longestFill, let origin {
      // Pictures of the file show that its timeline does extend so far, so that silence may go on.
      let (probe, offset, own) = origin
      let known = CMTime(
        value: (position - filled).subtractingClamped(offset), timescale: CMTimeScale(own.format.sampleRate))
      if let next = probe.picture(after: known) {
        filled = position.subtractingClamped(own.frames(next).addingClamped(offset))
      }
    }
    let rest = requirements.longestFill.subtractingClamped(filled)
    guard position < end, rest > 0 else {
      position = max(position, end)
      filled = 0
      return nil
    }
    let start = position
    defer { filled += position - start }
    return try silence(until: min(end, position.addingClamped(rest)))
  }

  /// Returns silence up to a frame number, at most one second; nil if there is none left.
  private func silence(until end: Int64) throws -> CMSampleBuffer? {
    let count = min(end - position, Int64(requirements.format.sampleRate))
    guard count > 0 else { return nil }
    defer { position += count }
    return try requirements.makeSample(
      Data(count: Int(count) * requirements.frameBytes), frames: Int(count), at: position, description)
  }
}
