// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// Returns -1 if the first time is earlier, 1 if it is later, and 0 if they are equal.
///
/// The order is: negative infinity, numeric times, indefinite, positive infinity, invalid. Numeric
/// times are ordered by epoch first.
@discardableResult
public func CMTimeCompare(_ time1: CMTime, _ time2: CMTime) -> Int32 {
  if time1.isNumeric, time2.isNumeric {
    if time1.epoch != time2.epoch { return time1.epoch < time2.epoch ? -1 : 1 }
    if time1.timescale == time2.timescale {
      return time1.value == time2.value ? 0 : time1.value < time2.value ? -1 : 1
    }
    if time1.timescale > 0, time2.timescale > 0 {
      let a = time1.value.multipliedFullWidth(by: Int64(time2.timescale))
      let b = time2.value.multipliedFullWidth(by: Int64(time1.timescale))
      if a.high != b.high { return a.high < b.high ? -1 : 1 }
      return a.low == b.low ? 0 : a.low < b.low ? -1 : 1
    }
  }
  let (a, b) = (time1.rank, time2.rank)
  if a != b { return a < b ? -1 : 1 }
  if a == CMTime.rankOfNoNumber, time1.timescale != time2.timescale {
    return time1.timescale < time2.timescale ? -1 : 1
  }
  return 0
}

/// Returns the earlier of two times.
@discardableResult
public func CMTimeMinimum(_ time1: CMTime, _ time2: CMTime) -> CMTime {
  CMTimeCompare(time1, time2) <= 0 ? time1 : time2
}

/// Returns the later of two times.
@discardableResult
public func CMTimeMaximum(_ time1: CMTime, _ time2: CMTime) -> CMTime {
  CMTimeCompare(time1, time2) >= 0 ? time1 : time2
}

extension CMTime {
  /// The rank of a numeric time whose timescale is not positive. It has no value, but sorting needs
  /// an order.
  fileprivate static let rankOfNoNumber = 3

  /// The rank of this kind of time in the order of `CMTimeCompare`.
  fileprivate var rank: Int {
    if !isValid { return 6 }
    if isPositiveInfinity { return 5 }
    if isNegativeInfinity { return 1 }
    if isIndefinite { return 4 }
    return timescale > 0 ? 2 : Self.rankOfNoNumber
  }
}

extension CMTime: Comparable, Hashable {
  public static func == (time1: CMTime, time2: CMTime) -> Bool { CMTimeCompare(time1, time2) == 0 }
  public static func != (time1: CMTime, time2: CMTime) -> Bool { CMTimeCompare(time1, time2) != 0 }
  public static func < (time1: CMTime, time2: CMTime) -> Bool { CMTimeCompare(time1, time2) < 0 }
  public static func <= (time1: CMTime, time2: CMTime) -> Bool { CMTimeCompare(time1, time2) <= 0 }
  public static func > (time1: CMTime, time2: CMTime) -> Bool { CMTimeCompare(time1, time2) > 0 }
  public static func >= (time1: CMTime, time2: CMTime) -> Bool { CMTimeCompare(time1, time2) >= 0 }

  /// Hashes the time so that equal times with different timescales have equal hashes.
  public func hash(into hasher: inout Hasher) {
    guard isNumeric, timescale > 0 else {
      hasher.combine(rank)
      return
    }
    let common = Int64(greatestCommonDivisor(value.magnitude, UInt64(timescale)))
    hasher.combine(epoch)
    hasher.combine(Int128(value) / Int128(common))
    hasher.combine(Int64(timescale) / common)
  }

  public static func + (addend1: CMTime, addend2: CMTime) -> CMTime { CMTimeAdd(addend1, addend2) }
  public static func - (minuend: CMTime, subtrahend: CMTime) -> CMTime { CMTimeSubtract(minuend, subtrahend) }
}
