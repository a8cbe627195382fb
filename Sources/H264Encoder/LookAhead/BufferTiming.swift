// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// The times at which a decoder removes each access unit from the coded picture buffer and outputs
/// its picture, as buffering period and picture timing SEI messages give them (C.1.2, C.2.2). Times
/// are counted in clock ticks; a frame at the stream's first frame rate lasts two.
struct BufferTiming {
  /// The HRD parameters of the sequence parameter set, which give the lengths of the messages'
  /// fields.
  let hrd: H264HypotheticalDecoder
  /// The duration of a clock tick in seconds.
  let tick: Double
  /// The bit rate at which the buffer fills, in bits per second.
  private let rate: Double
  /// The size of the buffer in bits.
  private let size: Double
  /// The removal time of the next access unit, in ticks since the removal of the first.
  private var removal = 0
  /// The removal time of the last access unit with a buffering period message, in the same ticks.
  private var period = 0
  /// Whether no access unit was described yet.
  private var isFirst = true
  /// Ticks from the removal of the first access unit to the output of its picture. Pictures that
  /// precede another in output order but follow it in decoding order need this time.
  private var wait = 0

  /// Ticks per second of the clock of initial_cpb_removal_delay (D.2.2).
  private static let clock = 90_000.0

  /// The ticks of 90 kHz within which a number of bits arrives, rounded up.
  /// - Parameters:
  ///   - bits: the number of bits.
  ///   - rate: the bit rate in bits per second.
  private static func delay(_ bits: Double, rate: Double) -> Double {
    (bits / rate * clock - 1e-6).rounded(.up)
  }

  /// The size of the buffer in bits for the parameter sets. It is larger than that of the
  /// configuration by what arrives in the time by which delays are rounded up, and a multiple of
  /// 16.
  static func size(of buffer: H264EncoderConfiguration.LookAhead.Buffer) -> Int {
    let rate = Double(buffer.maximumRate)
    let bits = delay(Double(buffer.size), rate: rate) * rate / clock
    return (Int(bits.rounded(.up)) + 15) & ~15
  }
  /// The longest time in seconds that a buffer may take to fill: a delay of 90 kHz ticks has 24
  /// bits.
  static let longestBuffer = 180.0

  /// Creates the timing of a stream.
  /// - Parameters:
  ///   - sps: the sequence parameter set; without NAL HRD parameters or timing the result is nil.
  ///   - buffer: the buffer of the configuration; without one the result is nil.
  init?(_ sps: H264SequenceParameterSet, _ buffer: H264EncoderConfiguration.LookAhead.Buffer?) {
    guard let hrd = sps.vui?.nalHRD, let ticks = sps.vui?.timing?.ticks, let buffer else { return nil }
    self.hrd = hrd
    tick = Double(ticks.unitsInTick) / Double(ticks.timeScale)
    rate = Double(buffer.maximumRate)
    size = Double(buffer.size)
  }

  /// The nearest number of ticks to a time in seconds.
  private func ticks(_ seconds: Double) -> Int { Int((seconds / tick).rounded()) }

  /// A duration rounded to ticks. It is one tick or more, and at most a second or three usual
  /// durations, whichever is longer.
  /// - Parameters:
  ///   - seconds: the duration in seconds.
  ///   - usual: the frame interval of the configuration in seconds.
  /// - Returns: the rounded duration in seconds.
  func roundedToTicks(_ seconds: Double, usual: Double) -> Double {
    BufferTiming.roundedToTicks(seconds, usual: usual, tick: tick)
  }

  /// Rounds a duration as `roundedToTicks(_:usual:)` does, for a tick of `tick` seconds.
  static func roundedToTicks(_ seconds: Double, usual: Double, tick: Double) -> Double {
    let most = max(Int((max(1, 3 * usual) / tick + 1e-6).rounded(.down)), 1)
    return Double(min(max(Int(min(seconds / tick, 1e9).rounded()), 1), most)) * tick
  }

  /// Returns the messages of the next access unit in decoding order.
  /// - Parameters:
  ///   - isKey: whether it starts a buffering period.
  ///   - shown: the output time of its picture, in seconds since the first picture.
  ///   - lead: seconds from the first removal to the first output; only read for the first access
  ///     unit.
  ///   - fullness: the bits in the buffer when the access unit is removed.
  /// - Returns: the buffering period message, nil unless `isKey`, and the picture timing message.
  mutating func next(isKey: Bool, shown: Double, lead: Double, fullness: Double) -> (
    period: H264BufferingPeriod?, timing: H264PictureTiming
  ) {
    if isFirst { wait = ticks(lead) }
    var timing = H264PictureTiming()
    timing.removalDelay = removal - period
    timing.outputDelay = max(ticks(shown) + wait - removal, 0)
    isFirst = false
    guard isKey else { return (nil, timing) }
    period = removal
    var message = H264BufferingPeriod()
    // The initial delay is the time in which the present fullness arrives, and the offset the time
    // for the rest of the buffer, so that the sum of both is the same in all messages, as D.2.2
    // demands.
    let fullDelay = max(BufferTiming.delay(size, rate: rate), 1)
    let delay = min(max(BufferTiming.delay(fullness, rate: rate), 1), fullDelay)
    message.initialRemovalDelay = Int(delay)
    message.initialRemovalDelayOffset = Int(fullDelay - delay)
    return (message, timing)
  }

  /// Moves on to the next access unit, which is removed `seconds` seconds after this one.
  mutating func advance(seconds: Double) { removal += ticks(seconds) }
}
