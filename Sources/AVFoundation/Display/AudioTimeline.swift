// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Audio that waits to be played, positioned on the renderer's timebase.
///
/// It is read at the rate of the timebase, so that the pitch changes with the rate. Not
/// thread-safe.
struct AudioTimeline {
  private(set) var sampleRate = 0.0
  private(set) var channels = 0
  private var pieces: [(start: Int64, samples: [Float])] = []
  /// The position of the next frame; nil if it is to be computed from the time.
  private var position: Double?
  /// Whether audio is read a little faster or slower than the timebase runs, to remove an offset.
  private var isCatchingUp = false
  /// Seconds by which the audio that was read last is ahead of the timebase; nil while it is
  /// silent.
  private(set) var offset: Double?

  /// The position and length of the last read, from which the reader's pace is measured.
  private var last: (expected: Double, frames: Int, rate: Double)?
  /// Frames of the timebase per frame that the reader takes, divided by the rate: 1 for a device
  /// whose clock is accurate.
  private var pace = 1.0

  /// Seconds. With a larger offset the position jumps; with a smaller one it is adjusted gradually.
  private static let farthest = 0.015
  /// Seconds. Offsets up to this are not corrected.
  private static let nearest = 0.002
  /// Clock oscillators deviate by less than this. If the pace deviates by more, the sample rate is
  /// adapted to it all the time.
  private static let crystal = 0.002
  /// A measured pace that deviates by more than this is not used.
  private static let maxPaceDeviation = 0.5
  /// The time constant in seconds over which the pace is averaged.
  private static let paceTime = 0.25

  var isEmpty: Bool { pieces.isEmpty }

  /// Seconds of audio after a time.
  func queued(after time: CMTime) -> Double {
    guard sampleRate > 0, time.isNumeric else { return 0 }
    let now = Int64(clamping: time.seconds * sampleRate)
    var count: Int64 = 0
    for piece in pieces {
      let end = piece.start + Int64(piece.samples.count / channels)
      count += end - min(max(piece.start, now), end)
    }
    return Double(count) / sampleRate
  }

  /// Appends audio.
  /// - Returns: Whether the format differs from the previous one; all previous audio is then
  ///   removed.
  mutating func append(_ frames: AudioFrames) -> Bool {
    let isNew = frames.sampleRate != sampleRate || frames.channels != channels
    if isNew {
      removeAll()
      (sampleRate, channels) = (frames.sampleRate, frames.channels)
    }
    let start = (frames.time.seconds * sampleRate).rounded()
    guard frames.count > 0, abs(start) < 1e15 else { return isNew }
    pieces.append((Int64(start), frames.samples))
    return isNew
  }

  mutating func removeAll() {
    pieces = []
    position = nil
    last = nil
    isCatchingUp = false
  }

  /// Updates the pace. A device may take more or fewer frames per second than its sample rate, and
  /// the audio is then read slower or faster accordingly.
  /// - Parameters:
  ///   - expected: The position at which the timebase is.
  ///   - frames: The number of frames that are read.
  ///   - rate: The rate of the timebase.
  private mutating func updatePace(_ expected: Double, frames: Int, rate: Double) {
    defer { last = (expected, frames, rate) }
    guard let last, last.frames > 0, last.rate == rate else { return }
    let measured = (expected - last.expected) / (Double(last.frames) * rate)
    // A larger deviation means that the time has jumped, or that the device was stopped.
    guard abs(measured - 1) < Self.maxPaceDeviation else { return }
    pace += (measured - pace) * min(Double(last.frames) / sampleRate / Self.paceTime, 1)
  }

  /// Removes the audio from a time on.
  mutating func remove(from time: CMTime) {
    guard time.isNumeric, sampleRate > 0 else { return }
    let end = Int64(clamping: (time.seconds * sampleRate).rounded())
    pieces = pieces.compactMap { piece in
      let kept = end.subtractingClamped(piece.start)
      guard kept > 0 else { return nil }
      return (piece.start, Array(piece.samples.prefix(Int(min(kept, Int64(piece.samples.count))) * channels)))
    }
  }

  /// Removes the audio that ends at or before a time, in whole pieces.
  mutating func removePast(_ time: CMTime) {
    guard time.isNumeric, sampleRate > 0 else { return }
    removePast(Int64(clamping: time.seconds * sampleRate))
  }

  private mutating func removePast(_ frame: Int64) {
    let channels = channels
    let count = pieces.prefix { $0.start + Int64($0.samples.count / channels) <= frame }.count
    if count > 0 { pieces.removeFirst(count) }
  }

  /// Fills a buffer with the audio from `time` on, or silence where there is none.
  /// - Parameters:
  ///   - out: The buffer for interleaved samples.
  ///   - time: The time of the first frame; if not numeric, the buffer is silent.
  ///   - rate: The rate of the timebase.
  ///   - gain: The factor for the samples.
  mutating func read(into out: UnsafeMutableBufferPointer<Float>, time: CMTime, rate: Double, gain: Float) {
    out.update(repeating: 0)
    guard sampleRate > 0, time.isNumeric, rate > 0, rate.isFinite else {
      (position, offset, last) = (nil, nil, nil)
      return
    }
    let expected = time.seconds * sampleRate
    updatePace(expected, frames: out.count / channels, rate: rate)
    let isOff = abs(pace - 1) > Self.crystal
    var readPosition = position ?? expected.rounded()
    var error = (readPosition - expected) / sampleRate
    if abs(error) > Self.farthest * max(1, rate) {
      readPosition = expected.rounded()
      error = 0
      isCatchingUp = false
    }
    offset = pieces.isEmpty ? nil : error
    if abs(error) > Self.nearest { isCatchingUp = true }
    if isOff { isCatchingUp = true }
    if isCatchingUp, !isOff, abs(error) < Self.nearest / 8 {
      isCatchingUp = false
      readPosition.round()
    }
    let maximum = isOff ? 0.02 : 0.005
    let step = rate * (isCatchingUp ? (isOff ? pace : 1) - max(-maximum, min(maximum, error)) : 1)
    for frame in 0..<out.count / channels {
      hear(readPosition, into: out, frame * channels, gain)
      readPosition += step
    }
    position = readPosition
    removePast(Int64(clamping: readPosition).subtractingClamped(4))
  }

  /// Computes one frame. Between stored frames it interpolates with a cubic through four of them
  /// (Catmull-Rom spline).
  @inline(__always)
  private func hear(
    _ readPosition: Double, into out: UnsafeMutableBufferPointer<Float>, _ index: Int, _ gain: Float
  ) {
    let integer = readPosition.rounded(.down)
    // No audio has such a position, and the bound keeps the arithmetic below from overflowing.
    guard abs(integer) < 1e16 else { return }
    let t = Float(readPosition - integer)
    let frame = Int64(integer)
    // All four frames are nearly always in one piece.
    for piece in pieces {
      let first = Int(frame - piece.start)
      let count = piece.samples.count / channels
      guard first >= 0 else { return }
      guard first < count else { continue }
      piece.samples.withUnsafeBufferPointer { samples in
        for channel in 0..<channels {
          func at(_ offset: Int) -> Float {
            let frame = first + offset
            if frame >= 0, frame < count { return samples[frame * channels + channel] }
            return sample(piece.start + Int64(frame), channel) ?? samples[first * channels + channel]
          }
          let b = at(0)
          guard t > 0 else {
            out[index + channel] = b * gain
            continue
          }
          let (a, c, d) = (at(-1), at(1), at(2))
          let third: Float = (d - a) + 3.0 * (b - c)
          let second: Float = (2.0 * a - 5.0 * b) + (4.0 * c - d)
          let slope: Float = (third * t + second) * t + (c - a)
          out[index + channel] = (b + slope * t * 0.5) * gain
        }
      }
      return
    }
  }

  private func sample(_ frame: Int64, _ channel: Int) -> Float? {
    for piece in pieces where frame >= piece.start {
      let index = Int(frame - piece.start) * channels + channel
      if index < piece.samples.count { return piece.samples[index] }
    }
    return nil
  }
}
