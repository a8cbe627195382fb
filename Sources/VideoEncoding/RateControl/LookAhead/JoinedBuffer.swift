// SPDX-License-Identifier: Apache-2.0

/// The fullness of the decoder's buffer at the joins of streams that are encoded independently and
/// then concatenated.
///
/// It is the same at every join, so that no stream has to know the others. With a constant rate all
/// bits that arrive belong to the stream, in whole bytes. The part of a byte that has arrived at a
/// join depends on the time alone, counted from the start of the movie in clock ticks (half frames
/// where the stream does not describe the buffer).
package struct JoinedBuffer {
  /// The least fullness at a join, as the bits that arrive during this number of frames.
  package static let fewestFrames = 2.0
  /// The bits of the smallest filler data NAL unit.
  static let minFiller = 64.0
  /// The bits of an access unit besides its macroblocks: delimiter, SEI messages, headers, and the
  /// reserve of coding within a budget.
  private static let overhead = 1200.0

  /// Whether the bit rate is constant.
  let isConstant: Bool
  /// Whether another stream follows.
  package let hasFramesAfter: Bool
  /// The number of macroblocks in a picture.
  private let macroblocks: Double
  /// The duration of a clock tick in seconds.
  private let tick: Double
  /// The time of the next removal, in ticks from the start of the movie.
  private var now = 0

  /// Creates the agreement of a stream.
  /// - Parameters:
  ///   - settings: the configuration; the result is nil where it is for a stream of its own.
  ///   - tick: the duration of a clock tick in seconds.
  ///   - macroblocks: the number of macroblocks in a picture.
  package init?(_ settings: LookAheadSettings, tick: Double, macroblocks: Int) {
    guard settings.isJoined else { return nil }
    isConstant = settings.isConstantRate
    hasFramesAfter = settings.hasFramesAfter
    self.macroblocks = Double(macroblocks)
    self.tick = tick
  }

  /// The duration of a tick in seconds where the parameter sets define none: half a frame.
  package static func usualTick(_ frameRate: Double) -> Double { 0.5 / frameRate }

  /// The bits in the buffer if there were a join at the next removal.
  func joinFullness(_ buffer: BufferState) -> Double {
    let fullness = buffer.agreedFullness
    guard isConstant else { return fullness }
    let part = (buffer.rate * (Double(now) * tick)).truncatingRemainder(dividingBy: 8)
    return fullness + (part < 0 ? part + 8 : part)
  }

  /// Sets the start of the stream, in seconds from the start of the movie.
  package mutating func begin(at seconds: Double) {
    now = Int(min(max((seconds / tick).rounded(), -1e15), 1e15))
  }

  /// Moves on to the next removal.
  package mutating func advance(seconds: Double) { now += Int((seconds / tick).rounded()) }

  /// The bits that have to be left at the end of the stream: the agreed fullness, and with a
  /// constant rate the bits that the last frame may need beyond it.
  package func wanted(_ buffer: BufferState) -> Double { Self.wanted(buffer, isConstant: isConstant) }

  /// The same for a buffer and a kind of bit rate.
  package static func wanted(_ buffer: BufferState, isConstant: Bool) -> Double {
    buffer.agreedFullness + (isConstant ? 8 + minFiller + 8 : 0)
  }

  /// The fewest bits that a picture of a type takes.
  private func least(_ kind: PictureForecast.Kind) -> Double {
    JoinedBuffer.overhead + macroblocks * (kind == .intra ? 7 : 0.15)
  }

  /// The bits that the next picture may take if the stream ended with the last one of the
  /// look-ahead.
  /// - Parameters:
  ///   - upcoming: the pictures of the look-ahead, in decoding order.
  ///   - intervals: seconds from the removal of each of them to the next removal, in the same
  ///     order.
  ///   - buffer: the state of the buffer when the next picture is removed.
  package func room(_ upcoming: [PictureForecast], intervals: [Double], _ buffer: BufferState) -> Double {
    guard hasFramesAfter, !upcoming.isEmpty, intervals.count >= upcoming.count else { return buffer.fullness }
    // Backwards in time, what has to be there drains while bits arrive, and grows by each picture.
    var needed = LeakyBucket(rate: buffer.rate, fullness: wanted(buffer))
    for n in stride(from: upcoming.count - 1, through: 1, by: -1) {
      needed.drain(seconds: intervals[n])
      needed.add(least(upcoming[n].kind))
    }
    needed.drain(seconds: intervals[0])
    return max(buffer.fullness - min(needed.fullness, buffer.size), 1)
  }
}
