// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A span of time, which contains its start but not its end.
///
/// It is valid if its start and duration are valid, and the duration is not negative and in epoch
/// zero.
public struct CMTimeRange: Sendable, BitwiseCopyable {
  public var start: CMTime
  public var duration: CMTime

  /// Creates an invalid range.
  public init() {
    start = .invalid
    duration = .invalid
  }

  public init(start: CMTime, duration: CMTime) {
    self.start = start
    self.duration = duration
  }

  /// Creates the range from one time to another; see `CMTimeRangeFromTimeToTime`.
  public init(start: CMTime, end: CMTime) {
    self = CMTimeRangeFromTimeToTime(start: start, end: end)
  }

  /// An empty range at time zero.
  public static let zero = CMTimeRange(start: .zero, duration: .zero)
  public static let invalid = CMTimeRange()

  public var isValid: Bool {
    start.isValid && duration.isValid && duration.epoch == 0 && duration.value >= 0
      && !duration.isNegativeInfinity
  }
  /// Whether the range is valid and its start or duration is indefinite.
  public var isIndefinite: Bool { isValid && (start.isIndefinite || duration.isIndefinite) }
  /// Whether the range is valid and its duration is zero.
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

/// Returns the range from one time to another; invalid if the second is earlier or the epochs
/// differ.
@discardableResult
public func CMTimeRangeFromTimeToTime(start: CMTime, end: CMTime) -> CMTimeRange {
  var duration = CMTimeSubtract(end, start)
  duration.epoch = start.epoch == end.epoch || !duration.isNumeric ? 0 : duration.epoch
  return CMTimeRange(start: start, duration: duration)
}

/// Returns the first time after a range. A range from negative infinity with an infinite duration
/// ends at positive infinity.
@discardableResult
public func CMTimeRangeGetEnd(_ range: CMTimeRange) -> CMTime {
  if range.start.isNegativeInfinity, range.duration.isPositiveInfinity { return .positiveInfinity }
  return CMTimeAdd(range.start, range.duration)
}

/// Returns the shortest range that contains both ranges; invalid if either is invalid.
@discardableResult
public func CMTimeRangeGetUnion(_ range: CMTimeRange, otherRange: CMTimeRange) -> CMTimeRange {
  guard range.isValid, otherRange.isValid else { return .invalid }
  return CMTimeRangeFromTimeToTime(
    start: CMTimeMinimum(range.start, otherRange.start), end: CMTimeMaximum(range.end, otherRange.end))
}

/// Returns the intersection of two ranges: `CMTimeRange.zero` if they do not overlap; invalid if
/// either is invalid.
@discardableResult
public func CMTimeRangeGetIntersection(_ range: CMTimeRange, otherRange: CMTimeRange) -> CMTimeRange {
  guard range.isValid, otherRange.isValid else { return .invalid }
  let start = CMTimeMaximum(range.start, otherRange.start)
  let end = CMTimeMinimum(range.end, otherRange.end)
  return CMTimeCompare(start, end) < 0 ? CMTimeRangeFromTimeToTime(start: start, end: end) : .zero
}

/// Returns whether start and duration are equal.
@discardableResult
public func CMTimeRangeEqual(_ range1: CMTimeRange, _ range2: CMTimeRange) -> Bool {
  CMTimeCompare(range1.start, range2.start) == 0 && CMTimeCompare(range1.duration, range2.duration) == 0
}

/// Returns whether a time is in a range: not before its start, and before its end.
@discardableResult
public func CMTimeRangeContainsTime(_ range: CMTimeRange, time: CMTime) -> Bool {
  range.isValid && time.isValid && CMTimeCompare(range.start, time) <= 0 && CMTimeCompare(time, range.end) < 0
}

/// Returns whether a range contains all of another range.
@discardableResult
public func CMTimeRangeContainsTimeRange(_ range: CMTimeRange, otherRange: CMTimeRange) -> Bool {
  range.isValid && otherRange.isValid && CMTimeCompare(range.start, otherRange.start) <= 0
    && CMTimeCompare(otherRange.end, range.end) <= 0
}

// MARK: - Dictionaries and text

public nonisolated(unsafe) let kCMTimeRangeStartKey: CFString = "start"
public nonisolated(unsafe) let kCMTimeRangeDurationKey: CFString = "duration"

/// Returns a range as a dictionary with the dictionaries of the two times.
@discardableResult
public func CMTimeRangeCopyAsDictionary(_ range: CMTimeRange, allocator: CFAllocator?) -> CFDictionary? {
  guard let start = CMTimeCopyAsDictionary(range.start, allocator: allocator),
    let duration = CMTimeCopyAsDictionary(range.duration, allocator: allocator)
  else { return nil }
  return [kCMTimeRangeStartKey: start, kCMTimeRangeDurationKey: duration] as NSDictionary
}

/// Returns the range in a dictionary that `CMTimeRangeCopyAsDictionary` made; invalid if it
/// contains none.
@discardableResult
public func CMTimeRangeMakeFromDictionary(_ dictionaryRepresentation: CFDictionary) -> CMTimeRange {
  CMTimeRange(
    start: CMTimeMakeFromDictionary(dictionaryRepresentation[kCMTimeRangeStartKey] as? NSDictionary),
    duration: CMTimeMakeFromDictionary(dictionaryRepresentation[kCMTimeRangeDurationKey] as? NSDictionary))
}

/// Returns a description of a range, such as `{{0/1 = 0.000}, {3000/600 = 5.000}}`.
@discardableResult
public func CMTimeRangeCopyDescription(allocator: CFAllocator?, range: CMTimeRange) -> CFString? {
  range.text as CFString
}

/// Writes a range to the standard error stream.
public func CMTimeRangeShow(_ range: CMTimeRange) { writeLine(range.text) }

extension CMTimeRange {
  var text: String { "{\(start.text), \(duration.text)}" }
}
