// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// Apple renamed "master" to "source" in these functions; both names are available and equivalent.

/// The type identifier of timebases.
@discardableResult
public func CMTimebaseGetTypeID() -> CFTypeID { CMTimebase.cfTypeID }

// MARK: - Creation

/// Creates a timebase that follows a clock, at time zero and rate zero.
@discardableResult
public func CMTimebaseCreateWithSourceClock(
  allocator: CFAllocator?, sourceClock: CMClock, timebaseOut: UnsafeMutablePointer<CMTimebase?>
) -> OSStatus {
  timebaseOut.pointee = try? CMTimebase(source: .clock(sourceClock))
  return noErr
}

/// Creates a timebase that follows another, at time zero and rate zero.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the chain of sources would exceed 1,000
///   timebases.
@discardableResult
public func CMTimebaseCreateWithSourceTimebase(
  allocator: CFAllocator?, sourceTimebase: CMTimebase, timebaseOut: UnsafeMutablePointer<CMTimebase?>
) -> OSStatus {
  timebaseOut.pointee = try? CMTimebase(source: .timebase(sourceTimebase))
  return timebaseOut.pointee == nil ? kCMTimebaseError_InvalidParameter : noErr
}

/// Creates a timebase that follows a clock, at time zero and rate zero.
@discardableResult
public func CMTimebaseCreateWithMasterClock(
  allocator: CFAllocator?, masterClock: CMClock, timebaseOut: UnsafeMutablePointer<CMTimebase?>
) -> OSStatus {
  CMTimebaseCreateWithSourceClock(allocator: allocator, sourceClock: masterClock, timebaseOut: timebaseOut)
}

/// Creates a timebase that follows another, at time zero and rate zero.
@discardableResult
public func CMTimebaseCreateWithMasterTimebase(
  allocator: CFAllocator?, masterTimebase: CMTimebase, timebaseOut: UnsafeMutablePointer<CMTimebase?>
) -> OSStatus {
  CMTimebaseCreateWithSourceTimebase(
    allocator: allocator, sourceTimebase: masterTimebase, timebaseOut: timebaseOut)
}

// MARK: - The source

/// Returns the timebase that a timebase follows; nil if it follows a clock.
@discardableResult
public func CMTimebaseCopySourceTimebase(_ timebase: CMTimebase) -> CMTimebase? { timebase.sourceTimebase }
/// Returns the clock that a timebase follows; nil if it follows a timebase.
@discardableResult
public func CMTimebaseCopySourceClock(_ timebase: CMTimebase) -> CMClock? { timebase.sourceClock }
/// Returns the source of a timebase.
@discardableResult
public func CMTimebaseCopySource(_ timebase: CMTimebase) -> CMClockOrTimebase {
  timebase.source as AnyObject
}
/// Returns the clock at the end of the chain of sources.
@discardableResult
public func CMTimebaseCopyUltimateSourceClock(_ timebase: CMTimebase) -> CMClock { timebase.ultimateClock }

@discardableResult
public func CMTimebaseCopyMasterTimebase(_ timebase: CMTimebase) -> CMTimebase? { timebase.sourceTimebase }
@discardableResult
public func CMTimebaseCopyMasterClock(_ timebase: CMTimebase) -> CMClock? { timebase.sourceClock }
@discardableResult
public func CMTimebaseCopyMaster(_ timebase: CMTimebase) -> CMClockOrTimebase {
  CMTimebaseCopySource(timebase)
}
@discardableResult
public func CMTimebaseCopyUltimateMasterClock(_ timebase: CMTimebase) -> CMClock { timebase.ultimateClock }

@discardableResult
public func CMTimebaseGetMasterTimebase(_ timebase: CMTimebase) -> CMTimebase? { timebase.sourceTimebase }
@discardableResult
public func CMTimebaseGetMasterClock(_ timebase: CMTimebase) -> CMClock? { timebase.sourceClock }
@discardableResult
public func CMTimebaseGetMaster(_ timebase: CMTimebase) -> CMClockOrTimebase? {
  CMTimebaseCopySource(timebase)
}
@discardableResult
public func CMTimebaseGetUltimateMasterClock(_ timebase: CMTimebase) -> CMClock? { timebase.ultimateClock }

/// Makes a timebase follow a clock from now on, without a jump of its time.
@discardableResult
public func CMTimebaseSetSourceClock(_ timebase: CMTimebase, _ newSourceClock: CMClock) -> OSStatus {
  timebase.setSource(.clock(newSourceClock))
}

/// Makes a timebase follow another from now on, without a jump of its time.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the other one follows it, or if the chain of
///   sources would exceed 1,000 timebases.
@discardableResult
public func CMTimebaseSetSourceTimebase(_ timebase: CMTimebase, _ newSourceTimebase: CMTimebase) -> OSStatus {
  timebase.setSource(.timebase(newSourceTimebase))
}

/// Makes a timebase follow a clock from now on, without a jump of its time.
@discardableResult
public func CMTimebaseSetMasterClock(_ timebase: CMTimebase, _ newMasterClock: CMClock) -> OSStatus {
  timebase.setSource(.clock(newMasterClock))
}

/// Makes a timebase follow another from now on, without a jump of its time.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the other one follows it, or if the chain of
///   sources would exceed 1,000 timebases.
@discardableResult
public func CMTimebaseSetMasterTimebase(_ timebase: CMTimebase, _ newMasterTimebase: CMTimebase) -> OSStatus {
  timebase.setSource(.timebase(newMasterTimebase))
}

// MARK: - Time and rate

/// Returns the time of a timebase.
@discardableResult
public func CMTimebaseGetTime(_ timebase: CMTimebase) -> CMTime { timebase.snapshot.time }

/// Returns the time of a timebase in a timescale.
@discardableResult
public func CMTimebaseGetTimeWithTimeScale(
  _ timebase: CMTimebase, timescale: CMTimeScale, method: CMTimeRoundingMethod
) -> CMTime {
  CMTimeConvertScale(timebase.snapshot.time, timescale: timescale, method: method)
}

/// Sets the time of a timebase.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the time is not numeric.
@discardableResult
public func CMTimebaseSetTime(_ timebase: CMTimebase, time: CMTime) -> OSStatus {
  timebase.setAnchor(time, sourceTime: nil)
}

/// Sets the time of a timebase at a time of its source.
/// - Returns: `kCMTimebaseError_InvalidParameter` if one of them is not numeric.
@discardableResult
public func CMTimebaseSetAnchorTime(
  _ timebase: CMTimebase, timebaseTime: CMTime, immediateSourceTime: CMTime
) -> OSStatus {
  timebase.setAnchor(timebaseTime, sourceTime: immediateSourceTime)
}

/// Sets the time of a timebase at a time of its source.
@discardableResult
public func CMTimebaseSetAnchorTime(
  _ timebase: CMTimebase, timebaseTime: CMTime, immediateMasterTime: CMTime
) -> OSStatus {
  timebase.setAnchor(timebaseTime, sourceTime: immediateMasterTime)
}

/// Returns the rate of a timebase in relation to its source.
@discardableResult
public func CMTimebaseGetRate(_ timebase: CMTimebase) -> Float64 { timebase.snapshot.rate }

/// Gets the time and the rate at one moment. Either pointer may be nil.
@discardableResult
public func CMTimebaseGetTimeAndRate(
  _ timebase: CMTimebase, timeOut: UnsafeMutablePointer<CMTime>?, rateOut: UnsafeMutablePointer<Float64>?
) -> OSStatus {
  let (time, rate) = timebase.snapshot
  timeOut?.pointee = time
  rateOut?.pointee = rate
  return noErr
}

/// Sets the rate of a timebase from now on.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the rate is not finite.
@discardableResult
public func CMTimebaseSetRate(_ timebase: CMTimebase, rate: Float64) -> OSStatus {
  timebase.setRate(to: rate)
}

/// Sets the rate of a timebase, and its time at a time of its source.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the rate is not finite or a time is not
///   numeric.
@discardableResult
public func CMTimebaseSetRateAndAnchorTime(
  _ timebase: CMTimebase, rate: Float64, anchorTime timebaseTime: CMTime, immediateSourceTime: CMTime
) -> OSStatus {
  timebase.setAnchor(timebaseTime, sourceTime: immediateSourceTime, rate: rate)
}

/// Sets the rate of a timebase, and its time at a time of its source.
@discardableResult
public func CMTimebaseSetRateAndAnchorTime(
  _ timebase: CMTimebase, rate: Float64, anchorTime timebaseTime: CMTime, immediateMasterTime: CMTime
) -> OSStatus {
  timebase.setAnchor(timebaseTime, sourceTime: immediateMasterTime, rate: rate)
}

/// Returns the rate of a timebase in relation to the clock at the end of the chain of sources.
@discardableResult
public func CMTimebaseGetEffectiveRate(_ timebase: CMTimebase) -> Float64 { timebase.rateOfAll }

/// Waits until no other thread is posting notifications of the timebase.
@discardableResult
public func CMTimebaseNotificationBarrier(_ timebase: CMTimebase) -> OSStatus {
  timebase.posts.wait()
  return noErr
}
