// SPDX-License-Identifier: Apache-2.0
// Tells ThreadSanitizer how the standard library's Mutex orders memory: LD_PRELOAD this with a program that was built for it.
// What the compiler puts into the program, a lock that is free, the sanitizer sees; a thread that waits does so in the
// library, which was not built with it, and so do those that wake it up.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SLOW_LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define SLOW_UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SLOW_TRY "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

SWIFT void ovt_lock(uint32_t thread, SELF) __asm__(SLOW_LOCK);
SWIFT void ovt_lock(uint32_t thread, SELF) {
  static SWIFT void (*lock)(uint32_t, SELF);
  if (!lock) lock = (__typeof__(lock))real(SLOW_LOCK);
  lock(thread, self);
  if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT _Bool ovt_try(SELF) __asm__(SLOW_TRY);
SWIFT _Bool ovt_try(SELF) {
  static SWIFT _Bool (*attempt)(SELF);
  if (!attempt) attempt = (__typeof__(attempt))real(SLOW_TRY);
  _Bool taken = attempt(self);
  if (taken && __tsan_acquire) __tsan_acquire(self);
  return taken;
}

SWIFT void ovt_unlock(SELF) __asm__(SLOW_UNLOCK);
SWIFT void ovt_unlock(SELF) {
  static SWIFT void (*unlock)(SELF);
  if (!unlock) unlock = (__typeof__(unlock))real(SLOW_UNLOCK);
  if (__tsan_release) __tsan_release(self);
  unlock(self);
}
