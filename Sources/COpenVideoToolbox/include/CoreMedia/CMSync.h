// SPDX-License-Identifier: Apache-2.0
// Clocks, and timebases that run by them.

#ifndef OVT_COREMEDIA_CMSYNC_H
#define OVT_COREMEDIA_CMSYNC_H

#include <CoreMedia/CMBase.h>
#include <CoreMedia/CMTime.h>

OVT_HEADER_BEGIN

typedef struct OpaqueCMClock *CMClockRef;
typedef struct OpaqueCMTimebase *CMTimebaseRef;
/// A clock or a timebase.
typedef CFTypeRef CMClockOrTimebaseRef;

enum {
  kCMClockError_MissingRequiredParameter = -12745,
  kCMClockError_InvalidParameter = -12746,
  kCMClockError_AllocationFailed = -12747,
  kCMClockError_UnsupportedOperation = -12756,
  kCMTimebaseError_MissingRequiredParameter = -12748,
  kCMTimebaseError_InvalidParameter = -12749,
  kCMTimebaseError_AllocationFailed = -12750,
  /// A run-loop timer must repeat, with an interval of `CMTimebase.veryLongTimeInterval` at least.
  kCMTimebaseError_TimerIntervalTooShort = -12751,
  kCMTimebaseError_ReadOnly = -12757,
  kCMSyncError_MissingRequiredParameter = -12752,
  kCMSyncError_InvalidParameter = -12753,
  kCMSyncError_AllocationFailed = -12754,
  kCMSyncError_RateMustBeNonZero = -12755
};

/// Posted by a timebase after its effective rate has changed.
OVT_EXPORT const CFStringRef kCMTimebaseNotification_EffectiveRateChanged;
/// Posted by a timebase after its time has jumped.
OVT_EXPORT const CFStringRef kCMTimebaseNotification_TimeJumped;
/// In a notification's user info: the timebase's time at the event, as `CMTimeCopyAsDictionary`
/// writes it.
OVT_EXPORT const CFStringRef kCMTimebaseNotificationKey_EventTime;

/// The type identifier of clocks.
OVT_EXPORT CFTypeID CMClockGetTypeID(void);

/// The clock of the machine: nanoseconds that never go back.
///
/// The result is not retained for the caller.
OVT_EXPORT CMClockRef OVT_NULLABLE CMClockGetHostTimeClock(void);

/// A host time in units of `mach_absolute_time()`; 0 if it is not a number or negative.
OVT_EXPORT uint64_t CMClockConvertHostTimeToSystemUnits(CMTime hostTime);

/// A host time from units of `mach_absolute_time()`.
OVT_EXPORT CMTime CMClockMakeHostTimeFromSystemUnits(uint64_t hostTime);

/// The time on a clock.
OVT_EXPORT CMTime CMClockGetTime(CMClockRef clock);

/// The time on a clock and at the same moment on its reference, the host's clock.
/// - Returns: `kCMClockError_InvalidParameter` if the clock has been invalidated.
OVT_EXPORT OSStatus CMClockGetAnchorTime(
    CMClockRef clock, CMTime *clockTimeOut, CMTime *referenceClockTimeOut);

/// Whether two clocks can run apart: all can but a clock and itself.
OVT_EXPORT Boolean CMClockMightDrift(CMClockRef clock, CMClockRef otherClock);

/// Makes a clock stop functioning; see `CMClock.invalidate()`.
OVT_EXPORT void CMClockInvalidate(CMClockRef clock);

/// The time on a clock or a timebase; invalid for anything else.
OVT_EXPORT CMTime CMSyncGetTime(CMClockOrTimebaseRef clockOrTimebase);

/// Whether two clocks or timebases can run apart: whether their ultimate clocks can.
OVT_EXPORT Boolean CMSyncMightDrift(
    CMClockOrTimebaseRef clockOrTimebase1, CMClockOrTimebaseRef clockOrTimebase2);

/// The rate of one clock or timebase against another.
///
/// Two timebases with a common source are compared by their rates alone; two clocks by the drift
/// measured between them. The rate of anything against a stopped timebase is not a
/// number.
OVT_EXPORT Float64 CMSyncGetRelativeRate(
    CMClockOrTimebaseRef ofClockOrTimebase, CMClockOrTimebaseRef relativeToClockOrTimebase);

/// The rate of one clock or timebase against another, and the times of both at which it went into
/// effect. Every pointer may be NULL.
/// - Returns: `kCMSyncError_RateMustBeNonZero` if the rate is not a number, as against a stopped
///   timebase; `kCMSyncError_InvalidParameter` if an object is neither a clock nor a timebase.
OVT_EXPORT OSStatus CMSyncGetRelativeRateAndAnchorTime(
    CMClockOrTimebaseRef ofClockOrTimebase, CMClockOrTimebaseRef relativeToClockOrTimebase,
    Float64 *OVT_NULLABLE outRelativeRate, CMTime *OVT_NULLABLE outOfClockOrTimebaseAnchorTime,
    CMTime *OVT_NULLABLE outRelativeToClockOrTimebaseAnchorTime);

/// The time of one clock or timebase when another's is `time`.
///
/// - Returns: an invalid time if the time is not a number, or lies on a stopped timebase
///   at another.
OVT_EXPORT CMTime CMSyncConvertTime(
    CMTime time, CMClockOrTimebaseRef fromClockOrTimebase, CMClockOrTimebaseRef toClockOrTimebase);

/// The type identifier of timebases.
OVT_EXPORT CFTypeID CMTimebaseGetTypeID(void);

/// Makes a timebase that follows a clock, at time zero and rate zero.
///
/// The caller owns the object that `timebaseOut` receives, and releases it with `CFRelease`.
OVT_EXPORT OSStatus CMTimebaseCreateWithSourceClock(
    CFAllocatorRef OVT_NULLABLE allocator, CMClockRef sourceClock,
    CMTimebaseRef OVT_NULLABLE *timebaseOut);

/// Makes a timebase that follows another, at time zero and rate zero.
/// - Returns: `kCMTimebaseError_InvalidParameter` if that would be more than 1,000, one after the
///   other.
///
/// The caller owns the object that `timebaseOut` receives, and releases it with `CFRelease`.
OVT_EXPORT OSStatus CMTimebaseCreateWithSourceTimebase(
    CFAllocatorRef OVT_NULLABLE allocator, CMTimebaseRef sourceTimebase,
    CMTimebaseRef OVT_NULLABLE *timebaseOut);

/// The timebase that a timebase follows, NULL if it follows a clock.
///
/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CMTimebaseRef OVT_NULLABLE CMTimebaseCopySourceTimebase(CMTimebaseRef timebase);

/// The clock that a timebase follows, NULL if it follows a timebase.
///
/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CMClockRef OVT_NULLABLE CMTimebaseCopySourceClock(CMTimebaseRef timebase);

/// The source of a timebase.
///
/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CMClockOrTimebaseRef OVT_NULLABLE CMTimebaseCopySource(CMTimebaseRef timebase);

/// The clock at the end of the chain of timebases.
///
/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CMClockRef OVT_NULLABLE CMTimebaseCopyUltimateSourceClock(CMTimebaseRef timebase);

/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CMTimebaseRef OVT_NULLABLE CMTimebaseCopyMasterTimebase(CMTimebaseRef timebase);

/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CMClockRef OVT_NULLABLE CMTimebaseCopyMasterClock(CMTimebaseRef timebase);

/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CMClockOrTimebaseRef OVT_NULLABLE CMTimebaseCopyMaster(CMTimebaseRef timebase);

/// The caller owns the result, and releases it with `CFRelease`.
OVT_EXPORT CMClockRef OVT_NULLABLE CMTimebaseCopyUltimateMasterClock(CMTimebaseRef timebase);

/// The result is not retained for the caller.
OVT_EXPORT CMTimebaseRef OVT_NULLABLE CMTimebaseGetMasterTimebase(CMTimebaseRef timebase);

/// The result is not retained for the caller.
OVT_EXPORT CMClockRef OVT_NULLABLE CMTimebaseGetMasterClock(CMTimebaseRef timebase);

/// The result is not retained for the caller.
OVT_EXPORT CMClockOrTimebaseRef OVT_NULLABLE CMTimebaseGetMaster(CMTimebaseRef timebase);

/// The result is not retained for the caller.
OVT_EXPORT CMClockRef OVT_NULLABLE CMTimebaseGetUltimateMasterClock(CMTimebaseRef timebase);

/// Makes a timebase follow a clock from now on. Its time does not jump.
OVT_EXPORT OSStatus CMTimebaseSetSourceClock(CMTimebaseRef timebase, CMClockRef newSourceClock);

/// Makes a timebase follow another from now on. Its time does not jump.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the other one follows it, or more than 1,000
///   would follow each other.
OVT_EXPORT OSStatus CMTimebaseSetSourceTimebase(
    CMTimebaseRef timebase, CMTimebaseRef newSourceTimebase);

/// Makes a timebase follow a clock from now on. Its time does not jump.
OVT_EXPORT OSStatus CMTimebaseSetMasterClock(CMTimebaseRef timebase, CMClockRef newMasterClock);

/// Makes a timebase follow another from now on. Its time does not jump.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the other one follows it.
OVT_EXPORT OSStatus CMTimebaseSetMasterTimebase(
    CMTimebaseRef timebase, CMTimebaseRef newMasterTimebase);

/// The time on a timebase.
OVT_EXPORT CMTime CMTimebaseGetTime(CMTimebaseRef timebase);

/// The time on a timebase in a timescale.
OVT_EXPORT CMTime CMTimebaseGetTimeWithTimeScale(
    CMTimebaseRef timebase, CMTimeScale timescale, CMTimeRoundingMethod method);

/// Sets the time on a timebase.
/// - Returns: `kCMTimebaseError_InvalidParameter` if it is not a number.
OVT_EXPORT OSStatus CMTimebaseSetTime(CMTimebaseRef timebase, CMTime time);

/// Sets the time on a timebase for a time of its source.
/// - Returns: `kCMTimebaseError_InvalidParameter` if one of them is not a number.
OVT_EXPORT OSStatus CMTimebaseSetAnchorTime(
    CMTimebaseRef timebase, CMTime timebaseTime, CMTime immediateSourceTime);

/// The rate of a timebase against its source.
OVT_EXPORT Float64 CMTimebaseGetRate(CMTimebaseRef timebase);

/// The time and the rate at one moment. Either pointer may be NULL.
OVT_EXPORT OSStatus CMTimebaseGetTimeAndRate(
    CMTimebaseRef timebase, CMTime *OVT_NULLABLE timeOut, Float64 *OVT_NULLABLE rateOut);

/// Sets the rate of a timebase from now on.
/// - Returns: `kCMTimebaseError_InvalidParameter` if it is not finite.
OVT_EXPORT OSStatus CMTimebaseSetRate(CMTimebaseRef timebase, Float64 rate);

/// Sets the time on a timebase for a time of its source, as though it had run at the rate since
/// then.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the rate is not finite or a time is not a
///   number.
OVT_EXPORT OSStatus CMTimebaseSetRateAndAnchorTime(
    CMTimebaseRef timebase, Float64 rate, CMTime timebaseTime, CMTime immediateSourceTime);

/// The rate of a timebase against the clock at the end of the chain.
OVT_EXPORT Float64 CMTimebaseGetEffectiveRate(CMTimebaseRef timebase);

/// Waits until no other thread is posting the timebase's notifications.
OVT_EXPORT OSStatus CMTimebaseNotificationBarrier(CMTimebaseRef timebase);

// MARK: - Timers, which fire at a time of a timebase and follow its jumps and changes of rate

/// The interval of a run-loop timer for a timebase in seconds: 256 years, so that it does not fire
/// by itself.
#define kCMTimebaseVeryLongCFTimeInterval ((CFTimeInterval)(256.0 * 365.0 * 24.0 * 60.0 * 60.0))
/// The date with which a run-loop timer for a timebase is created.
#define kCMTimebaseFarFutureCFAbsoluteTime ((CFAbsoluteTime)kCMTimebaseVeryLongCFTimeInterval)

// As libdispatch's header has it, which need not be there.
struct dispatch_source_s;
typedef struct dispatch_source_s *dispatch_source_t;

/// Adds a run-loop timer, which does not fire before a time is set for it. `runloop` is the one to
/// which the timer was added. The timebase keeps both until the timer is removed, or invalidated.
/// - Returns: `kCMTimebaseError_TimerIntervalTooShort` for an interval of less than
///   `kCMTimebaseVeryLongCFTimeInterval`, `kCMTimebaseError_InvalidParameter` for a timer that was
///   invalidated.
OVT_EXPORT OSStatus CMTimebaseAddTimer(CMTimebaseRef timebase, CFRunLoopTimerRef timer, CFRunLoopRef runloop);
/// Removes a run-loop timer, which keeps its last date.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the timebase does not have it.
OVT_EXPORT OSStatus CMTimebaseRemoveTimer(CMTimebaseRef timebase, CFRunLoopTimerRef timer);
/// Sets the time at which a run-loop timer fires; one that is not a number means never. `flags` are
/// 0.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the timebase does not have the timer, or a
///   flag is set.
OVT_EXPORT OSStatus CMTimebaseSetTimerNextFireTime(
    CMTimebaseRef timebase, CFRunLoopTimerRef timer, CMTime fireTime, uint32_t flags);
/// Makes a run-loop timer fire once, at once.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the timebase does not have it.
OVT_EXPORT OSStatus CMTimebaseSetTimerToFireImmediately(CMTimebaseRef timebase, CFRunLoopTimerRef timer);

/// Adds a timer of libdispatch, a source of type `DISPATCH_SOURCE_TYPE_TIMER`, which does not fire
/// before a time is set for it. The program resumes it. The timebase keeps it until it is removed,
/// or cancelled.
/// - Returns: `kCMTimebaseError_InvalidParameter` for a timer that was cancelled.
OVT_EXPORT OSStatus CMTimebaseAddTimerDispatchSource(CMTimebaseRef timebase, dispatch_source_t timerSource);
/// Removes a timer of libdispatch, which keeps its last deadline.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the timebase does not have it.
OVT_EXPORT OSStatus CMTimebaseRemoveTimerDispatchSource(CMTimebaseRef timebase, dispatch_source_t timerSource);
/// Sets the time at which a timer of libdispatch fires, as `CMTimebaseSetTimerNextFireTime` does.
OVT_EXPORT OSStatus CMTimebaseSetTimerDispatchSourceNextFireTime(
    CMTimebaseRef timebase, dispatch_source_t timerSource, CMTime fireTime, uint32_t flags);
/// Makes a timer of libdispatch fire once, at once.
/// - Returns: `kCMTimebaseError_InvalidParameter` if the timebase does not have it.
OVT_EXPORT OSStatus CMTimebaseSetTimerDispatchSourceToFireImmediately(
    CMTimebaseRef timebase, dispatch_source_t timerSource);

/// The older name of `CMTimebaseCreateWithSourceClock`.
OVT_EXPORT OSStatus CMTimebaseCreateWithMasterClock(
    CFAllocatorRef OVT_NULLABLE allocator, CMClockRef masterClock, CMTimebaseRef OVT_NULLABLE *timebaseOut);
/// The older name of `CMTimebaseCreateWithSourceTimebase`.
OVT_EXPORT OSStatus CMTimebaseCreateWithMasterTimebase(
    CFAllocatorRef OVT_NULLABLE allocator, CMTimebaseRef masterTimebase, CMTimebaseRef OVT_NULLABLE *timebaseOut);

OVT_HEADER_END

#endif
