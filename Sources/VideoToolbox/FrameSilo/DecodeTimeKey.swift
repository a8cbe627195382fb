// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// A decode time as numbers that order as the times do, of whatever time scales.
struct DecodeTimeKey: Comparable, Hashable {
  var epoch: Int64
  /// Whole seconds, rounded down.
  var second: Int64
  /// What is left, in 2^-62 s. Two times of different fractions are at least that far apart, as time scales are below
  /// 2^31.
  var fraction: Int64

  /// Nil for a time that is no number.
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

/// A time range of decode times: with its start, without its end.
struct DecodeTimeRange: Equatable {
  let range: CMTimeRange
  let start: DecodeTimeKey
  let end: DecodeTimeKey

  /// Nil for a range of which a part is no number, or that ends before it starts.
  init?(_ range: CMTimeRange) {
    guard range.isValid, let start = DecodeTimeKey(range.start), let end = DecodeTimeKey(range.end),
      start <= end
    else { return nil }
    (self.range, self.start, self.end) = (range, start, end)
  }

  func contains(_ key: DecodeTimeKey) -> Bool { start <= key && key < end }

  static func == (a: Self, b: Self) -> Bool { a.start == b.start && a.end == b.end }

  /// - Returns: Nil if one of them is no range, or they are not in ascending order, or overlap.
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
  /// How much of these ranges is over at a time, from 0 to 1; 1 for ranges without any duration.
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
