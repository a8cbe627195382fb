// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// The numerator of a time.
public typealias CMTimeValue = Int64
/// The denominator of a time: the number of units per second.
public typealias CMTimeScale = Int32
/// Distinguishes times that are unrelated although their numbers may be equal, for example after a
/// loop has restarted.
public typealias CMTimeEpoch = Int64

/// The largest timescale that arithmetic chooses.
public var kCMTimeMaxTimescale: Int { 0x7fff_ffff }

/// Flags that state whether a time is numeric and whether it is exact.
public struct CMTimeFlags: OptionSet, Sendable, Hashable, BitwiseCopyable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The time is valid. Without this flag a time is `CMTime.invalid`, regardless of its other
  /// fields.
  public static let valid = CMTimeFlags(rawValue: 1 << 0)
  /// The value has been rounded.
  public static let hasBeenRounded = CMTimeFlags(rawValue: 1 << 1)
  /// The time is later than all other times.
  public static let positiveInfinity = CMTimeFlags(rawValue: 1 << 2)
  /// The time is earlier than all other times.
  public static let negativeInfinity = CMTimeFlags(rawValue: 1 << 3)
  /// The time is unknown, such as the duration of a live broadcast.
  public static let indefinite = CMTimeFlags(rawValue: 1 << 4)
  /// If one of these flags is set, value and timescale are ignored.
  public static let impliedValueFlagsMask: CMTimeFlags = [.positiveInfinity, .negativeInfinity, .indefinite]
}

/// A time or a duration as a rational number: `value` / `timescale` seconds.
///
/// Arithmetic is exact if the result can be represented; otherwise the result is rounded and has
/// the flag `hasBeenRounded`.
public struct CMTime: Sendable, BitwiseCopyable {
  public var value: CMTimeValue
  public var timescale: CMTimeScale
  public var flags: CMTimeFlags
  public var epoch: CMTimeEpoch

  /// Creates a time with all fields zero, which is invalid.
  public init() {
    self.init(value: 0, timescale: 0, flags: [], epoch: 0)
  }

  public init(value: CMTimeValue, timescale: CMTimeScale, flags: CMTimeFlags, epoch: CMTimeEpoch) {
    self.value = value
    self.timescale = timescale
    self.flags = flags
    self.epoch = epoch
  }

  /// Creates a valid time of `value` / `timescale` seconds in epoch zero.
  public init(value: CMTimeValue, timescale: CMTimeScale) {
    self.init(value: value, timescale: timescale, flags: .valid, epoch: 0)
  }
}

extension CMTime {
  /// An invalid time.
  public static let invalid = CMTime()
  /// An unknown time.
  public static let indefinite = CMTime(value: 0, timescale: 0, flags: [.valid, .indefinite], epoch: 0)
  /// A time that is later than all other times.
  public static let positiveInfinity = CMTime(
    value: 0, timescale: 0, flags: [.valid, .positiveInfinity], epoch: 0)
  /// A time that is earlier than all other times.
  public static let negativeInfinity = CMTime(
    value: 0, timescale: 0, flags: [.valid, .negativeInfinity], epoch: 0)
  /// Zero seconds with a timescale of 1.
  public static let zero = CMTime(value: 0, timescale: 1, flags: .valid, epoch: 0)

  public var isValid: Bool { flags.contains(.valid) }
  public var isPositiveInfinity: Bool { flags.isSuperset(of: [.valid, .positiveInfinity]) }
  public var isNegativeInfinity: Bool { flags.isSuperset(of: [.valid, .negativeInfinity]) }
  public var isIndefinite: Bool { flags.isSuperset(of: [.valid, .indefinite]) }
  /// Whether the time is valid and neither infinite nor indefinite.
  public var isNumeric: Bool { flags.rawValue & 0b11101 == 1 }
  /// Whether the time is numeric and has been rounded.
  public var hasBeenRounded: Bool { isNumeric && flags.contains(.hasBeenRounded) }
}

public let kCMTimeInvalid = CMTime.invalid
public let kCMTimeIndefinite = CMTime.indefinite
public let kCMTimePositiveInfinity = CMTime.positiveInfinity
public let kCMTimeNegativeInfinity = CMTime.negativeInfinity
public let kCMTimeZero = CMTime.zero

@inlinable public func CMTIME_IS_VALID(_ time: CMTime) -> Bool { time.isValid }
@inlinable public func CMTIME_IS_INVALID(_ time: CMTime) -> Bool { !time.isValid }
@inlinable public func CMTIME_IS_POSITIVEINFINITY(_ time: CMTime) -> Bool { time.isPositiveInfinity }
@inlinable public func CMTIME_IS_NEGATIVEINFINITY(_ time: CMTime) -> Bool { time.isNegativeInfinity }
@inlinable public func CMTIME_IS_INDEFINITE(_ time: CMTime) -> Bool { time.isIndefinite }
@inlinable public func CMTIME_IS_NUMERIC(_ time: CMTime) -> Bool { time.isNumeric }
@inlinable public func CMTIME_HAS_BEEN_ROUNDED(_ time: CMTime) -> Bool { time.hasBeenRounded }
