// SPDX-License-Identifier: Apache-2.0
// Timers of run loops that fire at times of timebases. Those of libdispatch, whose headers need
// Clang, are in blocks.c.

#include "support.h"

typedef struct {
  CMTimebaseRef timebase;
  int fired;
  /// The time of the timebase when it fired last.
  CMTime time;
} Firing;

/// A date after which a timer does not fire in a program's life: a hundred years after 2001.
static const CFAbsoluteTime kNever = 100 * 365.0 * 24 * 60 * 60;

static void fire(CFRunLoopTimerRef timer, void *info) {
  (void)timer;
  Firing *firing = info;
  firing->fired++;
  firing->time = CMTimebaseGetTime(firing->timebase);
  CFRunLoopStop(CFRunLoopGetCurrent());
}

static CMTimebaseRef makeTimebase(void) {
  CMTimebaseRef timebase = NULL;
  REQUIRE(CMTimebaseCreateWithSourceClock(NULL, CMClockGetHostTimeClock(), &timebase) == noErr);
  return timebase;
}

static CFRunLoopTimerRef makeTimer(Firing *firing) {
  CFRunLoopTimerContext context = {0, firing, NULL, NULL, NULL};
  CFRunLoopTimerRef timer = CFRunLoopTimerCreate(NULL, kCMTimebaseFarFutureCFAbsoluteTime,
                                                 kCMTimebaseVeryLongCFTimeInterval, 0, 0, fire, &context);
  REQUIRE(timer != NULL);
  CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, kCFRunLoopDefaultMode);
  return timer;
}

/// Lets the run loop run until a timer has stopped it.
static void wait(const int *fired, int count) {
  while (*fired < count) {
    if (CFRunLoopRunInMode(kCFRunLoopDefaultMode, 1e6, false) == kCFRunLoopRunFinished) {
      CHECK(!"the run loop has no timers");
      return;
    }
  }
}

static void firing(void) {
  Firing first = {makeTimebase(), 0, kCMTimeInvalid}, second = {makeTimebase(), 0, kCMTimeInvalid};
  CFRunLoopTimerRef timer = makeTimer(&first), other = makeTimer(&second);
  CFRunLoopRef loop = CFRunLoopGetCurrent();
  CHECK_EQUAL(CMTimebaseAddTimer(first.timebase, timer, loop), noErr);
  CHECK_EQUAL(CMTimebaseAddTimer(second.timebase, other, loop), noErr);
  // Core Foundation moves dates after 2129 to that year.
  CHECK(CFRunLoopTimerGetNextFireDate(timer) > kNever);

  // The first one's timebase is stopped, so that the other one fires before it.
  CHECK_EQUAL(CMTimebaseSetTimerNextFireTime(first.timebase, timer, CMTimeMake(1, 1000), 0), noErr);
  CHECK_EQUAL(CMTimebaseSetTimerNextFireTime(second.timebase, other, CMTimeMake(20, 1000), 0), noErr);
  CHECK_EQUAL(CMTimebaseSetRate(second.timebase, 1), noErr);
  wait(&second.fired, 1);
  CHECK_EQUAL(first.fired, 0);
  CHECK(CMTimeCompare(second.time, CMTimeMake(20, 1000)) >= 0);

  // It fires when its timebase runs, at ten times the speed, and once only.
  CHECK_EQUAL(CMTimebaseSetTimerNextFireTime(first.timebase, timer, CMTimeMake(200, 1000), 0), noErr);
  CHECK_EQUAL(CMTimebaseSetRate(first.timebase, 10), noErr);
  wait(&first.fired, 1);
  CHECK(CMTimeCompare(first.time, CMTimeMake(200, 1000)) >= 0);
  // A jump to a time after that of the timer makes it fire, too.
  CHECK_EQUAL(CMTimebaseSetTimerNextFireTime(first.timebase, timer, CMTimeMake(10000, 1), 0), noErr);
  CHECK_EQUAL(CMTimebaseSetTime(first.timebase, CMTimeMake(20000, 1)), noErr);
  wait(&first.fired, 2);
  CHECK(CMTimeCompare(first.time, CMTimeMake(20000, 1)) >= 0);
  CHECK_EQUAL(CMTimebaseSetTimerToFireImmediately(second.timebase, other), noErr);
  wait(&second.fired, 2);
  CHECK_EQUAL(first.fired, 2);

  // A timer that was removed keeps its date, and the timebase no longer knows it.
  CHECK_EQUAL(CMTimebaseSetTimerNextFireTime(second.timebase, other, kCMTimeInvalid, 0), noErr);
  CHECK_EQUAL(CMTimebaseRemoveTimer(second.timebase, other), noErr);
  CHECK(CFRunLoopTimerGetNextFireDate(other) > kNever);
  CHECK_EQUAL(CMTimebaseRemoveTimer(second.timebase, other), kCMTimebaseError_InvalidParameter);
  CHECK_EQUAL(CMTimebaseSetTimerToFireImmediately(second.timebase, other), kCMTimebaseError_InvalidParameter);

  CFRunLoopTimerInvalidate(timer);
  CFRunLoopTimerInvalidate(other);
  CHECK(!CFRunLoopTimerIsValid(timer));
  CHECK_EQUAL(CMTimebaseAddTimer(second.timebase, other, loop), kCMTimebaseError_InvalidParameter);
  CFRelease(timer);
  CFRelease(other);
  CFRelease(first.timebase);
  CFRelease(second.timebase);
}

static void wrongArguments(void) {
  Firing firing = {makeTimebase(), 0, kCMTimeInvalid};
  CFRunLoopRef loop = CFRunLoopGetCurrent();
  CFRunLoopTimerContext context = {0, &firing, NULL, NULL, NULL};
  CFRunLoopTimerRef often = CFRunLoopTimerCreate(NULL, kCMTimebaseFarFutureCFAbsoluteTime, 60, 0, 0, fire, &context);
  CHECK_EQUAL(CMTimebaseAddTimer(firing.timebase, often, loop), kCMTimebaseError_TimerIntervalTooShort);
  CHECK_EQUAL(CMTimebaseSetTimerNextFireTime(firing.timebase, often, kCMTimeZero, 0), kCMTimebaseError_InvalidParameter);
  CFRunLoopTimerRef timer = makeTimer(&firing), no = NULL;
  CFRunLoopRef noLoop = NULL;
  CHECK_EQUAL(CMTimebaseAddTimer(firing.timebase, no, loop), kCMTimebaseError_MissingRequiredParameter);
  CHECK_EQUAL(CMTimebaseAddTimer(firing.timebase, timer, noLoop), kCMTimebaseError_MissingRequiredParameter);
  CMTimebaseRef none = NULL;
  CHECK_EQUAL(CMTimebaseAddTimer(none, timer, loop), kCMTimebaseError_MissingRequiredParameter);
  // A string is neither a timer nor a run loop.
  const void *text = kVTCompressionPropertyKey_RealTime;
  CHECK_EQUAL(CMTimebaseAddTimer(firing.timebase, (CFRunLoopTimerRef)(uintptr_t)text, loop),
              kCMTimebaseError_InvalidParameter);
  CHECK_EQUAL(CMTimebaseAddTimer(firing.timebase, timer, (CFRunLoopRef)(uintptr_t)text),
              kCMTimebaseError_InvalidParameter);
  CHECK_EQUAL(CMTimebaseAddTimer(firing.timebase, timer, loop), noErr);
  CHECK_EQUAL(CMTimebaseSetTimerNextFireTime(firing.timebase, timer, kCMTimeZero, 1), kCMTimebaseError_InvalidParameter);
  dispatch_source_t source = NULL;
  CHECK_EQUAL(CMTimebaseAddTimerDispatchSource(firing.timebase, source), kCMTimebaseError_MissingRequiredParameter);
  CHECK_EQUAL(firing.fired, 0);
  CFRunLoopTimerInvalidate(timer);
  CFRunLoopTimerInvalidate(often);
  CFRelease(timer);
  CFRelease(often);
  CFRelease(firing.timebase);
}

int main(int count, char **arguments) {
  int repetitions = count > 1 ? atoi(arguments[1]) : 1;
  for (int i = 0; i < repetitions; i++) {
    firing();
    wrongArguments();
  }
  if (failures > 0) fprintf(stderr, "%d failures\n", failures);
  return failures > 0;
}
