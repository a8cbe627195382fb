// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// When a decoder takes each access unit out of its buffer, and shows the picture: what buffering period and picture
/// timing messages say (C.1.2, C.2.2). Times are whole clock ticks, two for a frame at the stream's first frame rate.
struct BufferTiming {
  let hrd: H264HypotheticalDecoder
  /// Seconds.
  let tick: Double
  private let rate: Double
  private let size: Double
  /// Ticks from the first access unit's removal to that of the next, and of the last one with a buffering period.
  private var removal = 0
  private var period = 0
  private var isFirst = true
  /// Ticks that the first picture waits between removal and output, for those that are shown before one that is decoded
  /// earlier.
  private var wait = 0

  private static let clock = 90_000.0

  /// The least ticks of 90 kHz in which so many bits come in.
  private static func delay(_ bits: Double, rate: Double) -> Double {
    (bits / rate * clock - 1e-6).rounded(.up)
  }

  /// Bits that the parameter sets give a buffer: what comes in while times are rounded up has room too.
  static func size(of buffer: H264EncoderConfiguration.LookAhead.Buffer) -> Int {
    let rate = Double(buffer.maximumRate)
    let bits = delay(Double(buffer.size), rate: rate) * rate / clock
    return (Int(bits.rounded(.up)) + 15) & ~15
  }
  /// Seconds of the buffer at the most: what 24 bits of a clock of 90 kHz can say.
  static let longestBuffer = 180.0

  /// Nil if the parameter sets describe no buffer.
  init?(_ sps: H264SequenceParameterSet, _ buffer: H264EncoderConfiguration.LookAhead.Buffer?) {
    guard let hrd = sps.vui?.nalHRD, let ticks = sps.vui?.timing?.ticks, let buffer else { return nil }
    self.hrd = hrd
    tick = Double(ticks.unitsInTick) / Double(ticks.timeScale)
    rate = Double(buffer.maximumRate)
    size = Double(buffer.size)
  }

  private func ticks(_ seconds: Double) -> Int { Int((seconds / tick).rounded()) }

  /// The nearest whole ticks to a duration, in seconds: one at least, and no more than the buffer counts with.
  func whole(_ seconds: Double, usual: Double) -> Double {
    BufferTiming.whole(seconds, usual: usual, tick: tick)
  }

  static func whole(_ seconds: Double, usual: Double, tick: Double) -> Double {
    let most = max(Int((max(1, 3 * usual) / tick + 1e-6).rounded(.down)), 1)
    return Double(min(max(Int(min(seconds / tick, 1e9).rounded()), 1), most)) * tick
  }

  /// The messages of the next access unit in decoding order.
  /// - Parameters:
  ///   - isKey: it begins a buffering period.
  ///   - shown: seconds from the first picture to this one, as they are shown.
  ///   - lead: seconds from the first removal to the first output; read with the first access unit.
  ///   - fullness: bits in the buffer when it is removed.
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
    // What has come in at the rate until then; the rest of the buffer is the offset, so that both add up to the same.
    let whole = max(BufferTiming.delay(size, rate: rate), 1)
    let delay = min(max(BufferTiming.delay(fullness, rate: rate), 1), whole)
    message.initialRemovalDelay = Int(delay)
    message.initialRemovalDelayOffset = Int(whole - delay)
    return (message, timing)
  }

  /// The access unit is removed; so many seconds later the next one is.
  mutating func advance(seconds: Double) { removal += ticks(seconds) }
}
