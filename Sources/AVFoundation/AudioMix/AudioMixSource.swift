// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

extension AudioRequirements {
  /// The format in which a mix for an output is computed: interleaved 32-bit floating point.
  init(mixing other: AudioRequirements) {
    format = AudioDecoder.Format(
      bits: 32, isFloat: true, isBigEndian: false, isInterleaved: true,
      sampleRate: other.format.sampleRate, channels: other.format.channels)
    format.filterSize = other.format.filterSize
  }
}

/// The volume of a track at each frame.
struct VolumeCurve {
  private let ramps: [(start: Double, end: Double, from: Float, to: Float)]

  init(_ ramps: [AVAudioMixInputParameters.Ramp], sampleRate: Int) {
    let rate = Double(sampleRate)
    self.ramps = ramps.map {
      ($0.range.start.seconds * rate, $0.range.end.seconds * rate, $0.start, $0.end)
    }
  }

  var isConstant: Bool { ramps.isEmpty }

  func volume(at frame: Int64) -> Float {
    let time = Double(frame)
    guard let ramp = ramps.last(where: { $0.start <= time }) else { return 1 }
    guard time < ramp.end else { return ramp.to }
    return ramp.from + (ramp.to - ramp.from) * Float((time - ramp.start) / (ramp.end - ramp.start))
  }
}

/// Mixes the audio of several sources.
final class AudioMixSource: SampleSource {
  private struct Input {
    let source: any SampleSource
    let curve: VolumeCurve
    /// Interleaved samples that have been read but not mixed yet. The first frame has the number
    /// `start`.
    var waiting: [Float] = []
    var start: Int64 = 0
    var hasEnded = false
    /// The sample that follows a gap, until the gap has been filled with silence.
    var pending: CMSampleBuffer?

    /// The number of the frame after the waiting ones. The time stamps come from a file and may be
    /// as large as an integer gets, so the sum is clamped.
    func end(_ channels: Int) -> Int64 { start.addingClamped(Int64(waiting.count / channels)) }

    /// The number of the next frame that the source has delivered; nil if there is none.
    var first: Int64? {
      waiting.isEmpty ? pending.map { CMSampleBufferGetPresentationTimeStamp($0).value } : start
    }
  }

  private var inputs: [Input]
  /// The sources of the inputs, for `stop()`, which other threads call.
  private let sources: [any SampleSource]
  private let requirements: AudioRequirements
  private let description: CMFormatDescription
  private let channels: Int
  private var position: Int64 = 0
  private var end: Int64 = .max
  /// The error because of which the audio ends at `end`.
  private var failure: (any Error)?
  /// The number of frames since the last frame of an input or the last picture of the file.
  private var silence: Int64 = 0
  private let longestFill: Int64
  private let probe: PictureProbe?
  private let interruption: SourceInterruption

  private static let blockLength = 4096

  /// Creates a mix.
  /// - Parameters:
  ///   - sources: The sources, whose format is that of `AudioRequirements(mixing: requirements)`,
  ///     and their volumes.
  ///   - requirements: The format of the output.
  ///   - file: The file that the sources read, if they all read the same one.
  ///   - fillsGaps: Whether gaps are filled with silence, up to `AudioRequirements.longestFill`.
  ///     False if the sources have inserted the permitted silence, so that a remaining gap is
  ///     skipped.
  /// - Throws: `AVError` if the format is not possible.
  init(
    _ sources: [(source: any SampleSource, curve: VolumeCurve)], _ requirements: AudioRequirements,
    of file: AssetFile? = nil, fillsGaps: Bool = true
  ) throws {
    let interruption = SourceInterruption()
    self.interruption = interruption
    longestFill = fillsGaps ? requirements.longestFill : 0
    probe = file.map { PictureProbe($0, interruption: interruption) }
    self.sources = sources.map(\.source)
    inputs = sources.map { Input(source: $0.source, curve: $0.curve) }
    self.requirements = requirements
    channels = requirements.format.channels
    description = try CMFormatDescription(audioStreamBasicDescription: requirements.description)
  }

  func stop() {
    for source in sources { source.stop() }
    interruption.stop()
  }

  func seek(to range: CMTimeRange) throws {
    for index in inputs.indices {
      try inputs[index].source.seek(to: range)
      inputs[index].waiting = []
      inputs[index].start = 0
      inputs[index].hasEnded = false
      inputs[index].pending = nil
    }
    failure = nil
    silence = 0
    position = range.start > .zero ? requirements.frames(range.start) : 0
    end = range.end.isNumeric ? requirements.frames(range.end) : .max
  }

  func next() throws -> CMSampleBuffer? {
    var wanted = position
    while true {
      let block = min(position.addingClamped(Int64(Self.blockLength)), end)
      if failure == nil, position < end {
        for index in inputs.indices {
          do { try fill(&inputs[index], to: block) } catch {
            // The frames before the error, which all inputs have, are still delivered.
            failure = failure ?? error
            end = min(end, inputs[index].end(channels))
          }
        }
      }
      guard position < end else {
        if let failure { throw failure }
        return nil
      }
      wanted = min(block, end)
      let first = inputs.compactMap(\.first).min()
      silence = first.map { $0 < wanted } ?? true ? 0 : silence.addingClamped(wanted - position)
      if silence > longestFill, let probe {
        // Pictures of the file show that its timeline does extend so far, so that silence may go
        // on.
        let known = CMTime(
          value: wanted.subtractingClamped(silence), timescale: CMTimeScale(requirements.format.sampleRate))
        if let next = probe.picture(after: known) {
          silence = wanted.subtractingClamped(requirements.frames(next))
        }
      }
      // A gap longer than the permitted silence is skipped.
      guard let first, silence > longestFill else { break }
      position = first
      silence = 0
    }
    var last = wanted
    if inputs.allSatisfy(\.hasEnded) {
      last = min(wanted, inputs.map { $0.end(channels) }.max() ?? position)
    }
    guard last > position else { return nil }
    let count = Int(last - position)
    var sum = [Float](repeating: 0, count: count * channels)
    for index in inputs.indices { take(&inputs[index], count, into: &sum) }
    defer { position = last }
    return try requirements.makeSample(
      requirements.data(sum, frames: count), frames: count, at: position, description)
  }

  /// Reads until an input has all frames before the frame `end`, or has ended.
  private func fill(_ input: inout Input, to end: Int64) throws {
    while !input.hasEnded, input.end(channels) < end || input.waiting.isEmpty {
      if input.end(channels) <= position { input.waiting = [] }
      guard let sample = try input.pending ?? input.source.next() else {
        input.hasEnded = true
        return
      }
      input.pending = nil
      guard let block = CMSampleBufferGetDataBuffer(sample) else { continue }
      let first = CMSampleBufferGetPresentationTimeStamp(sample).value
      let next = input.end(channels)
      if !input.waiting.isEmpty, first > next {
        // The sample waits until the gap has been filled.
        input.pending = sample
        guard first < end else { return }
        input.waiting += [Float](repeating: 0, count: Int(first - next) * channels)
        continue
      }
      var frames = try block.dataBytes().withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
      if input.waiting.isEmpty {
        input.start = first
      } else if first < next {
        // Frames that overlap the previous sample are left out.
        let twice = Int(next.subtractingClamped(first))
        frames.removeFirst(min(frames.count, twice.multipliedClamped(by: channels)))
      }
      input.waiting += frames
    }
  }

  /// Adds the next frames of an input to a sum, with the input's volume.
  private func take(_ input: inout Input, _ count: Int, into sum: inout [Float]) {
    let from = max(position, input.start)
    let to = min(position + Int64(count), input.end(channels))
    guard from < to else { return }
    let source = Int(from - input.start) * channels
    let target = Int(from - position) * channels
    for frame in 0..<Int(to - from) {
      let volume = input.curve.isConstant ? 1 : input.curve.volume(at: from + Int64(frame))
      for channel in 0..<channels {
        sum[target + frame * channels + channel] +=
          input.waiting[source + frame * channels + channel] * volume
      }
    }
    let used = Int(to - input.start) * channels
    input.waiting.removeFirst(used)
    input.start = to
  }
}

extension AudioRequirements {
  /// Converts interleaved floating-point samples to this format. Integer formats are limited to
  /// full scale.
  func data(_ samples: [Float], frames: Int) -> Data {
    var data = Data(capacity: frames * frameBytes)
    func add<T: FixedWidthInteger>(_ value: T) {
      withUnsafeBytes(of: format.isBigEndian ? value.bigEndian : value.littleEndian) {
        data.append(contentsOf: $0)
      }
    }
    func add(sample: Float) {
      switch (format.isFloat, format.bits) {
      case (true, 64): add(Double(sample).bitPattern)
      case (true, _): add(sample.bitPattern)
      default:
        let scaled = (Double(sample) * Double(1 << (format.bits - 1))).rounded()
        let limit = Double(1 << (format.bits - 1))
        let value = Int32(max(-limit, min(limit - 1, scaled.isFinite ? scaled : 0)))
        switch format.bits {
        case 8: add(Int8(truncatingIfNeeded: value))
        case 16: add(Int16(truncatingIfNeeded: value))
        case 24:
          let bytes = withUnsafeBytes(of: value.littleEndian) { Array($0.prefix(3)) }
          data.append(contentsOf: format.isBigEndian ? bytes.reversed() : bytes)
        default: add(value)
        }
      }
    }
    let channels = format.channels
    if format.isInterleaved {
      for sample in samples { add(sample: sample) }
    } else {
      for channel in 0..<channels {
        for frame in 0..<frames { add(sample: samples[frame * channels + channel]) }
      }
    }
    return data
  }
}
