// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Sound that waits to be heard, on the time line of its renderer.
///
/// It is read at the rate of the time line, so that sound that is played faster is higher. One user at a time.
struct SoundTimeline {
  private(set) var sampleRate = 0.0
  private(set) var channels = 0
  private var pieces: [(start: Int64, samples: [Float])] = []
  /// The frame that is to be heard next; nil where that is to be found anew.
  private var position: Double?
  /// Reading a little faster or slower than the time line, until both are together again.
  private var isCatchingUp = false
  /// Seconds by which what was read last is ahead of the time line.
  private(set) var offset: Double?

  /// The last read, for the pace of who reads.
  private var last: (expected: Double, frames: Int, rate: Double)?
  /// How much faster than the time line the reader would have to go for each of its frames: 1 with a device whose clock
  /// is right.
  private var pace = 1.0

  /// Beyond this the sound jumps to where it belongs; within it follows.
  private static let farthest = 0.015
  private static let nearest = 0.002
  /// Crystals are off by less than that. What is off by more has its pace followed all the time.
  private static let crystal = 0.002
  /// Share by which a reader's pace is believed to be off.
  private static let strangest = 0.5
  /// Seconds over which the pace is evened out.
  private static let paceTime = 0.25

  var isEmpty: Bool { pieces.isEmpty }

  /// Seconds that wait after a time.
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

  /// - Returns: Whether the format is another one; what waited is then gone.
  mutating func append(_ frames: SoundFrames) -> Bool {
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

  /// A device takes more or less than it says in a second of the time line: sound is then read so much slower or faster.
  private mutating func followPace(_ expected: Double, frames: Int, rate: Double) {
    defer { last = (expected, frames, rate) }
    guard let last, last.frames > 0, last.rate == rate else { return }
    let measured = (expected - last.expected) / (Double(last.frames) * rate)
    // Else the time line has jumped, or the device stood still.
    guard abs(measured - 1) < Self.strangest else { return }
    pace += (measured - pace) * min(Double(last.frames) / sampleRate / Self.paceTime, 1)
  }

  /// Forgets what lies behind a time.
  mutating func remove(from time: CMTime) {
    guard time.isNumeric, sampleRate > 0 else { return }
    let end = Int64(clamping: (time.seconds * sampleRate).rounded())
    pieces = pieces.compactMap { piece in
      let kept = end.subtractingClamped(piece.start)
      guard kept > 0 else { return nil }
      return (piece.start, Array(piece.samples.prefix(Int(min(kept, Int64(piece.samples.count))) * channels)))
    }
  }

  /// Forgets what lies wholly before a time.
  mutating func removePast(_ time: CMTime) {
    guard time.isNumeric, sampleRate > 0 else { return }
    removePast(Int64(clamping: time.seconds * sampleRate))
  }

  private mutating func removePast(_ frame: Int64) {
    let channels = channels
    let count = pieces.prefix { $0.start + Int64($0.samples.count / channels) <= frame }.count
    if count > 0 { pieces.removeFirst(count) }
  }

  /// Fills a buffer with what is to be heard from `time` on; silence where there is nothing.
  mutating func read(into out: UnsafeMutableBufferPointer<Float>, time: CMTime, rate: Double, gain: Float) {
    out.update(repeating: 0)
    guard sampleRate > 0, time.isNumeric, rate > 0, rate.isFinite else {
      (position, offset, last) = (nil, nil, nil)
      return
    }
    let expected = time.seconds * sampleRate
    followPace(expected, frames: out.count / channels, rate: rate)
    let isOff = abs(pace - 1) > Self.crystal
    var place = position ?? expected.rounded()
    var error = (place - expected) / sampleRate
    if abs(error) > Self.farthest * max(1, rate) {
      place = expected.rounded()
      error = 0
      isCatchingUp = false
    }
    offset = pieces.isEmpty ? nil : error
    if abs(error) > Self.nearest { isCatchingUp = true }
    if isOff { isCatchingUp = true }
    if isCatchingUp, !isOff, abs(error) < Self.nearest / 8 {
      isCatchingUp = false
      place.round()
    }
    let most = isOff ? 0.02 : 0.005
    let step = rate * (isCatchingUp ? (isOff ? pace : 1) - max(-most, min(most, error)) : 1)
    for frame in 0..<out.count / channels {
      hear(place, into: out, frame * channels, gain)
      place += step
    }
    position = place
    removePast(Int64(clamping: place).subtractingClamped(4))
  }

  /// One frame, between stored ones by a cubic through the four around it (Catmull and Rom's).
  @inline(__always)
  private func hear(
    _ place: Double, into out: UnsafeMutableBufferPointer<Float>, _ index: Int, _ gain: Float
  ) {
    let whole = place.rounded(.down)
    // Nothing lies so far away, and frames are counted from here.
    guard abs(whole) < 1e16 else { return }
    let t = Float(place - whole)
    let frame = Int64(whole)
    // Nearly always all four are in one piece.
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
