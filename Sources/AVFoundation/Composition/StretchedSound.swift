// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// A range of a track's sound in more or less time, at its own pitch. Its frames are numbered from 0 on.
final class StretchedSound: SampleSource {
  private let source: SoundSource
  private let filter: TempoFilter
  /// Of the source, which is read as the filter takes it.
  private let working: SoundRequirements
  private let requirements: SoundRequirements
  private let description: CMFormatDescription
  /// The source's first frame, the one that comes next, and the one after the last.
  private let start: Int64
  private var read: Int64
  private var end: Int64
  /// Frames that were given out, and how many there are to be.
  private var made: Int64 = 0
  private var count: Int64
  private let tempo: Double
  /// Why there are fewer; told when all have been given out.
  private var failure: (any Error)?
  /// The source's frames of the silence that was put in since its last sound, or picture.
  private var silence: Int64 = 0
  private let witness: PictureWitness
  /// The source's last frames, and how often they were used again.
  private var tail: [Float] = []
  private var tailUses = 0
  /// The source's sample that comes after a gap.
  private var pending: CMSampleBuffer?

  private var channels: Int { requirements.format.channels }

  /// Of the parameters:
  ///
  /// - `tempo`: Seconds of the source for a second of the output.
  /// - `count`: How many frames are wanted.
  /// - `witness`: Of the track's file.
  /// - `interruption`: Ends the opening of the file, and all that follows.
  init(
    _ track: AVAssetTrack, range: CMTimeRange, tempo: Double, count: Int64, _ requirements: SoundRequirements,
    damage: DamageLog, witness: PictureWitness, interruption: MediaInterruption
  ) throws {
    self.witness = witness
    working = SoundRequirements(mixing: requirements)
    self.requirements = requirements
    self.count = count
    self.tempo = tempo
    description = try CMFormatDescription(audioStreamBasicDescription: requirements.description)
    source = try SoundSource(
      Demuxer(again: track.file.facts().demuxer, interruption: interruption), track.facts, working,
      damage: damage)
    guard TempoFilter.range.contains(tempo) else {
      throw AVError(
        .operationNotSupportedForAsset, reason: "Sound cannot be scaled so much.",
        advice: "Its pitch is kept from 1/64 to 64 times its speed.")
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
    throw AVError(.operationNotAllowed, reason: "Sound that is scaled is read once.")
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

  /// What comes out of the filter for the source's next sample; nil when nothing more can come.
  private func step() throws -> [Float]? {
    guard read < end else { return try repeatTail() }
    // What the file lacks at the end is silent.
    var next = pending
    if next == nil {
      do { next = try source.next() } catch {
        // What the filter has taken is good.
        failure = error
        count = min(count, Int64(clamping: Double(read - start) / tempo))
        end = read
        return []
      }
    }
    guard let sample = next else {
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

  /// Frames of silence at the end of what was given out.
  var filled: Int64 { Int64(clamping: Double(silence) / tempo) }

  /// Whether there may be more silence. It is counted as it is heard.
  private func mayBeSilent() -> Bool {
    let longest = Int64(clamping: Double(requirements.longestFill) * tempo)
    if silence >= longest {
      let known = CMTime(value: read - silence, timescale: CMTimeScale(working.format.sampleRate))
      if let next = witness.picture(after: known) { silence = read.subtractingClamped(working.frames(next)) }
    }
    return silence < longest
  }

  /// A gap in the source; a second at most at a time. When there was enough silence, time goes on without.
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

  private func feed(_ samples: [Float]) throws -> [Float] {
    let length = requirements.format.sampleRate / 10 * channels
    tail = samples.count >= length ? Array(samples.suffix(length)) : Array((tail + samples).suffix(length))
    return try filter.convert(samples)
  }

  /// The filter looks ahead and swallows the last hundredths of a second: they are given to it once more, backwards so
  /// that the wave goes on. What lies behind the range in the file does not sound.
  private func repeatTail() throws -> [Float]? {
    // The more steps the filter has, the more it holds.
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
