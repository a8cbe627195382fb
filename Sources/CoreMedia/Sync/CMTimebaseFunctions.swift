// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// Where Apple's names have changed from "master" to "source", both are here and mean the same.

/// The type identifier of timebases.
@discardableResult
public func CMTimebaseGetTypeID() -> CFTypeID { CMTimebase.cfTypeID }

// MARK: - Creation

/// Makes a timebase that follows a clock, at time zero and rate zero.
@discardableResult
public func CMTimebaseCreateWithSourceClock(
  allocator: CFAllocator?, sourceClock: CMClock, timebaseOut: UnsafeMutablePointer<CMTimebase?>
) -> OSStatus {
  timebaseOut.pointee = try? CMTimebase(source: .clock(sourceClock))
  return noErr
}

/// Makes a timebase that follows another, at time zero and rate zero.
/// - Returns: `kCMTimebaseError_InvalidParameter` if that would be more than 1,000, one behind the other.
@discardableResult
public func CMTimebaseCreateWithSourceTimebase(
  allocator: CFAllocator?, sourceTimebase: CMTimebase, timebaseOut: UnsafeMutablePointer<CMTimebase?>
) -> OSStatus {
  timebaseOut.pointee = try? CMTimebase(source: .timebase(sourceTimebase))
  return timebaseOut.pointee == nil ? kCMTimebaseError_InvalidParameter : noErr
}

/// Makes a timebase that follows a clock, at time zero and rate zero.
@discardableResult
public func CMTimebaseCreateWithMasterClock(
  allocator: CFAllocator?, masterClock: CMClock, timebaseOut: UnsafeMutablePointer<CMTimebase?>
) -> OSStatus {
  CMTimebaseCreateWithSourceClock(allocator: allocator, sourceClock: masterClock, timebaseOut: timebaseOut)
}

/// Makes a timebase that follows another, at time zero and rate zero.
@discardableResult
public func CMTimebaseCreateWithMasterTimebase(
  allocator: CFAllocator?, masterTimebase: CMTimebase, timebaseOut: UnsafeMutablePointer<CMTimebase?>
) -> OSStatus {
  CMTimebaseCreateWithSourceTimebase(
    allocator: allocator, sourceTimebase: masterTimebase, timebaseOut: timebaseOut)
}

// MARK: - The source

/// The timebase that a timebase follows, nil if it follows a clock.
@discardableResult
public func CMTimebaseCopySourceTimebase(_ timebase: CMTimebase) -> CMTimebase? { timebase.sourceTimebase }
/// The clock that a timebase follows, nil if it follows a timebase.
@discardableResult
public func CMTimebaseCopySourceClock(_ timebase: CMTimebase) -> CMClock? { timebase.sourceClock }
/// What a timebase follows.
@discardableResult
public func CMTimebaseCopySource(_ timebase: CMTimebase) -> CMClockOrTimebase {
  timebase.source as AnyObject
}
/// The clock at the end of the chain of timebases.
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

/// Makes a timebase follow a clock from now on. Its time does not jump.
@discardableResult
public func CMTimebaseSetSourceClock(_ timebase: CMTimebase, _ newSourceClock: CMClock) -> OSStatus {
  timebase.setSource(.clock(newSourceClock))
}

/// Makes a timebase follow another from now on. Its time does not jump.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the other one follows it, or more than 1,000 would follow each other.
@discardableResult
public func CMTimebaseSetSourceTimebase(_ timebase: CMTimebase, _ newSourceTimebase: CMTimebase) -> OSStatus {
  timebase.setSource(.timebase(newSourceTimebase))
}

/// Makes a timebase follow a clock from now on. Its time does not jump.
@discardableResult
public func CMTimebaseSetMasterClock(_ timebase: CMTimebase, _ newMasterClock: CMClock) -> OSStatus {
  timebase.setSource(.clock(newMasterClock))
}

/// Makes a timebase follow another from now on. Its time does not jump.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the other one follows it.
@discardableResult
public func CMTimebaseSetMasterTimebase(_ timebase: CMTimebase, _ newMasterTimebase: CMTimebase) -> OSStatus {
  timebase.setSource(.timebase(newMasterTimebase))
}

// MARK: - Time and rate

/// The time on a timebase.
@discardableResult
public func CMTimebaseGetTime(_ timebase: CMTimebase) -> CMTime { timebase.snapshot.time }

/// The time on a timebase in a timescale.
@discardableResult
public func CMTimebaseGetTimeWithTimeScale(
  _ timebase: CMTimebase, timescale: CMTimeScale, method: CMTimeRoundingMethod
) -> CMTime {
  CMTimeConvertScale(timebase.snapshot.time, timescale: timescale, method: method)
}

/// Sets the time on a timebase.
/// - Returns: `kCMTimebaseError_InvalidParameter` if it is not a number.
@discardableResult
public func CMTimebaseSetTime(_ timebase: CMTimebase, time: CMTime) -> OSStatus {
  timebase.setAnchor(time, sourceTime: nil)
}

/// Sets the time on a timebase for a time of its source.
/// - Returns: `kCMTimebaseError_InvalidParameter` if one of them is not a number.
@discardableResult
public func CMTimebaseSetAnchorTime(
  _ timebase: CMTimebase, timebaseTime: CMTime, immediateSourceTime: CMTime
) -> OSStatus {
  timebase.setAnchor(timebaseTime, sourceTime: immediateSourceTime)
}

/// Sets the time on a timebase for a time of its source.
@discardableResult
public func CMTimebaseSetAnchorTime(
  _ timebase: CMTimebase, timebaseTime: CMTime, immediateMasterTime: CMTime
) -> OSStatus {
  timebase.setAnchor(timebaseTime, sourceTime: immediateMasterTime)
}

/// The rate of a timebase against its source.
@discardableResult
public func CMTimebaseGetRate(_ timebase: CMTimebase) -> Float64 { timebase.snapshot.rate }

/// The time and the rate at one moment. Either pointer may be nil.
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
/// - Returns: `kCMTimebaseError_InvalidParameter` if it is not finite.
@discardableResult
public func CMTimebaseSetRate(_ timebase: CMTimebase, rate: Float64) -> OSStatus {
  timebase.setRate(to: rate)
}

/// Sets the time on a timebase for a time of its source, as though it had run at the rate since then.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the rate is not finite or a time is not a number.
@discardableResult
public func CMTimebaseSetRateAndAnchorTime(
  _ timebase: CMTimebase, rate: Float64, anchorTime timebaseTime: CMTime, immediateSourceTime: CMTime
) -> OSStatus {
  timebase.setAnchor(timebaseTime, sourceTime: immediateSourceTime, rate: rate)
}

/// Sets the time on a timebase for a time of its source, as though it had run at the rate since then.
@discardableResult
public func CMTimebaseSetRateAndAnchorTime(
  _ timebase: CMTimebase, rate: Float64, anchorTime timebaseTime: CMTime, immediateMasterTime: CMTime
) -> OSStatus {
  timebase.setAnchor(timebaseTime, sourceTime: immediateMasterTime, rate: rate)
}

/// The rate of a timebase against the clock at the end of the chain.
@discardableResult
public func CMTimebaseGetEffectiveRate(_ timebase: CMTimebase) -> Float64 { timebase.rateOfAll }

/// Waits until no other thread is posting the timebase's notifications.
@discardableResult
public func CMTimebaseNotificationBarrier(_ timebase: CMTimebase) -> OSStatus {
  timebase.posts.wait()
  return noErr
}
