// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Reads a time range of a track's audio at another speed with its pitch preserved. The frames that
/// it delivers are numbered from 0.
final class TimeStretchedAudioSource: SampleSource {
  private let source: AudioSource
  private let filter: TempoFilter
  /// The format in which the source is read for the filter.
  private let working: AudioRequirements
  private let requirements: AudioRequirements
  private let description: CMFormatDescription
  /// The first source frame of the range.
  private let start: Int64
  /// The source frame that is read next.
  private var read: Int64
  /// The source frame after the last one that is read.
  private var end: Int64
  /// The number of the output frame that is delivered next.
  private var made: Int64 = 0
  /// The number of output frames in total.
  private var count: Int64
  /// The duration of the source in relation to that of the output.
  private let tempo: Double
  /// The error that ended the source early; thrown after all frames before it have been delivered.
  private var failure: (any Error)?
  /// The number of source frames of silence inserted since the last audio or picture of the file.
  private var silence: Int64 = 0
  private let probe: PictureProbe
  /// The last tenth of a second of the filter's input.
  private var tail: [Float] = []
  /// The number of times that `tail` was fed to the filter after the end of the source.
  private var tailUses = 0
  /// A sample of the source that comes after a gap, until the gap has been filled.
  private var pending: CMSampleBuffer?

  private var channels: Int { requirements.format.channels }

  /// Opens the track's file.
  /// - Parameters:
  ///   - track: The source.
  ///   - range: The time range of the source.
  ///   - tempo: The duration of the source in relation to that of the output.
  ///   - count: The number of frames to deliver.
  ///   - requirements: The format of the output.
  ///   - damage: Records damaged samples that are left out.
  ///   - probe: Looks for pictures in the track's file where its audio has gaps.
  ///   - interruption: Ends opening and reading of the file.
  /// - Throws: `AVError` if the file cannot be read, or if the tempo is outside 1/64 ... 64.
  init(
    _ track: AVAssetTrack, range: CMTimeRange, tempo: Double, count: Int64, _ requirements: AudioRequirements,
    damage: DamageLog, probe: PictureProbe, interruption: MediaInterruption
  ) throws {
    self.probe = probe
    working = AudioRequirements(mixing: requirements)
    self.requirements = requirements
    self.count = count
    self.tempo = tempo
    description = try CMFormatDescription(audioStreamBasicDescription: requirements.description)
    source = try AudioSource(
      Demuxer(again: track.file.properties().demuxer, interruption: interruption), track.properties, working,
      damage: damage)
    guard TempoFilter.range.contains(tempo) else {
      throw AVError(
        .operationNotSupportedForAsset, reason: "The audio would be scaled by a factor outside 1/64 to 64.",
        advice: "Choose a duration from 1/64 to 64 times the source duration.")
    }
    filter = try TempoFilter(
      tempo: tempo, channels: requirements.format.channels, sampleRate: requirements.format.sampleRate)
    start = working.frames(range.start)
    read = start
    end = working.frames(range.end)
    try source.seek(to: range)
  }

  func stop() { source.stop() }

  func seek(to range: CMTimeRange) throws {
    throw AVError(.operationNotAllowed, reason: "Time-stretched audio does not support seeking.")
  }

  func next() throws -> CMSampleBuffer? {
    while made < count {
      guard var samples = try step() else { break }
      let wanted = Int(max(0, count - made)).multipliedClamped(by: channels)
      samples.removeLast(max(0, samples.count - wanted))
      let frames = samples.count / channels
      guard frames > 0 else { continue }
      defer { made += Int64(frames) }
      return try requirements.makeSample(
        requirements.data(samples, frames: frames), frames: frames, at: made, description)
    }
    if let failure { throw failure }
    return nil
  }

  /// Feeds the source's next sample to the filter and returns the filter's output; nil when no more
  /// output can come.
  private func step() throws -> [Float]? {
    guard read < end else { return try repeatTail() }
    var next = pending
    if next == nil {
      do { next = try source.next() } catch {
        // The output for the samples before the error is still delivered.
        failure = error
        count = min(count, Int64(clamping: Double(read - start) / tempo))
        end = read
        return []
      }
    }
    guard let sample = next else {
      // Media missing at the end of the range is replaced by silence.
      return mayBeSilent() ? try feedSilence(until: end) : nil
    }
    pending = nil
    let first = CMSampleBufferGetPresentationTimeStamp(sample).value
    guard let block = CMSampleBufferGetDataBuffer(sample) else { return [] }
    if first > read {
      pending = sample
      return try feedSilence(until: min(first, end))
    }
    silence = 0
    var frames = try block.dataBytes().withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    if first < read {
      let earlier = Int(read.subtractingClamped(first)).multipliedClamped(by: channels)
      frames.removeFirst(min(frames.count, earlier))
    }
    let taken = min(Int64(frames.count / channels), end.subtractingClamped(read))
    frames.removeLast(frames.count - Int(taken) * channels)
    read += taken
    return try feed(frames)
  }

  /// The number of output frames of silence at the end of the frames delivered so far.
  var filled: Int64 { Int64(clamping: Double(silence) / tempo) }

  /// Whether more silence may be inserted. It is limited to `longestFill` frames of output after
  /// the last audio. If the file has a picture after that, the limit applies from that picture on,
  /// since the picture shows that the file extends so far.
  private func mayBeSilent() -> Bool {
    let longest = Int64(clamping: Double(requirements.longestFill) * tempo)
    if silence >= longest {
      let known = CMTime(value: read - silence, timescale: CMTimeScale(working.format.sampleRate))
      if let next = probe.picture(after: known) { silence = read.subtractingClamped(working.frames(next)) }
    }
    return silence < longest
  }

  /// Feeds silence for a gap in the source to the filter, at most one second. After the longest
  /// permitted silence, the rest of the gap is skipped without output.
  private func feedSilence(until frame: Int64) throws -> [Float] {
    let missing = frame.subtractingClamped(read)
    guard mayBeSilent() else {
      read = frame
      made = made.addingClamped(Int64(clamping: Double(missing) / tempo))
      return []
    }
    let count = min(missing, Int64(requirements.format.sampleRate))
    silence += count
    read += count
    return try feed([Float](repeating: 0, count: Int(count) * channels))
  }

  /// Feeds samples to the filter and returns the filter's output.
  private func feed(_ samples: [Float]) throws -> [Float] {
    let length = requirements.format.sampleRate / 10 * channels
    tail = samples.count >= length ? Array(samples.suffix(length)) : Array((tail + samples).suffix(length))
    return try filter.convert(samples)
  }

  /// Feeds the end of the input to the filter once more, and returns the filter's output; nil if
  /// that cannot bring more output.
  ///
  /// The filter looks ahead, so it retains the last hundredths of a second of its input. More input
  /// is needed to obtain them. It is the reversed end of the input, so that the waveform is
  /// continuous. Audio of the file after the range is not used.
  private func repeatTail() throws -> [Float]? {
    // A filter chain of more steps, as for a tempo farther from 1, retains more input.
    guard tailUses < 100, !tail.isEmpty else { return nil }
    tailUses += 1
    var backwards: [Float] = []
    backwards.reserveCapacity(tail.count)
    for frame in stride(from: tail.count / channels - 1, through: 0, by: -1) {
      backwards += tail[frame * channels..<(frame + 1) * channels]
    }
    tail = backwards
    return try filter.convert(backwards)
  }
}
