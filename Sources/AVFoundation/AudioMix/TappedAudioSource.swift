// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation
import MediaToolbox

/// Delivers a track's audio after processing by an audio tap.
final class TappedAudioSource: SampleSource {
  private let inner: AudioMixSource
  private let tap: MTAudioProcessingTap
  private let requirements: AudioRequirements
  private let description: CMFormatDescription
  private let channels: Int
  /// Interleaved samples that have been read but not taken by the tap, without a gap. The first
  /// frame has the number `position`.
  private var waiting: [Float] = []
  private var position: Int64 = 0
  /// The sample that follows a gap.
  private var pending: CMSampleBuffer?
  private var hasEnded = false
  /// The error that ended the audio; thrown after all frames before it have been delivered.
  private var failure: (any Error)?
  private var isPrepared = false
  /// Whether the next frames are the first at the beginning or after a discontinuity.
  private var isStart = true
  /// The number of frames that the tap has taken during the current call.
  private var taken = 0
  /// Blocks of `blockLength` samples for each channel: the tap's input and its output.
  private let input: UnsafeMutablePointer<Float>
  private let output: UnsafeMutablePointer<Float>
  private let list: UnsafeMutableAudioBufferListPointer

  /// The most frames that the tap is asked for at a time.
  private static let blockLength = 4096

  /// Creates the source.
  /// - Parameters:
  ///   - inner: The track's audio, as interleaved floating-point samples.
  ///   - tap: The tap.
  ///   - requirements: The format of `inner`, which is also the format of the result.
  /// - Throws: `AVError` if the format is not possible.
  init(_ inner: AudioMixSource, _ tap: MTAudioProcessingTap, _ requirements: AudioRequirements) throws {
    self.inner = inner
    self.tap = tap
    self.requirements = requirements
    channels = requirements.format.channels
    description = try CMFormatDescription(audioStreamBasicDescription: requirements.description)
    input = .allocate(capacity: channels * Self.blockLength)
    output = .allocate(capacity: channels * Self.blockLength)
    list = AudioBufferList.allocate(maximumBuffers: channels)
  }

  deinit {
    if isPrepared { tap.unprepare() }
    input.deallocate()
    output.deallocate()
    free(list.unsafeMutablePointer)
  }

  func stop() { inner.stop() }

  func seek(to range: CMTimeRange) throws {
    try inner.seek(to: range)
    (waiting, pending, hasEnded, failure, isStart) = ([], nil, false, nil, true)
    position = range.start > .zero ? requirements.frames(range.start) : 0
  }

  func next() throws -> CMSampleBuffer? {
    while true {
      read(Self.blockLength)
      let count = min(Self.blockLength, waiting.count / channels)
      guard count > 0 else {
        if isPrepared { tap.unprepare() }
        isPrepared = false
        if let failure { throw failure }
        return nil
      }
      let time = position
      var producedFrames = process(count)
      // The tap may replace the memory in the list, and may report more frames than the list holds.
      for channel in 0..<channels {
        producedFrames = min(producedFrames, Int(list[channel].mDataByteSize) / MemoryLayout<Float>.size)
      }
      // Frames that the tap did not take are discarded.
      if taken < count { drop(count - taken) }
      // If the tap returns no frames, the time is a gap.
      guard producedFrames > 0 else { continue }
      var frames = [Float](repeating: 0, count: producedFrames * channels)
      for channel in 0..<channels {
        guard let plane = list[channel].mData?.assumingMemoryBound(to: Float.self) else { continue }
        for frame in 0..<producedFrames { frames[frame * channels + channel] = plane[frame] }
      }
      return try requirements.makeSample(
        frames.withUnsafeBytes { Data($0) }, frames: producedFrames, at: time, description)
    }
  }

  private func process(_ count: Int) -> Int {
    if !isPrepared {
      var format = requirements.description
      format.mFormatFlags |= kAudioFormatFlagIsNonInterleaved
      format.mBytesPerFrame = format.mBitsPerChannel / 8
      format.mBytesPerPacket = format.mBytesPerFrame
      tap.prepare(frames: Self.blockLength, format)
      isPrepared = true
    }
    output.update(repeating: 0, count: channels * Self.blockLength)
    for channel in 0..<channels {
      list[channel] = AudioBuffer(
        mNumberChannels: 1, mDataByteSize: UInt32(count * MemoryLayout<Float>.size),
        mData: output + channel * Self.blockLength)
    }
    taken = 0
    let flags = (isStart ? kMTAudioProcessingTapFlag_StartOfStream : 0) | endFlag(after: count)
    let source = TapSource(channels: channels) { [unowned self] in take($0) }
    return tap.process(frames: count, flags: flags, into: list.unsafeMutablePointer, from: source).frames
  }

  private func endFlag(after count: Int) -> MTAudioProcessingTapFlags {
    hasEnded && pending == nil && waiting.count <= count * channels
      ? kMTAudioProcessingTapFlag_EndOfStream : 0
  }

  /// Returns frames for the tap: fewer than requested before a gap and at the end.
  private func take(_ count: Int) -> TapSource.Part {
    let wanted = min(max(0, count), Self.blockLength)
    read(wanted)
    let frames = min(wanted, waiting.count / channels)
    for channel in 0..<channels {
      let plane = input + channel * Self.blockLength
      for frame in 0..<frames { plane[frame] = waiting[frame * channels + channel] }
    }
    let scale = CMTimeScale(requirements.format.sampleRate)
    let range = CMTimeRange(
      start: CMTime(value: position, timescale: scale),
      duration: CMTime(value: Int64(frames), timescale: scale))
    let flags = (isStart ? kMTAudioProcessingTapFlag_StartOfStream : 0) | endFlag(after: frames)
    drop(frames)
    taken += frames
    return TapSource.Part(
      planes: (0..<channels).map { input + $0 * Self.blockLength }, frames: frames, flags: flags, range: range
    )
  }

  private func drop(_ frames: Int) {
    let frames = min(frames, waiting.count / channels)
    waiting.removeFirst(frames * channels)
    position = position.addingClamped(Int64(frames))
    if frames > 0 { isStart = false }
  }

  /// Reads until more than `count` frames are waiting, up to the next gap.
  private func read(_ count: Int) {
    while waiting.count <= count * channels, !hasEnded || pending != nil {
      let sample: CMSampleBuffer?
      do { sample = try pending ?? inner.next() } catch {
        failure = error
        hasEnded = true
        return
      }
      pending = nil
      guard let sample, let data = try? CMSampleBufferGetDataBuffer(sample)?.dataBytes() else {
        hasEnded = true
        return
      }
      let time = CMSampleBufferGetPresentationTimeStamp(sample).value
      if waiting.isEmpty {
        if time != position { isStart = true }
        position = time
      } else if time != position.addingClamped(Int64(waiting.count / channels)) {
        pending = sample
        return
      }
      waiting += data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    }
  }
}
