// SPDX-License-Identifier: Apache-2.0

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

  /// A duration rounded to clock ticks. It is one tick or more, and at most a second or three usual
  /// durations, whichever is longer.
  /// - Parameters:
  ///   - seconds: the duration in seconds.
  ///   - usual: the frame interval of the configuration in seconds.
  ///   - tick: the duration of a tick in seconds.
  /// - Returns: the rounded duration in seconds.
  package static func rounded(_ seconds: Double, usual: Double, tick: Double) -> Double {
    let most = max(Int((max(1, 3 * usual) / tick + 1e-6).rounded(.down)), 1)
    return Double(min(max(Int(min(seconds / tick, 1e9).rounded()), 1), most)) * tick
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
