// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A span of time: it contains its start and ends just before `end`.
///
/// It is valid if its start and its duration are, and the duration is not negative and in epoch zero.
public struct CMTimeRange: Sendable, BitwiseCopyable {
  public var start: CMTime
  public var duration: CMTime

  /// An invalid range.
  public init() {
    start = .invalid
    duration = .invalid
  }

  public init(start: CMTime, duration: CMTime) {
    self.start = start
    self.duration = duration
  }

  /// The range from one time to another.
  public init(start: CMTime, end: CMTime) {
    self = CMTimeRangeFromTimeToTime(start: start, end: end)
  }

  /// No time, from zero on.
  public static let zero = CMTimeRange(start: .zero, duration: .zero)
  public static let invalid = CMTimeRange()

  public var isValid: Bool {
    start.isValid && duration.isValid && duration.epoch == 0 && duration.value >= 0
      && !duration.isNegativeInfinity
  }
  /// Valid, with a start or a duration that is not known.
  public var isIndefinite: Bool { isValid && (start.isIndefinite || duration.isIndefinite) }
  /// Valid, with a duration of zero.
  public var isEmpty: Bool { isValid && CMTimeCompare(duration, .zero) == 0 }
  /// The first time after the range.
  public var end: CMTime { CMTimeRangeGetEnd(self) }

  public func union(_ otherRange: CMTimeRange) -> CMTimeRange {
    CMTimeRangeGetUnion(self, otherRange: otherRange)
  }
  public func intersection(_ otherRange: CMTimeRange) -> CMTimeRange {
    CMTimeRangeGetIntersection(self, otherRange: otherRange)
  }
  public func containsTime(_ time: CMTime) -> Bool { CMTimeRangeContainsTime(self, time: time) }
  public func containsTimeRange(_ range: CMTimeRange) -> Bool {
    CMTimeRangeContainsTimeRange(self, otherRange: range)
  }
}

extension CMTimeRange: Hashable {
  public static func == (range1: CMTimeRange, range2: CMTimeRange) -> Bool {
    CMTimeRangeEqual(range1, range2)
  }
  public static func != (range1: CMTimeRange, range2: CMTimeRange) -> Bool {
    !CMTimeRangeEqual(range1, range2)
  }
}

public let kCMTimeRangeZero = CMTimeRange.zero
public let kCMTimeRangeInvalid = CMTimeRange.invalid

public func CMTIMERANGE_IS_VALID(_ range: CMTimeRange) -> Bool { range.isValid }
public func CMTIMERANGE_IS_INVALID(_ range: CMTimeRange) -> Bool { !range.isValid }
public func CMTIMERANGE_IS_INDEFINITE(_ range: CMTimeRange) -> Bool { range.isIndefinite }
public func CMTIMERANGE_IS_EMPTY(_ range: CMTimeRange) -> Bool { range.isEmpty }

@discardableResult
public func CMTimeRangeMake(start: CMTime, duration: CMTime) -> CMTimeRange {
  CMTimeRange(start: start, duration: duration)
}

/// The range from one time to another; invalid if the second is earlier or the epochs differ.
@discardableResult
public func CMTimeRangeFromTimeToTime(start: CMTime, end: CMTime) -> CMTimeRange {
  var duration = CMTimeSubtract(end, start)
  duration.epoch = start.epoch == end.epoch || !duration.isNumeric ? 0 : duration.epoch
  return CMTimeRange(start: start, duration: duration)
}

/// The first time after a range. A range without a beginning and without an end ends at positive infinity.
@discardableResult
public func CMTimeRangeGetEnd(_ range: CMTimeRange) -> CMTime {
  if range.start.isNegativeInfinity, range.duration.isPositiveInfinity { return .positiveInfinity }
  return CMTimeAdd(range.start, range.duration)
}

/// The shortest range that contains both; invalid if either is.
@discardableResult
public func CMTimeRangeGetUnion(_ range: CMTimeRange, otherRange: CMTimeRange) -> CMTimeRange {
  guard range.isValid, otherRange.isValid else { return .invalid }
  return CMTimeRangeFromTimeToTime(
    start: CMTimeMinimum(range.start, otherRange.start), end: CMTimeMaximum(range.end, otherRange.end))
}

/// What two ranges have in common: `CMTimeRange.zero` if nothing; invalid if either is.
@discardableResult
public func CMTimeRangeGetIntersection(_ range: CMTimeRange, otherRange: CMTimeRange) -> CMTimeRange {
  guard range.isValid, otherRange.isValid else { return .invalid }
  let start = CMTimeMaximum(range.start, otherRange.start)
  let end = CMTimeMinimum(range.end, otherRange.end)
  return CMTimeCompare(start, end) < 0 ? CMTimeRangeFromTimeToTime(start: start, end: end) : .zero
}

/// Whether start and duration are equal.
@discardableResult
public func CMTimeRangeEqual(_ range1: CMTimeRange, _ range2: CMTimeRange) -> Bool {
  CMTimeCompare(range1.start, range2.start) == 0 && CMTimeCompare(range1.duration, range2.duration) == 0
}

/// Whether a time lies in a range: at its start or after it, and before its end.
@discardableResult
public func CMTimeRangeContainsTime(_ range: CMTimeRange, time: CMTime) -> Bool {
  range.isValid && time.isValid && CMTimeCompare(range.start, time) <= 0 && CMTimeCompare(time, range.end) < 0
}

/// Whether all of another range lies in a range.
@discardableResult
public func CMTimeRangeContainsTimeRange(_ range: CMTimeRange, otherRange: CMTimeRange) -> Bool {
  range.isValid && otherRange.isValid && CMTimeCompare(range.start, otherRange.start) <= 0
    && CMTimeCompare(otherRange.end, range.end) <= 0
}

// MARK: - Dictionaries and text

public nonisolated(unsafe) let kCMTimeRangeStartKey: CFString = "start"
public nonisolated(unsafe) let kCMTimeRangeDurationKey: CFString = "duration"

/// A range as a dictionary of two times' dictionaries.
@discardableResult
public func CMTimeRangeCopyAsDictionary(_ range: CMTimeRange, allocator: CFAllocator?) -> CFDictionary? {
  guard let start = CMTimeCopyAsDictionary(range.start, allocator: allocator),
    let duration = CMTimeCopyAsDictionary(range.duration, allocator: allocator)
  else { return nil }
  return [kCMTimeRangeStartKey: start, kCMTimeRangeDurationKey: duration] as NSDictionary
}

/// The range in a dictionary that `CMTimeRangeCopyAsDictionary` made; an invalid one if there is none in it.
@discardableResult
public func CMTimeRangeMakeFromDictionary(_ dictionaryRepresentation: CFDictionary) -> CMTimeRange {
  CMTimeRange(
    start: CMTimeMakeFromDictionary(dictionaryRepresentation[kCMTimeRangeStartKey] as? NSDictionary),
    duration: CMTimeMakeFromDictionary(dictionaryRepresentation[kCMTimeRangeDurationKey] as? NSDictionary))
}

/// A range in words: `{{0/1 = 0.000}, {3000/600 = 5.000}}`.
@discardableResult
public func CMTimeRangeCopyDescription(allocator: CFAllocator?, range: CMTimeRange) -> CFString? {
  range.text as CFString
}

/// Writes a range to the standard error stream.
public func CMTimeRangeShow(_ range: CMTimeRange) { writeLine(range.text) }

extension CMTimeRange {
  var text: String { "{\(start.text), \(duration.text)}" }
}
