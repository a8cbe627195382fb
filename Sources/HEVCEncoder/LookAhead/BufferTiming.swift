// SPDX-License-Identifier: Apache-2.0
import VideoBitstream
import VideoEncoding

/// The times at which a decoder removes each access unit from the coded picture buffer and outputs
/// its picture, as buffering period and picture timing SEI messages give them (C.2.2, C.2.3, C.3.3).
/// Times are counted in clock ticks; a frame at the stream's first frame rate lasts one.
struct BufferTiming {
  /// The HRD parameters of the sequence parameter set, which give the lengths of the messages'
  /// fields.
  let hrd: HEVCHypotheticalDecoder.Common
  /// The duration of a clock tick in seconds.
  let tick: Double
  /// The bit rate at which the buffer fills, in bits per second, and its size in bits.
  private let rate: Double
  private let size: Double
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

  /// Ticks per second of the clock of nal_initial_cpb_removal_delay (D.3.2).
  private static let clock = 90_000.0
  /// The longest time in seconds that a buffer may take to fill: a delay of 90 kHz ticks has 24
  /// bits.
  static let longestBuffer = 180.0

  /// The ticks of 90 kHz within which a number of bits arrives, rounded up.
  private static func delay(_ bits: Double, rate: Double) -> Double {
    (bits / rate * clock - 1e-6).rounded(.up)
  }

  /// The size of the buffer in bits for the parameter sets. It is larger than that of the
  /// configuration by what arrives in the time by which delays are rounded up, and a multiple of
  /// 16.
  static func size(of buffer: CodedPictureBuffer) -> Int {
    let rate = Double(buffer.maximumRate)
    let bits = delay(Double(buffer.size), rate: rate) * rate / clock
    return (Int(bits.rounded(.up)) + 15) & ~15
  }

  /// The HRD parameters of a stream: those of all NAL units, with one delivery schedule.
  /// - Parameters:
  ///   - buffer: the buffer; its rate is a multiple of 64.
  ///   - isConstant: whether bits arrive at that rate all the time (cbr_flag).
  static func parameters(_ buffer: CodedPictureBuffer, isConstant: Bool) -> HEVCHypotheticalDecoder {
    var common = HEVCHypotheticalDecoder.Common()
    common.hasNAL = true
    var schedule = HEVCHypotheticalDecoder.Schedule()
    schedule.bitRateValue = max(buffer.maximumRate >> 6, 1)
    schedule.cpbSizeValue = max(size(of: buffer) >> 4, 1)
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
    tick = Double(timing.ticks.unitsInTick) / Double(timing.ticks.timeScale)
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
    let most = max(Int((max(1, 3 * usual) / tick + 1e-6).rounded(.down)), 1)
    return Double(min(max(Int(min(seconds / tick, 1e9).rounded()), 1), most)) * tick
  }

  /// What of a picture its messages depend on.
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
    /// The lengths of their fields.
    var hrd: HEVCHypotheticalDecoder.Common
  }

  /// Returns the messages of the next access unit in decoding order.
  /// - Parameters:
  ///   - picture: its picture.
  ///   - lead: seconds from the first removal to the first output; only read for the first access
  ///     unit.
  mutating func next(_ picture: Picture, lead: Double) -> Messages {
    if period == nil { wait = ticks(lead) }
    var timing = HEVCPictureTiming()
    timing.removalDelay = max(removal - (period ?? removal), 1)
    timing.outputDelay = max(ticks(picture.shown) + wait - removal, 0)
    defer { if !picture.isDiscardable { anchor = removal } }
    guard picture.isKey else { return Messages(timing: timing, hrd: hrd) }
    period = removal
    var message = HEVCBufferingPeriod()
    message.removalDelayDelta = max(removal - anchor, 1)
    // The initial delay is the time in which the present fullness arrives, and the offset the time
    // for the rest of the buffer, so that the sum of both is the same in all messages, as D.3.2
    // demands.
    let fullDelay = max(Self.delay(size, rate: rate), 1)
    let delay = min(max(Self.delay(picture.fullness, rate: rate), 1), fullDelay)
    message.initialRemovalDelay = Int(delay)
    message.initialRemovalOffset = Int(fullDelay - delay)
    return Messages(period: message, timing: timing, hrd: hrd)
  }

  /// Moves on to the next access unit, which is removed `seconds` seconds after this one.
  mutating func advance(seconds: Double) { removal += ticks(seconds) }
}
