// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// Maps a time from one range to another, so that start maps to start and end to end. If both
/// ranges are infinite, the time is moved by the distance of their starts.
/// - Returns: Invalid if either range is empty or invalid, or the time is not in the epoch of
///   `fromRange.start`.
@discardableResult
public func CMTimeMapTimeFromRangeToRange(_ t: CMTime, fromRange: CMTimeRange, toRange: CMTimeRange) -> CMTime
{
  guard t.isValid, fromRange.isValid, toRange.isValid, !fromRange.isEmpty, !toRange.isEmpty,
    t.epoch == fromRange.start.epoch
  else { return .invalid }
  let offset = CMTimeSubtract(t, fromRange.start)
  return CMTimeAdd(scale(offset, fromRange, toRange), toRange.start)
}

/// Scales a duration by the ratio of the durations of two ranges.
/// - Returns: Invalid if either range is empty or invalid, or the duration is not in epoch zero.
@discardableResult
public func CMTimeMapDurationFromRangeToRange(_ dur: CMTime, fromRange: CMTimeRange, toRange: CMTimeRange)
  -> CMTime
{
  guard dur.isValid, dur.epoch == 0, fromRange.isValid, toRange.isValid, !fromRange.isEmpty, !toRange.isEmpty
  else { return .invalid }
  return scale(dur, fromRange, toRange)
}

/// Returns the time in a range that is nearest to a time.
/// - Returns: Invalid if the time is invalid, or the range is empty or invalid.
@discardableResult
public func CMTimeClampToRange(_ time: CMTime, range: CMTimeRange) -> CMTime {
  guard time.isValid, range.isValid, !range.isEmpty else { return .invalid }
  if CMTimeCompare(time, range.start) < 0 { return range.start }
  let end = range.end
  return CMTimeCompare(time, end) > 0 ? end : time
}

/// Maps a time of an endless repetition of a range to the range itself: its offset from the start
/// of the range modulo the duration of the range.
/// - Returns: Invalid if the range is empty, invalid or not finite, or the time is not numeric.
@discardableResult
public func CMTimeFoldIntoRange(_ time: CMTime, foldRange: CMTimeRange) -> CMTime {
  guard time.isNumeric, foldRange.isValid, !foldRange.isEmpty, foldRange.start.isNumeric,
    foldRange.duration.isNumeric
  else { return .invalid }
  // The epoch counts the repetitions and is ignored.
  var (time, start) = (time, foldRange.start)
  time.epoch = 0
  start.epoch = 0
  let offset = CMTimeSubtract(time, start)
  let duration = foldRange.duration
  guard offset.isNumeric, offset.timescale > 0, duration.timescale > 0 else { return .invalid }
  let common = leastCommonMultiple(Int64(offset.timescale), Int64(duration.timescale))
  let length = Int128(duration.value) * Int128(common / Int64(duration.timescale))
  var rest = Int128(offset.value) * Int128(common / Int64(offset.timescale)) % length
  if rest < 0 { rest += length }
  let folded = CMTime.make(
    numerator: rest, denominator: common, timescale: min(common, CMTime.maximumTimescale),
    flags: offset.numericFlags.union(duration.numericFlags), epoch: 0)
  return CMTimeAdd(folded, foldRange.start)
}

/// Returns `duration` x `to.duration` / `from.duration`, exactly if it can be represented.
private func scale(_ duration: CMTime, _ from: CMTimeRange, _ to: CMTimeRange) -> CMTime {
  let (a, b, c) = (duration, to.duration, from.duration)
  if b.isPositiveInfinity, c.isPositiveInfinity { return a }
  guard a.isNumeric, b.isNumeric, c.isNumeric else {
    // A quotient with an infinity is not a number, except in these cases.
    if a.isIndefinite || b.isIndefinite || c.isIndefinite { return .indefinite }
    if c.isPositiveInfinity { return a.isNumeric ? .zero : .invalid }
    if a.infinity != 0 { return a }
    return a.value == 0 ? .zero : .infinity(Int(a.value.signum()))
  }
  guard a.timescale > 0, b.timescale > 0, c.timescale > 0 else { return .invalid }
  let flags = a.numericFlags.union(b.numericFlags).union(c.numericFlags)
  // The product a/A x b/B x C/c is reduced to lowest terms.
  var top = (UInt128(a.value.magnitude) * UInt128(b.value), UInt128(c.timescale))
  var bottom = UInt128(a.timescale) * UInt128(b.timescale) * UInt128(c.value)
  var common = greatestCommonDivisor(top.0, bottom)
  top.0 /= common
  bottom /= common
  common = greatestCommonDivisor(top.1, bottom)
  top.1 /= common
  bottom /= common

  // A timescale of the operands is preferred to a smaller one that would suffice.
  let maximum = UInt128(CMTime.maximumTimescale)
  let familiar = [UInt128(a.timescale), UInt128(b.timescale)].first { $0 % bottom == 0 }
  var timescale = familiar ?? min(bottom, maximum)
  while timescale > 0 {
    let (high, low) = top.0.multipliedFullWidth(by: top.1 * timescale)
    if high < bottom {
      let (quotient, remainder) = bottom.dividingFullWidth((high, low))
      let rounded = quotient &+ (remainder >= bottom - remainder ? 1 : 0)
      if rounded >= quotient, let magnitude = UInt64(exactly: rounded),
        let value = Int64(exactly: a.value < 0 ? -Int128(magnitude) : Int128(magnitude))
      {
        return CMTime(
          value: value, timescale: CMTimeScale(timescale),
          flags: remainder == 0 ? flags : flags.union(.hasBeenRounded), epoch: 0)
      }
    }
    timescale /= 2
  }
  return .infinity(Int(a.value.signum()))
}
