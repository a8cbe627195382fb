// SPDX-License-Identifier: Apache-2.0
// Run loops: a thread waits in one for its timers.

#ifndef OVT_COREFOUNDATION_CFRUNLOOP_H
#define OVT_COREFOUNDATION_CFRUNLOOP_H

#include <CoreFoundation/CFBase.h>
#include <CoreFoundation/CFDate.h>

OVT_HEADER_BEGIN

typedef struct __CFRunLoop *CFRunLoopRef;
typedef struct __CFRunLoopTimer *CFRunLoopTimerRef;
typedef struct __CFRunLoopSource *CFRunLoopSourceRef;
typedef CFStringRef CFRunLoopMode;
typedef SInt32 CFRunLoopRunResult;
enum {
  kCFRunLoopRunFinished = 1,
  kCFRunLoopRunStopped = 2,
  kCFRunLoopRunTimedOut = 3,
  kCFRunLoopRunHandledSource = 4
};
typedef struct {
  CFIndex version;
  void *OVT_NULLABLE info;
  const void *OVT_NULLABLE (*OVT_NULLABLE retain)(const void *OVT_NULLABLE info);
  void (*OVT_NULLABLE release)(const void *OVT_NULLABLE info);
  CFStringRef OVT_NULLABLE (*OVT_NULLABLE copyDescription)(const void *OVT_NULLABLE info);
} CFRunLoopTimerContext;
typedef void (*CFRunLoopTimerCallBack)(CFRunLoopTimerRef timer, void *OVT_NULLABLE info);

OVT_EXPORT const CFRunLoopMode kCFRunLoopDefaultMode;
OVT_EXPORT const CFRunLoopMode kCFRunLoopCommonModes;

OVT_EXPORT CFTypeID CFRunLoopGetTypeID(void);
/// The calling thread's run loop, which the thread keeps.
OVT_EXPORT CFRunLoopRef CFRunLoopGetCurrent(void);
OVT_EXPORT CFRunLoopRef CFRunLoopGetMain(void);
OVT_EXPORT void CFRunLoopRun(void);
OVT_EXPORT CFRunLoopRunResult CFRunLoopRunInMode(
    CFRunLoopMode mode, CFTimeInterval seconds, Boolean returnAfterSourceHandled);
OVT_EXPORT void CFRunLoopStop(CFRunLoopRef runLoop);
OVT_EXPORT void CFRunLoopWakeUp(CFRunLoopRef runLoop);
OVT_EXPORT void CFRunLoopAddTimer(
    CFRunLoopRef runLoop, CFRunLoopTimerRef timer, CFRunLoopMode mode);
OVT_EXPORT void CFRunLoopRemoveTimer(
    CFRunLoopRef runLoop, CFRunLoopTimerRef timer, CFRunLoopMode mode);
/// The caller owns the result.
OVT_EXPORT CFRunLoopTimerRef OVT_NULLABLE CFRunLoopTimerCreate(
    CFAllocatorRef OVT_NULLABLE allocator, CFAbsoluteTime fireDate, CFTimeInterval interval,
    CFOptionFlags flags, CFIndex order, CFRunLoopTimerCallBack callback,
    CFRunLoopTimerContext *OVT_NULLABLE context);
OVT_EXPORT CFTypeID CFRunLoopTimerGetTypeID(void);
OVT_EXPORT CFTimeInterval CFRunLoopTimerGetInterval(CFRunLoopTimerRef timer);
OVT_EXPORT CFAbsoluteTime CFRunLoopTimerGetNextFireDate(CFRunLoopTimerRef timer);
/// Whether a timer can fire: it was not invalidated.
OVT_EXPORT Boolean CFRunLoopTimerIsValid(CFRunLoopTimerRef timer);
OVT_EXPORT void CFRunLoopTimerInvalidate(CFRunLoopTimerRef timer);
OVT_EXPORT void CFRunLoopTimerSetNextFireDate(CFRunLoopTimerRef timer, CFAbsoluteTime fireDate);

OVT_HEADER_END

#endif
