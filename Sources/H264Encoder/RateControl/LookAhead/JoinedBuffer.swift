// SPDX-License-Identifier: Apache-2.0

/// The decoder's buffer of a stream that is joined to others, each encoded by itself: what it holds where one ends and the
/// next one begins.
///
/// That is the same at every join, so that no stream need know the others. With a constant rate all that comes in is in
/// the stream, in whole bytes: what of a byte has come in by then depends on the time alone, counted from the movie's
/// beginning in half frames.
struct JoinedBuffer {
  /// Frames' worth of the rate that the buffer holds at a join, at the least.
  static let fewestFrames = 2.0
  /// Bits of the smallest filler data.
  static let leastFiller = 64.0
  /// Bits of a frame beside its macroblocks: delimiters, messages, headers, and what coding within a budget keeps back.
  private static let overhead = 1200.0

  let isConstant: Bool
  let hasFramesAfter: Bool
  private let macroblocks: Double
  /// Seconds.
  private let tick: Double
  /// Ticks from the movie's beginning to the removal of the next frame.
  private var now = 0

  /// Nil for a stream of its own.
  init?(_ configuration: H264EncoderConfiguration, tick: Double, macroblocks: Int) {
    guard configuration.isJoined else { return nil }
    isConstant = configuration.isConstantRate
    hasFramesAfter = configuration.lookAhead.hasFramesAfter
    self.macroblocks = Double(macroblocks)
    self.tick = tick
  }

  /// Seconds of a tick where no parameter set says it: half a frame.
  static func usualTick(_ frameRate: Double) -> Double { 0.5 / frameRate }

  /// Bits in the buffer at a join that is now.
  func agreed(_ buffer: BufferState) -> Double {
    let fullness = buffer.agreedFullness
    guard isConstant else { return fullness }
    let part = (buffer.rate * (Double(now) * tick)).truncatingRemainder(dividingBy: 8)
    return fullness + (part < 0 ? part + 8 : part)
  }

  /// The stream begins so many seconds after the movie.
  mutating func begin(at seconds: Double) {
    now = Int(min(max((seconds / tick).rounded(), -1e15), 1e15))
  }

  mutating func advance(seconds: Double) { now += Int((seconds / tick).rounded()) }

  /// Bits that must be left at the end, for all that the last frame may bring with it.
  func wanted(_ buffer: BufferState) -> Double { Self.wanted(buffer, isConstant: isConstant) }

  static func wanted(_ buffer: BufferState, isConstant: Bool) -> Double {
    buffer.agreedFullness + (isConstant ? 8 + leastFiller + 8 : 0)
  }

  /// Bits that a picture takes at the least.
  private func least(_ kind: PictureForecast.Kind) -> Double {
    JoinedBuffer.overhead + macroblocks * (kind == .intra ? 7 : 0.15)
  }

  /// Bits that the first of these pictures may take, if the stream ended with the last of them.
  /// - Parameter intervals: seconds from the removal of each to that of the next, in the same order.
  func room(_ upcoming: [PictureForecast], intervals: [Double], _ buffer: BufferState) -> Double {
    guard hasFramesAfter, !upcoming.isEmpty, intervals.count >= upcoming.count else { return buffer.fullness }
    var needed = wanted(buffer)
    for n in stride(from: upcoming.count - 1, through: 1, by: -1) {
      needed = max(needed - buffer.rate * intervals[n], 0) + least(upcoming[n].kind)
    }
    needed = max(needed - buffer.rate * intervals[0], 0)
    return max(buffer.fullness - min(needed, buffer.size), 1)
  }
}
