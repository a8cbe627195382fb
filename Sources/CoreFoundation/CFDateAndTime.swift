// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Seconds since the first moment of 2001, Greenwich time.
public typealias CFAbsoluteTime = Double
/// A number of seconds.
public typealias CFTimeInterval = Double

public let kCFAbsoluteTimeIntervalSince1970: CFTimeInterval = 978_307_200
public let kCFAbsoluteTimeIntervalSince1904: CFTimeInterval = 3_061_152_000

/// The time of day. It jumps when the system's clock is set.
@discardableResult
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime {
  var now = timespec()
  clock_gettime(CLOCK_REALTIME, &now)
  return Double(now.tv_sec) - kCFAbsoluteTimeIntervalSince1970 + Double(now.tv_nsec) * 1e-9
}

@discardableResult
public func CFDateCreate(_ allocator: CFAllocator!, _ at: CFAbsoluteTime) -> CFDate! {
  NSDate(timeIntervalSinceReferenceDate: at)
}

@discardableResult
public func CFDateGetAbsoluteTime(_ theDate: CFDate!) -> CFAbsoluteTime {
  theDate?.timeIntervalSinceReferenceDate ?? 0
}

// MARK: - Host time

public typealias kern_return_t = Int32
public let KERN_SUCCESS: kern_return_t = 0

/// How many nanoseconds `denom` units of host time are: `numer`.
public struct mach_timebase_info_data_t: Sendable {
  public var numer: UInt32
  public var denom: UInt32
  public init() { self.init(numer: 0, denom: 0) }
  public init(numer: UInt32, denom: UInt32) {
    self.numer = numer
    self.denom = denom
  }
}
public typealias mach_timebase_info_t = UnsafeMutablePointer<mach_timebase_info_data_t>

/// A ratio to be filled in. (C has a structure and a function of this name.)
public func mach_timebase_info() -> mach_timebase_info_data_t { mach_timebase_info_data_t() }

/// The host time: nanoseconds, never going back, standing still while the machine sleeps.
@discardableResult
public func mach_absolute_time() -> UInt64 {
  var now = timespec()
  clock_gettime(CLOCK_MONOTONIC, &now)
  return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
}

/// The unit of host time: one nanosecond.
@discardableResult
public func mach_timebase_info(_ info: mach_timebase_info_t!) -> kern_return_t {
  info?.pointee = mach_timebase_info_data_t(numer: 1, denom: 1)
  return KERN_SUCCESS
}

// MARK: - Units of time, as on Apple's systems in Dispatch, whose C header does not reach Swift on Linux

/// Nanoseconds of a second.
public let NSEC_PER_SEC: UInt64 = 1_000_000_000
/// Nanoseconds of a millisecond.
public let NSEC_PER_MSEC: UInt64 = 1_000_000
/// Nanoseconds of a microsecond.
public let NSEC_PER_USEC: UInt64 = 1000
/// Microseconds of a second.
public let USEC_PER_SEC: UInt64 = 1_000_000
