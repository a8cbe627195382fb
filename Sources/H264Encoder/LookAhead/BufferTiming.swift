// SPDX-License-Identifier: Apache-2.0
import VideoBitstream
import VideoEncoding

/// The times at which a decoder removes each access unit from the coded picture buffer and outputs
/// its picture, as buffering period and picture timing SEI messages give them (C.1.2, C.2.2). Times
/// are counted in clock ticks (`BufferClock.ticks(frameRate:)`).
struct BufferTiming {
  /// The HRD parameters of the sequence parameter set, which give the lengths of the messages'
  /// fields.
  let hrd: H264HypotheticalDecoder
  /// Its clock ticks.
  let clock: BufferClock
  /// The removal time of the next access unit, in ticks since the removal of the first.
  private var removal = 0
  /// The removal time of the last access unit with a buffering period message, in the same ticks.
  private var period = 0
  /// Whether no access unit was described yet.
  private var isFirst = true
  /// Ticks from the removal of the first access unit to the output of its picture. Pictures that
  /// precede another in output order but follow it in decoding order need this time.
  private var wait = 0

  /// Creates the timing of a stream.
  /// - Parameters:
  ///   - sps: the sequence parameter set; without NAL HRD parameters or timing the result is nil.
  ///   - buffer: the buffer of the configuration; without one the result is nil.
  init?(_ sps: H264SequenceParameterSet, _ buffer: H264EncoderConfiguration.LookAhead.Buffer?) {
    guard let hrd = sps.vui?.nalHRD, let ticks = sps.vui?.timing?.ticks, let buffer else { return nil }
    self.hrd = hrd
    clock = BufferClock(tick: Double(ticks.unitsInTick) / Double(ticks.timeScale), buffer)
  }

  /// Returns the messages of the next access unit in decoding order.
  /// - Parameters:
  ///   - isKey: whether it starts a buffering period.
  ///   - outputTime: the output time of its picture, in seconds since the first picture.
  ///   - lead: seconds from the first removal to the first output; only read for the first access
  ///     unit.
  ///   - fullness: the bits in the buffer when the access unit is removed.
  /// - Returns: the buffering period message, nil unless `isKey`, and the picture timing message.
  mutating func next(isKey: Bool, outputTime: Double, lead: Double, fullness: Double) -> (
    period: H264BufferingPeriod?, timing: H264PictureTiming
  ) {
    if isFirst { wait = clock.ticks(lead) }
    var timing = H264PictureTiming()
    timing.removalDelay = removal - period
    timing.outputDelay = max(clock.ticks(outputTime) + wait - removal, 0)
    isFirst = false
    guard isKey else { return (nil, timing) }
    period = removal
    var message = H264BufferingPeriod()
    (message.initialRemovalDelay, message.initialRemovalDelayOffset) = clock.initialDelays(fullness: fullness)
    return (message, timing)
  }

  /// Moves on to the next access unit, which is removed `seconds` seconds after this one.
  mutating func advance(seconds: Double) { removal += clock.ticks(seconds) }
}
