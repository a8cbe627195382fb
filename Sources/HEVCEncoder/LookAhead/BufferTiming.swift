// SPDX-License-Identifier: Apache-2.0
import VideoBitstream
import VideoEncoding

/// The times at which a decoder removes each access unit from the coded picture buffer and outputs
/// its picture, as buffering period and picture timing SEI messages give them (C.2.2, C.2.3,
/// C.3.3). Times are counted in clock ticks (`BufferClock.ticks(frameRate:)`).
struct BufferTiming {
  /// The HRD parameters of the sequence parameter set, which give the lengths of the messages'
  /// fields.
  let hrd: HEVCHypotheticalDecoder.Common
  /// Its clock ticks.
  let clock: BufferClock
  /// The removal time of the next access unit, in ticks since the removal of the first.
  private var removal = 0
  /// The removal time of the last access unit with a buffering period message, in the same ticks;
  /// nil before the first.
  private var period: Int?
  /// The removal time of the last access unit that is no leading picture and that others of its
  /// layer may refer to.
  private var anchor = 0
  /// Ticks from the removal of the first access unit to the output of its picture. Pictures that
  /// precede another in output order but follow it in decoding order need this time.
  private var wait = 0

  /// The HRD parameters of a stream: those of all NAL units, with one delivery schedule.
  /// - Parameters:
  ///   - buffer: the buffer; its rate is a multiple of 64.
  ///   - isConstant: whether bits arrive at that rate all the time (cbr_flag).
  static func parameters(_ buffer: CodedPictureBuffer, isConstant: Bool) -> HEVCHypotheticalDecoder {
    var common = HEVCHypotheticalDecoder.Common()
    common.hasNAL = true
    // 13 hours of ticks. Longer delays are written modulo their length.
    common.removalDelayLength = 32
    common.outputDelayLength = 32
    var schedule = HEVCHypotheticalDecoder.Schedule()
    schedule.bitRateValue = max(buffer.maximumRate >> 6, 1)
    schedule.cpbSizeValue = max(BufferClock.size(of: buffer) >> 4, 1)
    schedule.isConstantBitRate = isConstant
    var layer = HEVCHypotheticalDecoder.SubLayer()
    layer.nal = [schedule]
    var result = HEVCHypotheticalDecoder()
    result.common = common
    result.subLayers = [layer]
    return result
  }

  /// Creates the timing of a stream.
  /// - Parameters:
  ///   - sps: the sequence parameter set; without HRD parameters the result is nil.
  ///   - buffer: the buffer of the configuration; without one the result is nil.
  init?(_ sps: HEVCSequenceParameterSet, _ buffer: CodedPictureBuffer?) {
    guard let timing = sps.vui?.timing, let hrd = timing.hrd?.common, let buffer else { return nil }
    self.hrd = hrd
    clock = BufferClock(tick: Double(timing.ticks.unitsInTick) / Double(timing.ticks.timeScale), buffer)
  }

  /// The properties of a picture on which its SEI messages depend.
  struct Picture {
    /// Whether it starts a buffering period.
    var isKey: Bool
    /// Whether it is a leading picture, or one that none of its layer refers to.
    var isDiscardable: Bool
    /// The output time in seconds since the first picture.
    var shown: Double
    /// The bits in the buffer when the access unit is removed.
    var fullness: Double
  }

  /// The messages of an access unit.
  struct Messages {
    /// The buffering period message; nil unless the picture is a key frame.
    var period: HEVCBufferingPeriod?
    var timing = HEVCPictureTiming()
    /// Whether a program that joins streams will set delays of these messages (`HEVCJoinedTiming`).
    var isJoinable = false
    /// The lengths of their fields.
    var hrd: HEVCHypotheticalDecoder.Common
  }

  /// Returns the messages of the next access unit in decoding order.
  /// - Parameters:
  ///   - picture: its picture.
  ///   - lead: seconds from the first removal to the first output; only read for the first access
  ///     unit.
  mutating func next(_ picture: Picture, lead: Double) -> Messages {
    if period == nil { wait = clock.ticks(lead) }
    var timing = HEVCPictureTiming()
    timing.removalDelay = max(removal - (period ?? removal), 1)
    timing.outputDelay = max(clock.ticks(picture.shown) + wait - removal, 0)
    defer { if !picture.isDiscardable { anchor = removal } }
    guard picture.isKey else { return Messages(timing: timing, hrd: hrd) }
    period = removal
    var message = HEVCBufferingPeriod()
    message.removalDelayDelta = max(removal - anchor, 1)
    (message.initialRemovalDelay, message.initialRemovalOffset) = clock.initialDelays(
      fullness: picture.fullness)
    return Messages(period: message, timing: timing, hrd: hrd)
  }

  /// Moves on to the next access unit, which is removed `seconds` seconds after this one.
  mutating func advance(seconds: Double) { removal += clock.ticks(seconds) }
}
