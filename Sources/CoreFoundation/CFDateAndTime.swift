// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A time in seconds since 2001-01-01 00:00:00 UTC.
public typealias CFAbsoluteTime = Double
/// A duration in seconds.
public typealias CFTimeInterval = Double

public let kCFAbsoluteTimeIntervalSince1970: CFTimeInterval = 978_307_200
public let kCFAbsoluteTimeIntervalSince1904: CFTimeInterval = 3_061_152_000

/// Returns the current time of day. It jumps when the system's clock is set.
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

/// The ratio that converts host time to nanoseconds: `numer / denom` nanoseconds per unit.
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

/// Returns a ratio of 0 to 0, to be filled in. (In C, a structure and a function have this name.)
public func mach_timebase_info() -> mach_timebase_info_data_t { mach_timebase_info_data_t() }

/// Returns the host time in nanoseconds. It never goes back, and it does not advance while the
/// machine sleeps.
@discardableResult
public func mach_absolute_time() -> UInt64 {
  var now = timespec()
  clock_gettime(CLOCK_MONOTONIC, &now)
  return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
}

/// Sets `info` to the unit of host time, which is 1 nanosecond, and returns `KERN_SUCCESS`.
@discardableResult
public func mach_timebase_info(_ info: mach_timebase_info_t!) -> kern_return_t {
  info?.pointee = mach_timebase_info_data_t(numer: 1, denom: 1)
  return KERN_SUCCESS
}

// MARK: - Units of time, which Apple's systems declare in Dispatch

/// Nanoseconds per second.
public let NSEC_PER_SEC: UInt64 = 1_000_000_000
/// Nanoseconds per millisecond.
public let NSEC_PER_MSEC: UInt64 = 1_000_000
/// Nanoseconds per microsecond.
public let NSEC_PER_USEC: UInt64 = 1000
/// Microseconds per second.
public let USEC_PER_SEC: UInt64 = 1_000_000
