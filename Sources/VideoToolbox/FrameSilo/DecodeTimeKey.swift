// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// A decode time as three integers that sort in the order of the times, whatever their time scales.
struct DecodeTimeKey: Comparable, Hashable {
  var epoch: Int64
  /// The decode time in whole seconds, rounded down.
  var second: Int64
  /// The rest, in units of 2^-62 s. As time scales are below 2^31, two different times differ by at
  /// least that much.
  var fraction: Int64

  /// Creates the key of a time; nil if the time is not numeric.
  init?(_ time: CMTime) {
    guard time.isNumeric, time.timescale > 0 else { return nil }
    let scale = Int64(time.timescale)
    var (whole, rest) = time.value.quotientAndRemainder(dividingBy: scale)
    if rest < 0 { (whole, rest) = (whole - 1, rest + scale) }
    let product = UInt64(rest).multipliedFullWidth(by: 1 << 62)
    epoch = time.epoch
    second = whole
    fraction = Int64(UInt64(scale).dividingFullWidth((product.high, product.low)).quotient)
  }

  init(epoch: Int64, second: Int64, fraction: Int64) {
    (self.epoch, self.second, self.fraction) = (epoch, second, fraction)
  }

  static func < (a: Self, b: Self) -> Bool {
    (a.epoch, a.second, a.fraction) < (b.epoch, b.second, b.fraction)
  }
}

/// A range of decode times, which includes its start and excludes its end.
struct DecodeTimeRange: Equatable {
  let range: CMTimeRange
  let start: DecodeTimeKey
  let end: DecodeTimeKey

  /// Creates a range; nil if its start or duration is not numeric, or if it ends before it starts.
  init?(_ range: CMTimeRange) {
    guard range.isValid, let start = DecodeTimeKey(range.start), let end = DecodeTimeKey(range.end),
      start <= end
    else { return nil }
    (self.range, self.start, self.end) = (range, start, end)
  }

  func contains(_ key: DecodeTimeKey) -> Bool { start <= key && key < end }

  static func == (a: Self, b: Self) -> Bool { a.start == b.start && a.end == b.end }

  /// Converts time ranges.
  /// - Returns: Nil if one of them is not a valid range, or they are not in ascending order, or
  ///   overlap.
  static func ascending(_ ranges: some Sequence<CMTimeRange>) -> [DecodeTimeRange]? {
    var result: [DecodeTimeRange] = []
    for range in ranges {
      guard let range = DecodeTimeRange(range), result.last.map({ $0.end <= range.start }) ?? true else {
        return nil
      }
      result.append(range)
    }
    return result
  }
}

extension [DecodeTimeRange] {
  /// The fraction of the ranges' total duration that precedes a time, from 0 to 1; 1 for ranges
  /// without any duration.
  func progress(at time: CMTime) -> Double {
    let total = reduce(0) { $0 + $1.range.duration.seconds }
    guard total > 0 else { return 1 }
    let over = reduce(0) { sum, range in
      let seconds = (time - range.range.start).seconds
      return sum + Swift.min(Swift.max(0, seconds.isNaN ? 0 : seconds), range.range.duration.seconds)
    }
    return Swift.min(1, over / total)
  }
}
