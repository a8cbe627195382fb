// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// The numerator of a time.
public typealias CMTimeValue = Int64
/// The denominator of a time: the number of units per second.
public typealias CMTimeScale = Int32
/// Distinguishes times that are apart although their numbers may be equal, as when a loop starts
/// again.
public typealias CMTimeEpoch = Int64

/// The largest timescale that arithmetic chooses by itself.
public var kCMTimeMaxTimescale: Int { 0x7fff_ffff }

/// Flags that tell whether a time is numeric, and whether it is exact.
public struct CMTimeFlags: OptionSet, Sendable, Hashable, BitwiseCopyable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Must be set; a time without it is `CMTime.invalid`, whatever else it holds.
  public static let valid = CMTimeFlags(rawValue: 1 << 0)
  /// Some rounding took place on the way to this value.
  public static let hasBeenRounded = CMTimeFlags(rawValue: 1 << 1)
  /// Later than every other time.
  public static let positiveInfinity = CMTimeFlags(rawValue: 1 << 2)
  /// Earlier than every other time.
  public static let negativeInfinity = CMTimeFlags(rawValue: 1 << 3)
  /// Not known, as the duration of a live broadcast.
  public static let indefinite = CMTimeFlags(rawValue: 1 << 4)
  /// With any of these flags, value and timescale are ignored.
  public static let impliedValueFlagsMask: CMTimeFlags = [.positiveInfinity, .negativeInfinity, .indefinite]
}

/// A time or a duration as a rational number: `value` / `timescale` seconds.
///
/// Arithmetic is exact where the result can be expressed, and says by `hasBeenRounded` where it was
/// not.
public struct CMTime: Sendable, BitwiseCopyable {
  public var value: CMTimeValue
  public var timescale: CMTimeScale
  public var flags: CMTimeFlags
  public var epoch: CMTimeEpoch

  /// All fields zero: an invalid time.
  public init() {
    self.init(value: 0, timescale: 0, flags: [], epoch: 0)
  }

  public init(value: CMTimeValue, timescale: CMTimeScale, flags: CMTimeFlags, epoch: CMTimeEpoch) {
    self.value = value
    self.timescale = timescale
    self.flags = flags
    self.epoch = epoch
  }

  /// A valid time of `value` / `timescale` seconds in epoch zero.
  public init(value: CMTimeValue, timescale: CMTimeScale) {
    self.init(value: value, timescale: timescale, flags: .valid, epoch: 0)
  }
}

extension CMTime {
  /// Not a time.
  public static let invalid = CMTime()
  /// An unknown time.
  public static let indefinite = CMTime(value: 0, timescale: 0, flags: [.valid, .indefinite], epoch: 0)
  /// Later than every other time.
  public static let positiveInfinity = CMTime(
    value: 0, timescale: 0, flags: [.valid, .positiveInfinity], epoch: 0)
  /// Earlier than every other time.
  public static let negativeInfinity = CMTime(
    value: 0, timescale: 0, flags: [.valid, .negativeInfinity], epoch: 0)
  /// Zero seconds, in a timescale of 1.
  public static let zero = CMTime(value: 0, timescale: 1, flags: .valid, epoch: 0)

  public var isValid: Bool { flags.contains(.valid) }
  public var isPositiveInfinity: Bool { flags.isSuperset(of: [.valid, .positiveInfinity]) }
  public var isNegativeInfinity: Bool { flags.isSuperset(of: [.valid, .negativeInfinity]) }
  public var isIndefinite: Bool { flags.isSuperset(of: [.valid, .indefinite]) }
  /// Valid, and neither infinite nor indefinite.
  public var isNumeric: Bool { flags.rawValue & 0b11101 == 1 }
  /// Numeric, and rounded on the way.
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
