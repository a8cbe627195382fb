// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// Flags that state which fields of a time stamp are valid.
public struct AudioTimeStampFlags: OptionSet, Sendable, Hashable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  public static let sampleTimeValid = AudioTimeStampFlags(rawValue: 1 << 0)
  public static let hostTimeValid = AudioTimeStampFlags(rawValue: 1 << 1)
  public static let rateScalarValid = AudioTimeStampFlags(rawValue: 1 << 2)
  public static let wordClockTimeValid = AudioTimeStampFlags(rawValue: 1 << 3)
  public static let smpteTimeValid = AudioTimeStampFlags(rawValue: 1 << 4)
  public static let sampleHostTimeValid: AudioTimeStampFlags = [.sampleTimeValid, .hostTimeValid]
}

/// Flags of a time code.
public struct SMPTETimeFlags: OptionSet, Sendable, Hashable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  public static let valid = SMPTETimeFlags(rawValue: 1 << 0)
  /// The time code is advancing.
  public static let running = SMPTETimeFlags(rawValue: 1 << 1)
}

/// The frame rates of time codes.
public enum SMPTETimeType: UInt32, Sendable {
  case type24 = 0
  case type25 = 1
  case type30Drop = 2
  case type30 = 3
  case type2997 = 4
  case type2997Drop = 5
  case type60 = 6
  case type5994 = 7
  case type60Drop = 8
  case type5994Drop = 9
  case type50 = 10
  case type2398 = 11
}

/// A SMPTE time code.
public struct SMPTETime: Sendable, Hashable {
  public var mSubframes: Int16
  /// The number of subframes per frame.
  public var mSubframeDivisor: Int16
  /// The number of messages received.
  public var mCounter: UInt32
  public var mType: SMPTETimeType
  public var mFlags: SMPTETimeFlags
  public var mHours: Int16
  public var mMinutes: Int16
  public var mSeconds: Int16
  public var mFrames: Int16

  public init() {
    self.init(
      mSubframes: 0, mSubframeDivisor: 0, mCounter: 0, mType: .type24, mFlags: [], mHours: 0, mMinutes: 0,
      mSeconds: 0, mFrames: 0)
  }

  public init(
    mSubframes: Int16, mSubframeDivisor: Int16, mCounter: UInt32, mType: SMPTETimeType,
    mFlags: SMPTETimeFlags, mHours: Int16, mMinutes: Int16, mSeconds: Int16, mFrames: Int16
  ) {
    self.mSubframes = mSubframes
    self.mSubframeDivisor = mSubframeDivisor
    self.mCounter = mCounter
    self.mType = mType
    self.mFlags = mFlags
    self.mHours = mHours
    self.mMinutes = mMinutes
    self.mSeconds = mSeconds
    self.mFrames = mFrames
  }
}

/// A point in time of an audio stream, expressed in several clocks.
public struct AudioTimeStamp: Sendable, Hashable {
  /// The time in sample frames.
  public var mSampleTime: Float64
  /// The time in units of `mach_absolute_time()`.
  public var mHostTime: UInt64
  /// The ratio of the actual to the nominal number of host ticks per sample frame.
  public var mRateScalar: Float64
  public var mWordClockTime: UInt64
  public var mSMPTETime: SMPTETime
  public var mFlags: AudioTimeStampFlags
  public var mReserved: UInt32

  public init() {
    self.init(
      mSampleTime: 0, mHostTime: 0, mRateScalar: 0, mWordClockTime: 0, mSMPTETime: SMPTETime(), mFlags: [],
      mReserved: 0)
  }

  public init(
    mSampleTime: Float64, mHostTime: UInt64, mRateScalar: Float64, mWordClockTime: UInt64,
    mSMPTETime: SMPTETime, mFlags: AudioTimeStampFlags, mReserved: UInt32
  ) {
    self.mSampleTime = mSampleTime
    self.mHostTime = mHostTime
    self.mRateScalar = mRateScalar
    self.mWordClockTime = mWordClockTime
    self.mSMPTETime = mSMPTETime
    self.mFlags = mFlags
    self.mReserved = mReserved
  }
}

/// A range of values, which includes its bounds.
public struct AudioValueRange: Sendable, Hashable {
  public var mMinimum: Float64
  public var mMaximum: Float64

  public init() { self.init(mMinimum: 0, mMaximum: 0) }

  public init(mMinimum: Float64, mMaximum: Float64) {
    self.mMinimum = mMinimum
    self.mMaximum = mMaximum
  }
}

/// The description of a codec by the type, subtype and manufacturer codes of its component.
public struct AudioClassDescription: Sendable, Hashable {
  public var mType: OSType
  public var mSubType: OSType
  public var mManufacturer: OSType

  public init() { self.init(mType: 0, mSubType: 0, mManufacturer: 0) }

  public init(mType: OSType, mSubType: OSType, mManufacturer: OSType) {
    self.mType = mType
    self.mSubType = mSubType
    self.mManufacturer = mManufacturer
  }
}
