// SPDX-License-Identifier: Apache-2.0
import Foundation

// `NSValue` of swift-corelibs-foundation supports few structures. The times are stored as arrays of
// 64-bit integers with the size of the structure; the encodings distinguish them.
private let timeEncoding = "[3q]"
private let timeRangeEncoding = "[6q]"
private let timeMappingEncoding = "[12q]"

extension NSValue {
  public convenience init(time: CMTime) {
    var time = time
    self.init(bytes: &time, objCType: timeEncoding)
  }

  public convenience init(timeRange: CMTimeRange) {
    var range = timeRange
    self.init(bytes: &range, objCType: timeRangeEncoding)
  }

  public convenience init(timeMapping: CMTimeMapping) {
    var mapping = timeMapping
    self.init(bytes: &mapping, objCType: timeMappingEncoding)
  }

  /// The `CMTime` in this value; invalid if it contains something else.
  public var timeValue: CMTime { stored(timeEncoding, default: .invalid) }
  /// The `CMTimeRange` in this value; invalid if it contains something else.
  public var timeRangeValue: CMTimeRange { stored(timeRangeEncoding, default: .invalid) }
  /// The `CMTimeMapping` in this value; invalid if it contains something else.
  public var timeMappingValue: CMTimeMapping {
    stored(timeMappingEncoding, default: CMTimeMapping(source: .invalid, target: .invalid))
  }

  private func stored<T>(_ encoding: String, default value: T) -> T {
    var value = value
    guard String(cString: objCType) == encoding else { return value }
    withUnsafeMutableBytes(of: &value) { bytes in
      if let base = bytes.baseAddress { getValue(base) }
    }
    return value
  }
}

extension CMTime: OVTValueType { public static var ovtValueEncoding: String { timeEncoding } }
extension CMTimeRange: OVTValueType { public static var ovtValueEncoding: String { timeRangeEncoding } }
extension CMTimeMapping: OVTValueType { public static var ovtValueEncoding: String { timeMappingEncoding } }

extension NSCoder {
  /// Encodes a time under a key of a keyed archive.
  public func encode(_ time: CMTime, forKey key: String) {
    encode(time.value, forKey: key + ".value")
    encode(time.timescale, forKey: key + ".timescale")
    encode(Int32(bitPattern: time.flags.rawValue), forKey: key + ".flags")
    encode(time.epoch, forKey: key + ".epoch")
  }

  /// Returns the time stored under a key; invalid if there is none.
  @discardableResult
  public func decodeTime(forKey key: String) -> CMTime {
    guard containsValue(forKey: key + ".flags") else { return .invalid }
    return CMTime(
      value: decodeInt64(forKey: key + ".value"), timescale: decodeInt32(forKey: key + ".timescale"),
      flags: CMTimeFlags(rawValue: UInt32(bitPattern: decodeInt32(forKey: key + ".flags"))),
      epoch: decodeInt64(forKey: key + ".epoch"))
  }

  /// Encodes a time range under a key of a keyed archive.
  public func encode(_ timeRange: CMTimeRange, forKey key: String) {
    encode(timeRange.start, forKey: key + ".start")
    encode(timeRange.duration, forKey: key + ".duration")
  }

  /// Returns the time range stored under a key; invalid if there is none.
  @discardableResult
  public func decodeTimeRange(forKey key: String) -> CMTimeRange {
    CMTimeRange(start: decodeTime(forKey: key + ".start"), duration: decodeTime(forKey: key + ".duration"))
  }

  /// Encodes a time mapping under a key of a keyed archive.
  public func encode(_ timeMapping: CMTimeMapping, forKey key: String) {
    encode(timeMapping.source, forKey: key + ".source")
    encode(timeMapping.target, forKey: key + ".target")
  }

  /// Returns the time mapping stored under a key; invalid if there is none.
  @discardableResult
  public func decodeTimeMapping(forKey key: String) -> CMTimeMapping {
    CMTimeMapping(
      source: decodeTimeRange(forKey: key + ".source"), target: decodeTimeRange(forKey: key + ".target"))
  }
}

/// Returns the time of the host clock in seconds. It is monotonic and independent of changes of the
/// wall clock.
public func CACurrentMediaTime() -> TimeInterval {
  CMTimeGetSeconds(CMClockGetTime(CMClockGetHostTimeClock()))
}
