// SPDX-License-Identifier: Apache-2.0
import struct VideoBitstream.VideoTicks

/// The times that a stream gives of a decoder's buffer, in the units of its messages: clock ticks,
/// and ticks of 90 kHz for the bits that have to arrive first. H.264 (C.1.2, D.2.2) and HEVC
/// (C.2.2, D.3.2) have the same ones.
package struct BufferClock {
  /// The duration of a clock tick in seconds.
  package let tick: Double
  /// The bit rate at which the buffer fills, in bits per second, and its size in bits.
  private let rate: Double
  private let size: Double

  /// Ticks per second of the initial delays.
  private static let initial = 90_000.0
  /// The longest time in seconds that a buffer may take to fill: an initial delay has 24 bits.
  package static let longestBuffer = 180.0

  /// - Parameters:
  ///   - tick: the duration of a clock tick in seconds.
  ///   - buffer: the buffer.
  package init(tick: Double, _ buffer: CodedPictureBuffer) {
    self.tick = tick
    rate = Double(buffer.maximumRate)
    size = Double(buffer.size)
  }

  /// The ticks of 90 kHz within which a number of bits arrives, rounded up.
  /// - Parameters:
  ///   - bits: the number of bits.
  ///   - rate: the bit rate in bits per second.
  private static func delay(_ bits: Double, rate: Double) -> Double {
    (bits / rate * initial - 1e-6).rounded(.up)
  }

  /// The size of the buffer in bits for the parameter sets. It is larger than that of the
  /// configuration by what arrives in the time by which delays are rounded up, and a multiple of
  /// 16.
  package static func size(of buffer: CodedPictureBuffer) -> Int {
    let rate = Double(buffer.maximumRate)
    let bits = delay(Double(buffer.size), rate: rate) * rate / initial
    return (Int(bits.rounded(.up)) + 15) & ~15
  }

  /// The nearest number of clock ticks to a time in seconds.
  package func ticks(_ seconds: Double) -> Int { Int((seconds / tick).rounded()) }

  /// The clock ticks in a frame at the configured rate, so that a second has 90,000 or a few more.
  ///
  /// Frames may come at another rate than the configured one, or at none that is constant. Removal
  /// and output times then still are those of the time stamps, to 6 microseconds.
  /// - Parameter frameRate: the configured rate in frames per second.
  package static func ticksPerFrame(_ frameRate: Double) -> Int {
    max(Int((initial / frameRate - 1e-6).rounded(.up)), 1)
  }

  /// The clock tick of a stream that describes its buffer, for the parameter sets.
  /// - Parameter frameRate: the configured rate in frames per second, 0.1 to 1000.
  package static func ticks(frameRate: Double) -> VideoTicks {
    let perSecond = frameRate * Double(ticksPerFrame(frameRate))
    return VideoTicks(unitsInTick: 1000, timeScale: Int((perSecond * 1000).rounded()))
  }

  /// The initial delay of a buffering period and its offset, in ticks of 90 kHz: the time in which
  /// the present fullness arrives, and the time for the rest of the buffer, so that the sum of both
  /// is the same in all messages, as the standards demand.
  /// - Parameter fullness: the bits in the buffer when the access unit is removed.
  package func initialDelays(fullness: Double) -> (delay: Int, offset: Int) {
    let all = max(Self.delay(size, rate: rate), 1)
    let delay = min(max(Self.delay(fullness, rate: rate), 1), all)
    return (Int(delay), Int(all - delay))
  }
}
