// SPDX-License-Identifier: Apache-2.0
// The functions of libdispatch that timers of timebases need. Its headers are not where every build
// finds them, and Swift shows another interface.

#include <stdbool.h>
#include <stdint.h>

extern void dispatch_retain(void *object);
extern void dispatch_release(void *object);
extern void dispatch_source_set_timer(void *source, uint64_t start, uint64_t interval, uint64_t leeway);
extern intptr_t dispatch_source_testcancel(void *source);
extern uint64_t dispatch_time(uint64_t when, int64_t delta);

/// DISPATCH_TIME_NOW and DISPATCH_TIME_FOREVER of libdispatch's interface.
enum { timeNow = 0 };
static const uint64_t timeForever = ~(uint64_t)0;

void OVTDispatchRetain(void *object) { dispatch_retain(object); }
void OVTDispatchRelease(void *object) { dispatch_release(object); }
bool OVTDispatchSourceIsCancelled(void *source) { return dispatch_source_testcancel(source) != 0; }

void OVTDispatchSourceSchedule(void *source, int64_t delay) {
  // It does not fire a second time by itself.
  dispatch_source_set_timer(source, delay == INT64_MAX ? timeForever : dispatch_time(timeNow, delay), timeForever, 0);
}
