// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// Options of a Core Video call.
public typealias CVOptionFlags = UInt64

public var COREVIDEO_TRUE: Int32 { 1 }
public var COREVIDEO_FALSE: Int32 { 0 }
// The features of this Core Video: buffers are in memory, and there is no graphics hardware.
public var COREVIDEO_SUPPORTS_DIRECT3D: Int32 { 0 }
public var COREVIDEO_SUPPORTS_OPENGL: Int32 { 0 }
public var COREVIDEO_SUPPORTS_OPENGLES: Int32 { 0 }
public var COREVIDEO_SUPPORTS_COLORSPACE: Int32 { 1 }
public var COREVIDEO_SUPPORTS_DISPLAYLINK: Int32 { 0 }
public var COREVIDEO_SUPPORTS_IOSURFACE: Int32 { 0 }
public var COREVIDEO_SUPPORTS_PREFETCH: Int32 { 0 }
public var COREVIDEO_SUPPORTS_IOSURFACE_PREFETCH: Int32 { 0 }
public var COREVIDEO_SUPPORTS_GLES_TEX_IMAGE_IOSURFACE: Int32 { 0 }
public var COREVIDEO_USE_IOSURFACEREF: Int32 { 0 }
public var COREVIDEO_SUPPORTS_METAL: Int32 { 0 }
public var COREVIDEO_SUPPORTS_PERMANENT_ALLOCATOR: Int32 { 0 }
public var COREVIDEO_USE_DERIVED_ENUMS_FOR_CONSTANTS: Int32 { 1 }
public var COREVIDEO_DECLARE_NULLABILITY: Int32 { 1 }

// MARK: - Time

/// A time of `timeValue` / `timeScale` seconds.
public struct CVTime: Sendable, Hashable {
  public var timeValue: Int64
  public var timeScale: Int32
  /// The bits of `CVTimeFlags`.
  public var flags: Int32

  public init() { self.init(timeValue: 0, timeScale: 0, flags: 0) }

  public init(timeValue: Int64, timeScale: Int32, flags: Int32) {
    self.timeValue = timeValue
    self.timeScale = timeScale
    self.flags = flags
  }
}

public struct CVTimeFlags: OptionSet, Sendable {
  public let rawValue: Int32
  public init(rawValue: Int32) { self.rawValue = rawValue }
  /// The time is unknown.
  public static let isIndefinite = CVTimeFlags(rawValue: 1 << 0)
}

public let kCVZeroTime = CVTime(timeValue: 0, timeScale: 0, flags: 0)
public let kCVIndefiniteTime = CVTime(timeValue: 0, timeScale: 0, flags: CVTimeFlags.isIndefinite.rawValue)

/// The time at which a frame is shown, on several clocks; `flags` says which of the fields are
/// valid.
public struct CVTimeStamp: Sendable, Hashable {
  /// 0.
  public var version: UInt32
  /// The number of units of `videoTime` and `videoRefreshPeriod` per second.
  public var videoTimeScale: Int32
  public var videoTime: Int64
  /// The host time, in units of 1 / `CVGetHostClockFrequency()` s.
  public var hostTime: UInt64
  /// The rate of the video clock divided by its nominal rate.
  public var rateScalar: Double
  public var videoRefreshPeriod: Int64
  public var smpteTime: CVSMPTETime
  /// The bits of `CVTimeStampFlags`.
  public var flags: UInt64
  public var reserved: UInt64

  public init() {
    self.init(
      version: 0, videoTimeScale: 0, videoTime: 0, hostTime: 0, rateScalar: 0, videoRefreshPeriod: 0,
      smpteTime: CVSMPTETime(), flags: 0, reserved: 0)
  }

  public init(
    version: UInt32, videoTimeScale: Int32, videoTime: Int64, hostTime: UInt64, rateScalar: Double,
    videoRefreshPeriod: Int64, smpteTime: CVSMPTETime, flags: UInt64, reserved: UInt64
  ) {
    self.version = version
    self.videoTimeScale = videoTimeScale
    self.videoTime = videoTime
    self.hostTime = hostTime
    self.rateScalar = rateScalar
    self.videoRefreshPeriod = videoRefreshPeriod
    self.smpteTime = smpteTime
    self.flags = flags
    self.reserved = reserved
  }
}

public struct CVTimeStampFlags: OptionSet, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  public static let videoTimeValid = CVTimeStampFlags(rawValue: 1 << 0)
  public static let hostTimeValid = CVTimeStampFlags(rawValue: 1 << 1)
  public static let smpteTimeValid = CVTimeStampFlags(rawValue: 1 << 2)
  public static let videoRefreshPeriodValid = CVTimeStampFlags(rawValue: 1 << 3)
  public static let rateScalarValid = CVTimeStampFlags(rawValue: 1 << 4)
  public static let topField = CVTimeStampFlags(rawValue: 1 << 16)
  public static let bottomField = CVTimeStampFlags(rawValue: 1 << 17)
  public static let videoHostTimeValid: CVTimeStampFlags = [.videoTimeValid, .hostTimeValid]
  public static let isInterlaced: CVTimeStampFlags = [.topField, .bottomField]
}

/// An SMPTE time code.
public struct CVSMPTETime: Sendable, Hashable {
  public var subframes: Int16
  public var subframeDivisor: Int16
  public var counter: UInt32
  /// One of `CVSMPTETimeType`.
  public var type: UInt32
  /// The bits of `CVSMPTETimeFlags`.
  public var flags: UInt32
  public var hours: Int16
  public var minutes: Int16
  public var seconds: Int16
  public var frames: Int16

  public init() {
    self.init(
      subframes: 0, subframeDivisor: 0, counter: 0, type: 0, flags: 0, hours: 0, minutes: 0, seconds: 0,
      frames: 0)
  }

  public init(
    subframes: Int16, subframeDivisor: Int16, counter: UInt32, type: UInt32, flags: UInt32, hours: Int16,
    minutes: Int16, seconds: Int16, frames: Int16
  ) {
    self.subframes = subframes
    self.subframeDivisor = subframeDivisor
    self.counter = counter
    self.type = type
    self.flags = flags
    self.hours = hours
    self.minutes = minutes
    self.seconds = seconds
    self.frames = frames
  }
}

/// The number of frames per second, and whether frame numbers are dropped (drop-frame time code).
public enum CVSMPTETimeType: UInt32, Sendable {
  case type24 = 0
  case type25 = 1
  case type30Drop = 2
  case type30 = 3
  case type2997 = 4
  case type2997Drop = 5
  case type60 = 6
  case type5994 = 7
}

public struct CVSMPTETimeFlags: OptionSet, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  public static let valid = CVSMPTETimeFlags(rawValue: 1 << 0)
  public static let running = CVSMPTETimeFlags(rawValue: 1 << 1)
}

// MARK: - Host time

/// The current host time, in units of 1 / `CVGetHostClockFrequency()` s.
@discardableResult
public func CVGetCurrentHostTime() -> UInt64 { mach_absolute_time() }

/// The number of units of host time per second.
@discardableResult
public func CVGetHostClockFrequency() -> Double { 1e9 }

/// The resolution of host time, in its units.
@discardableResult
public func CVGetHostClockMinimumTimeDelta() -> UInt32 { 1 }
